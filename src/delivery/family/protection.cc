#include "delivery/family/protection.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "json/quoted.h"

namespace slipway::delivery {

namespace {

/// What the garbage collector finds an owner by.
using OwnerIdentity = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

std::set<OwnerIdentity> owners_of(const kube::Object& object) {
  std::set<OwnerIdentity> owners;
  for (const json::Value& one : object["metadata"]["ownerReferences"].items()) {
    owners.emplace(one["apiVersion"].as_string(), one["kind"].as_string(), one["name"].as_string(), one["uid"].as_string());
  }
  return owners;
}

/// Whether the garbage collector may delete the object where it did not before: with owners that are gone, deleted later, or
/// not what the reference says. Without owners it deletes nothing.
bool may_be_collected(const kube::Object& object, const kube::Object& old) {
  const auto owners = owners_of(object);
  return !owners.empty() && owners != owners_of(old);
}

}  // namespace

std::vector<Cause> check_protection(std::span<const Protection> table, const kube::Object& object, const kube::Object& old,
                                    const kube::Asker& asker) {
  std::vector<Cause> causes;
  if (asker.user == nullptr || old.is_null() || kube::is_deleting(old)) return causes;
  const bool is_collectable = !kube::is_deleting(object) && may_be_collected(object, old);
  const kube::Object going = old.with_path({"metadata", "deletionTimestamp"}, to_rfc3339(asker.now));
  for (const Protection& row : table) {
    if (!kube::refers_to(old, row.kind.group, row.kind.kind)) continue;
    const std::vector<std::string> weakened = row.weakened(object, old);
    const bool is_deletable = is_collectable && !row.weakened(going, old).empty();
    if (weakened.empty() && !is_deletable) continue;
    if (asker.may(row.verb, row.resource, kube::ns(old), row.of_object ? kube::name(old) : "")) continue;
    const std::string right = fmt::format("user {} needs the right to {} {} in namespace {}", json::quoted(asker.user->name),
                                          row.verb, row.resource.group_resource(), kube::ns(old));
    for (const std::string& field : weakened)
      causes.push_back(field::forbidden(field, fmt::format("{} {}", row.because, right)));
    if (!is_deletable) continue;
    causes.push_back(field::forbidden(
        "metadata.ownerReferences",
        fmt::format("the object would be deleted together with its owners, which is refused now: for that {}", right)));
  }
  return causes;
}

}  // namespace slipway::delivery
