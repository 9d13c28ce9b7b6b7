// Structural schemas (apiextensions.k8s.io/v1): one compiled tree serves pruning, defaulting, validation and the list and map
// types of server-side apply, for custom resources and built-in kinds alike. Immutable after compile().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

struct SchemaNode;  // the compiled tree; see schema_node.h

class Schema {
 public:
  /// From an openAPIV3Schema of a CRD. Invalid with causes (paths below `path`) when it is not structural.
  static Result<std::shared_ptr<const Schema>> compile(const json::Value& open_api, std::string path = "spec.validation");
  explicit Schema(std::shared_ptr<const SchemaNode> root);
  ~Schema();

  /// Drops fields the schema does not know. `dropped` (may be null) gets their paths, as for "unknown field" warnings.
  json::Value prune(const json::Value& object, std::vector<std::string>* dropped = nullptr) const;
  /// Fills defaults top-down; null counts as absent where the field is not nullable and has a default.
  json::Value fill_defaults(const json::Value& object) const;
  /// Every violation, worded as upstream. `old` (may be null) is for ratcheting: what did not change is tolerated.
  std::vector<Cause> validate(const json::Value& object, const json::Value* old = nullptr) const;

  const SchemaNode& root() const { return *root_; }

 private:
  std::shared_ptr<const SchemaNode> root_;
};

}  // namespace slipway::kube
