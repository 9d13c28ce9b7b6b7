#include "cluster/owner_graph.h"

#include <algorithm>

namespace slipway::cluster {

namespace {

const std::set<std::string> kNobody;

std::set<std::string> owner_uids(const json::Value& references) {
  std::set<std::string> uids;
  for (const json::Value& reference : references.items()) uids.insert(reference["uid"].str());
  return uids;
}

std::string uid_of(const kube::Object& object) { return object.is_null() ? std::string() : std::string(kube::uid(object)); }

}  // namespace

bool waits_for_dependents(const kube::Object& object) {
  return kube::is_deleting(object) && kube::has_finalizer(object, kForegroundDeletion);
}

std::vector<std::string> OwnerGraph::change(const kube::Resource& resource, const kube::Object& before,
                                            const kube::Object& after) {
  const std::string old_uid = uid_of(before);
  const std::string uid = uid_of(after);
  std::set<std::string> looks;
  const bool is_gone = !old_uid.empty() && old_uid != uid;
  if (is_gone) looks.insert(dependents(old_uid).begin(), dependents(old_uid).end());
  const bool begins_to_wait = waits_for_dependents(after) && !(uid == old_uid && waits_for_dependents(before));
  if (begins_to_wait) looks.insert(dependents(uid).begin(), dependents(uid).end());

  // Owners that this object let go of, by its end or by a change of its references. Those whose blockOwnerDeletion was taken
  // back count too.
  const json::Value& old_references = before["metadata"]["ownerReferences"];
  if (!old_references.empty() && (is_gone || after["metadata"]["ownerReferences"] != old_references)) {
    for (const std::string& owner : owner_uids(old_references)) {
      const Node* node = find(owner);
      if (node != nullptr && node->waits_for_dependents) looks.insert(owner);
    }
  }
  if (is_gone || !old_uid.empty()) erase(old_uid);
  if (!uid.empty()) insert(resource, after);
  looks.erase(uid);
  return {looks.begin(), looks.end()};
}

void OwnerGraph::insert(const kube::Resource& resource, const kube::Object& object) {
  const json::Value& references = object["metadata"]["ownerReferences"];
  const bool is_ending = kube::is_deleting(object) &&
                         (kube::has_finalizer(object, kForegroundDeletion) || kube::has_finalizer(object, kOrphanDependents));
  if (references.empty() && !is_ending) return;
  const std::string uid(kube::uid(object));
  for (const std::string& owner : owner_uids(references)) dependents_[owner].insert(uid);
  nodes_[uid] = {resource, kube::key_of(object), references, waits_for_dependents(object)};
}

void OwnerGraph::erase(const std::string& uid) {
  const auto found = nodes_.find(uid);
  if (found == nodes_.end()) return;
  for (const std::string& owner : owner_uids(found->second.references)) {
    const auto entry = dependents_.find(owner);
    entry->second.erase(uid);
    if (entry->second.empty()) dependents_.erase(entry);
  }
  nodes_.erase(found);
}

void OwnerGraph::forget(const kube::Resource& resource) {
  std::vector<std::string> gone;
  for (const auto& [uid, node] : nodes_) {
    if (node.resource == resource) gone.push_back(uid);
  }
  for (const std::string& uid : gone) erase(uid);
}

const OwnerGraph::Node* OwnerGraph::find(const std::string& uid) const {
  const auto found = nodes_.find(uid);
  return found == nodes_.end() ? nullptr : &found->second;
}

const std::set<std::string>& OwnerGraph::dependents(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? kNobody : found->second;
}

bool OwnerGraph::has_blocking_dependents(const std::string& uid) const {
  return std::ranges::any_of(dependents(uid), [&](const std::string& dependent) {
    const Node* node = find(dependent);
    if (node == nullptr) return false;
    const auto references = node->references.items();
    return std::any_of(references.begin(), references.end(), [&](const json::Value& reference) {
      return reference["uid"].as_string() == uid && reference["blockOwnerDeletion"].as_bool();
    });
  });
}

std::vector<std::string> OwnerGraph::dependents_on_kind(std::string_view group, std::string_view kind) const {
  std::vector<std::string> found;
  for (const auto& [uid, node] : nodes_) {
    const auto references = node.references.items();
    const auto names = [&](const json::Value& reference) { return kube::refers_to(reference, group, kind); };
    if (std::any_of(references.begin(), references.end(), names)) found.push_back(uid);
  }
  return found;
}

}  // namespace slipway::cluster
