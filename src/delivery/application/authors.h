// Who else has a say in what an application does: whoever wrote the Policies, the Workflow and the definitions that it takes
// from its namespace. Admission records them as it records the application's own writer (identity.h), but not those who may
// impersonate everybody: these could act as the application in any case. An application that uses what another has written
// reaches nothing outside its namespace, so that an editor of one namespace cannot send another's rights elsewhere. Pure.
//
// DIVERGES: upstream looks at who wrote the Application alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/application/parsed.h"
#include "kube/admission.h"

namespace slipway::delivery::application {

/// The object with who asks in its annotations when it is created or changes, with those of `old` otherwise.
kube::Object record_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// Whoever writes revisions by hand says what other people's applications do.
std::vector<Cause> check_revision_writer(const kube::Object& revision, const kube::Object& old, const kube::Asker& asker);

/// `metadata` of a copy of the object, with who wrote it where that is recorded.
Value with_author(Value metadata, const Value& object);

/// Who else has a say, and why what is done must therefore stay in the namespace.
struct OtherAuthor {
  std::string why;
  kube::UserInfo user;
};
/// The other author of `used`, which `user` (an Application or a WorkflowRun) uses; nullopt if there is none.
std::optional<OtherAuthor> other_author(const kube::Object& user, const Value& used);
/// The other authors of everything that the application was found to use.
std::vector<OtherAuthor> other_authors(const kube::Object& application, const Parsed& parsed);

}  // namespace slipway::delivery::application
