#include "delivery/application/authors.h"

#include <fmt/format.h>

#include "delivery/application/identity.h"

namespace slipway::delivery::application {
namespace {

const kube::Resource kUsers{"", "v1", "users"};

/// What an object says, without what its server and its controllers keep about it.
Value authored_content(const kube::Object& object) { return object.without("metadata").without("status"); }

bool may_be_anybody(const kube::Asker& asker) { return asker.user == nullptr || asker.may("impersonate", kUsers, "", ""); }

}  // namespace

kube::Object record_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return object;
  if (!old.is_null() && authored_content(object) == authored_content(old))
    return with_identity_of(kIdentityAnnotations, object, old);
  if (may_be_anybody(asker)) return with_identity_of(kIdentityAnnotations, object, {});
  return delivery::record_identity(kIdentityAnnotations, object, {}, asker);
}

std::vector<Cause> check_revision_writer(const kube::Object& revision, const kube::Object& old, const kube::Asker& asker) {
  if (may_be_anybody(asker) || (!old.is_null() && revision["spec"] == old["spec"])) return {};
  return {
      {.reason = "FieldValueForbidden",
       .message = fmt::format("Forbidden: revisions say what an application does for whoever wrote it, so {} would need the "
                              "verb impersonate on users; `slipway revision rollback` goes back to one",
                              asker.user->name),
       .field = "spec"}};
}

Value with_author(Value metadata, const Value& object) {
  for (const char* key : {kUserName, kUserGroup}) {
    const Value& recorded = object["metadata"]["annotations"][key];
    if (recorded.is_string()) metadata = metadata.with_path({"annotations", key}, recorded);
  }
  return metadata;
}

std::optional<OtherAuthor> other_author(const kube::Object& user, const Value& used) {
  const auto author = kube::annotation(used, kUserName);
  const auto writer = kube::annotation(user, kUserName);
  // The groups count too: they may have been others when one of the two was written. Copies from before have the name only.
  const auto groups = kube::annotation(used, kUserGroup);
  const bool has_same_groups = groups.empty() || groups == kube::annotation(user, kUserGroup);
  if (author.empty() || (author == writer && has_same_groups)) return std::nullopt;
  return OtherAuthor{
      .why = fmt::format("{} {} was written by {}{}, and the {} acts as {}: with it, nothing can be done that {} may not do, "
                         "and nothing outside the namespace {} can be reached",
                         kube::kind(used), kube::name(used), author, author == writer ? " with other groups" : "",
                         kube::kind(user), writer.empty() ? "the controller" : writer, author, kube::ns(user)),
      .user = *recorded_identity(kIdentityAnnotations, used)};
}

std::vector<OtherAuthor> other_authors(const kube::Object& application, const Parsed& parsed) {
  std::vector<OtherAuthor> found;
  const auto look = [&](const Value& used) {
    if (auto other = other_author(application, used)) found.push_back(*std::move(other));
  };
  for (const DefinitionsByType* all : {&parsed.components, &parsed.traits, &parsed.policies, &parsed.step_types}) {
    for (const auto& [type, definition] : *all) look(definition->object);
  }
  for (const DefinitionPtr& policy : parsed.global_policies) look(policy->object);
  for (const auto& [name, policy] : parsed.shared_policies) look(policy);
  if (!parsed.shared_workflow.is_null()) look(parsed.shared_workflow);
  return found;
}

}  // namespace slipway::delivery::application
