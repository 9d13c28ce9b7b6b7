// The log of package revisions: an object of kind PackageRecord for each, of the revision's namespace and name, whose spec is
// the RevisionRecord and whose metadata is the revision's own: uid, resourceVersion, labels, annotations and finalizers. Only
// this program writes them. A decision is one append; since each version is a revision of the store, what a client had read
// can be read again while the store's history reaches back to it.
//
// Owner references are kept in the spec: a garbage collector that deleted records with their owner would leave branches behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/wall_steps.h"
#include "client/client.h"
#include "delivery/package/kind.h"
#include "delivery/package/lifecycle.h"
#include "delivery/package/record.h"

namespace slipway::delivery::package {

/// On a record while its repository has to be changed before it may go. Never shown.
inline constexpr std::string_view kGitFinalizer = "packages.slipway.dev/git";
inline constexpr const char* kRecordManager = "slipway-package";

/// A record as it is stored.
struct StoredRecord {
  RevisionRecord record{};
  json::Value object{};  // the whole PackageRecord

  std::string uid() const { return std::string(kube::uid(object)); }
  std::string version() const { return object["metadata"]["resourceVersion"].str(); }
  kube::ObjectKey key() const { return kube::key_of(object); }
  /// kpt.dev/latest-revision
  bool is_latest() const { return kube::label(object, kLatestLabel) == "true"; }
};

/// InternalError for an object that is no record.
Result<StoredRecord> read_record(const json::Value& object);
/// The revision's metadata, as it is shown.
json::Value shown_metadata(const StoredRecord& stored);
/// The PackageRevision without its status.
kube::Object unjudged_revision(const StoredRecord& stored);
/// The PackageRevision.
kube::Object shown_revision(const StoredRecord& stored, const Now& now);

/// NotFound names the revision.
Task<Result<StoredRecord>> get_record(client::Client& server, kube::ObjectKey key);
/// As it was at a resourceVersion that a client has sent. Conflict when the store does not know that any more, or the name
/// meant another revision then.
Task<Result<StoredRecord>> record_at(client::Client& server, StoredRecord current, std::string version);
/// Of a namespace; `fields` is a field selector over spec.repository, spec.packageName, spec.workspaceName, spec.revision,
/// spec.lifecycle and kUpstreamField.
Task<Result<std::vector<StoredRecord>>> list_records(client::Client& server, std::string ns, std::string fields);
/// The same, of each no more than where it is: what is read of many records is not decoded as a whole.
Task<Result<std::vector<Existing>>> list_existing(client::Client& server, std::string ns, std::string fields);
/// Names of the revisions that were cloned from this one or upgraded to it.
Task<Result<std::vector<std::string>>> dependents_of(client::Client& server, kube::ObjectKey key);

enum class Trial : bool { No, Dry };
/// AlreadyExists names the revision. `metadata` gives labels, annotations and finalizers; `now` is for stamped().
Task<Result<StoredRecord>> create_record(client::Client& server, Time now, std::string ns, RevisionRecord record,
                                         json::Value metadata, Trial trial = Trial::No);
/// Replaces `was` by `record` with `metadata` (of which labels, annotations and finalizers count). Conflict when it has changed
/// since.
Task<Result<StoredRecord>> put_record(client::Client& server, Time now, StoredRecord was, RevisionRecord record,
                                      json::Value metadata, Trial trial = Trial::No);

}  // namespace slipway::delivery::package
