// The three-way merge of one resource, field by field, as kyaml's merge3 does it for `kpt pkg update`: what upstream changed
// between the old and the new version comes into the local copy; where both changed a field upstream's value is taken. Lists
// with keys (from the schemas of built-in kinds, from CRDs, or guessed when asked) are merged by item, others replaced as a
// whole. DIVERGES: every field that both sides changed is reported as a conflict; upstream never tells.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krm/yaml_node.h"

namespace slipway::krm {

struct Conflict {
  std::string file;  // of the package; empty for a merge of one resource
  std::string kind;  // of the resource
  std::string name;
  std::string path;    // "spec.replicas"; empty: the resource or the file as a whole
  std::string origin;  // YAML text; empty when absent
  std::string upstream;
  std::string local;
  std::string taken;  // "upstream" or "local"

  bool operator==(const Conflict&) const = default;
};

/// The merge keys of the list at a path of names ("[]" goes into items). nullopt: not known; empty: a list without keys; {""}:
/// a set of scalars.
using ListKeys = std::function<std::optional<std::vector<std::string>>(std::span<const std::string> path)>;

/// From the schema of a built-in kind; of the CRDs given (their whole objects); of kustomizations and Kptfiles.
ListKeys list_keys_of(std::string_view api_version, std::string_view kind, std::span<const json::Value> crds = {});

/// From a comment that gives a schema, # {"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"} or one with a patch merge key;
/// paths begin at the field. nullptr: it gives none.
ListKeys list_keys_in(std::string_view comment);

enum class Inference : bool { Off, On };

struct Merged {
  std::optional<Node> node;  // nullopt: nothing is left
  std::vector<Conflict> conflicts;
};

/// nullptr: not there. `infers`: a list whose items all have one of mountPath, devicePath, ip, type, topologyKey, name is
/// merged by it, also without a schema.
Merged merge_fields(const Node* origin, const Node* upstream, const Node* local, const ListKeys& keys, Inference infers);

}  // namespace slipway::krm
