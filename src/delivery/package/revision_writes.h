// Requests about revisions that the controllers make, as any user would: read the newest PackageRevision, change it, put it
// back. What is done already is not written again; a revision that has gone is fine. Conflict when another was faster: the
// caller looks again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "delivery/package/condition.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

/// Gives the object as it should be; the same one: nothing is to be done.
using RevisionChange = std::function<kube::Object(const kube::Object& revision)>;
Task<Result<void>> change_revision(client::Client& client, kube::ObjectKey key, RevisionChange change, std::string manager);
/// The same through /approval.
Task<Result<void>> approve_revision(client::Client& client, kube::ObjectKey key, RevisionChange change, std::string manager);
Task<Result<void>> remove_revision(client::Client& client, kube::ObjectKey key);

kube::Object with_lifecycle(const kube::Object& revision, Lifecycle lifecycle);
/// Conditions by type; all others stay.
kube::Object with_conditions(const kube::Object& revision, const std::vector<Condition>& said);
/// What an approval is recorded with, beside who made it: policies that agreed and people whose votes counted. The server takes
/// it from this program's own controllers only.
kube::Object with_reasons(const kube::Object& revision, const std::vector<std::string>& policies,
                          const std::vector<std::string>& people);
kube::Object with_owner(const kube::Object& revision, const json::Value& reference);
kube::Object without_owner(const kube::Object& revision, std::string_view uid);

}  // namespace slipway::delivery::package
