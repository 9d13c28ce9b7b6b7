#include "cluster/adoption.h"

#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using json::Value;

Task<Result<void>> patch_owners(client::Client& client, kube::Resource resource, kube::Object object, Value changes,
                                std::string manager) {
  const Value& metadata = object["metadata"];
  changes = changes.with("uid", metadata["uid"]).with("resourceVersion", metadata["resourceVersion"]);
  const auto written = co_await client::merge_patch(client, std::move(resource), kube::key_of(object),
                                                    json::object({{"metadata", changes}}), std::move(manager));
  if (!written && written.error().reason != Reason::NotFound) co_return fail(written.error());
  co_return Result<void>{};
}

/// The owners, and where there is a finalizer that comes and goes with one, the finalizers as `next` has them.
Value claim_changes(Value owners, std::string_view finalizer, const kube::Object& next) {
  const Value changes = json::object({{"ownerReferences", std::move(owners)}});
  return finalizer.empty() ? changes : changes.with("finalizers", next["metadata"]["finalizers"]);
}

Value without_owner(const kube::Object& object, std::string_view uid) {
  json::ArrayBuilder rest;
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["uid"].as_string() != uid) rest.add(owner);
  }
  return rest.empty() ? Value() : rest.build();
}

}  // namespace

std::string orphan_key(std::string_view ns) { return "orphans/" + std::string(ns); }

std::vector<std::string> claim_keys(const kube::Object& object) {
  const Value& controller = kube::controller_of(object);
  std::vector<std::string> keys;
  keys.push_back(controller.is_null() ? orphan_key(kube::ns(object)) : controller["uid"].str());
  return keys;
}

Claim sort_claim(const kube::Object& owner, const std::vector<kube::Object>& candidates) {
  Claim claim;
  const Value& text = owner["spec"]["selector"];
  const auto selector = kube::LabelSelector::from_object(text);
  const bool is_usable = selector && !text.is_null() && !selector->matches_everything();
  for (const kube::Object& candidate : candidates) {
    const Value& controller = kube::controller_of(candidate);
    const bool is_match = is_usable && selector->matches(candidate["metadata"]["labels"]);
    if (!controller.is_null()) {
      if (controller["uid"] != owner["metadata"]["uid"]) continue;
      if (is_match || !is_usable || kube::is_deleting(owner)) {
        claim.own.push_back(candidate);
      } else if (!kube::is_deleting(candidate)) {
        claim.release.push_back(candidate);
      }
    } else if (is_match && !kube::is_deleting(owner) && !kube::is_deleting(candidate)) {
      claim.adopt.push_back(candidate);
    }
  }
  return claim;
}

std::vector<kube::ObjectKey> claimants(const client::Informer& owners, std::string_view group, std::string_view kind,
                                       const kube::Object& object) {
  std::vector<kube::ObjectKey> keys;
  const std::string ns(kube::ns(object));
  const Value& owner = kube::controller_of(object);
  if (!owner.is_null()) {
    if (kube::refers_to(owner, group, kind)) keys.push_back({ns, owner["name"].str()});
    return keys;
  }
  for (const auto& [key, candidate] : owners.objects(ns)) {
    const auto selector = kube::LabelSelector::from_object(candidate["spec"]["selector"]);
    if (selector && selector->matches(object["metadata"]["labels"])) keys.push_back(key);
  }
  return keys;
}

std::vector<kube::Object> claim_candidates(const client::Informer& objects, const std::string& index,
                                           const kube::Object& owner) {
  std::vector<kube::Object> found = objects.index(index, std::string(kube::uid(owner)));
  std::vector<kube::Object> orphans = objects.index(index, orphan_key(kube::ns(owner)));
  found.insert(found.end(), std::make_move_iterator(orphans.begin()), std::make_move_iterator(orphans.end()));
  return found;
}

Task<Result<void>> write_owners(client::Client& client, kube::Resource resource, kube::Object object, Value owners,
                                std::string manager) {
  return patch_owners(client, std::move(resource), std::move(object), json::object({{"ownerReferences", std::move(owners)}}),
                      std::move(manager));
}

Task<Result<void>> settle_claim(client::Client& client, kube::Resource owners, kube::Object owner, kube::Resource resource,
                                Claim claim, std::string manager, std::string_view finalizer) {
  for (const kube::Object& object : claim.release) {
    const Value changes =
        claim_changes(without_owner(object, kube::uid(owner)), finalizer, kube::without_finalizer(object, finalizer));
    SLIPWAY_CO_TRY_VOID(co_await patch_owners(client, resource, object, changes, manager));
  }
  if (claim.adopt.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY(live, co_await client::get(client, owners, kube::key_of(owner)));
  if (kube::uid(live) != kube::uid(owner) || kube::is_deleting(live)) {
    co_return fail(kube::conflict(owners, kube::name(owner), "the owner has gone"));
  }
  for (const kube::Object& object : claim.adopt) {
    const Value all = object["metadata"]["ownerReferences"].appended(kube::owner_reference(owner));
    const Value changes = claim_changes(all, finalizer, kube::with_finalizer(object, finalizer));
    SLIPWAY_CO_TRY_VOID(co_await patch_owners(client, resource, object, changes, manager));
  }
  co_return Result<void>{};
}

}  // namespace slipway::cluster
