#include <algorithm>
#include <set>
#include <utility>

#include "krm/merge.h"

namespace slipway::krm {
namespace {

std::string key_of(const Node& function) {
  if (!function.get({"exec"}).empty()) return std::string(function.get({"exec"}));
  const std::string_view image = function.get({"image"});
  return std::string(image.substr(0, image.find(':')));
}

constexpr std::string_view kLists[] = {"mutators", "validators"};

// Whether functions can be told apart by their image: neither side names any, none is there twice.
bool are_nameless(const Node& root) {
  for (std::string_view list : kLists) {
    const Node* functions = root.at({"pipeline", list});
    std::set<std::string> seen;
    for (std::size_t i = 0; functions != nullptr && i < functions->children.size(); ++i) {
      const Node& function = functions->children[i];
      if (!function.get({"name"}).empty() || !seen.insert(key_of(function)).second) return false;
    }
  }
  return true;
}

void name_functions(Node& root) {
  for (std::string_view list : kLists) {
    Node* functions = root.at({"pipeline", list});
    for (std::size_t i = 0; functions != nullptr && i < functions->children.size(); ++i) {
      functions->children[i].set("name", Node::string(key_of(functions->children[i])));
    }
  }
}

void unname_functions(Node& root) {
  for (std::string_view list : kLists) {
    Node* functions = root.at({"pipeline", list});
    for (std::size_t i = 0; functions != nullptr && i < functions->children.size(); ++i) functions->children[i].erase("name");
  }
}

// What is not merged is made equal on all sides.
void keep_local(Node& other, const Node& local) {
  for (std::string_view field : {"apiVersion", "kind", "upstream", "upstreamLock"}) {
    const Node* kept = local.find(field);
    if (kept == nullptr) {
      other.erase(field);
    } else {
      other.set(field, *kept);
    }
  }
  Node& metadata = other.mapping_at("metadata");
  const Node* local_metadata = local.find("metadata");
  for (std::string_view field : {"name", "namespace", "creationTimestamp"}) {
    const Node* kept = local_metadata == nullptr ? nullptr : local_metadata->find(field);
    if (kept == nullptr) {
      metadata.erase(field);
    } else {
      metadata.set(field, *kept);
    }
  }
}

// A list that upstream dropped lost its items one by one.
void keep_list(Node& upstream, const Node& origin, std::string_view owner, std::string_view list) {
  if (origin.at({owner, list}) == nullptr || upstream.at({owner, list}) != nullptr) return;
  upstream.mapping_at(owner).set(list, Node::sequence());
}

}  // namespace

Result<std::string> merge_kptfiles(std::string_view origin_text, std::string_view upstream_text, std::string_view local_text,
                                   Locks locks, std::vector<Conflict>* conflicts) {
  SLIPWAY_TRY(origin, read_one_yaml(origin_text));
  SLIPWAY_TRY(upstream, read_one_yaml(upstream_text));
  SLIPWAY_TRY(local, read_one_yaml(local_text));
  const Node new_upstream = upstream.root;
  keep_local(origin.root, local.root);
  keep_local(upstream.root, local.root);
  keep_list(upstream.root, origin.root, "info", "readinessGates");
  keep_list(upstream.root, origin.root, "status", "conditions");
  const bool names = are_nameless(origin.root) && are_nameless(upstream.root) && are_nameless(local.root);
  if (names) {
    for (Node* root : {&origin.root, &upstream.root, &local.root}) name_functions(*root);
  }
  const ListKeys keys = list_keys_of("kpt.dev/v1", "Kptfile");
  Merged merged = merge_fields(&origin.root, &upstream.root, &local.root, keys, Inference::On);
  YamlTree made = std::move(local);
  if (merged.node) made.root = std::move(*merged.node);
  if (names) unname_functions(made.root);
  if (locks == Locks::Upstream) {
    for (std::string_view field : {"upstream", "upstreamLock"}) {
      if (const Node* found = new_upstream.find(field)) made.root.set(field, *found);
    }
  }
  if (conflicts != nullptr) std::ranges::move(merged.conflicts, std::back_inserter(*conflicts));
  return write_yaml(made);
}

}  // namespace slipway::krm
