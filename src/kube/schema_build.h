// From OpenAPI text form (the v3 dialect of CRDs, and the data of the built-in kinds) to schema nodes. Builds what is there and
// judges nothing but patterns; kube/schema_structural.h judges. Built-in data may refer to other types by {"$ref": "Name"}.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "kube/schema_node.h"

namespace slipway::kube {

/// Whether every object has the field.
inline bool is_object_field(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

class SchemaBuilder {
 public:
  /// Gives the node of a "$ref"; nullptr when there is none.
  using Resolve = std::function<const SchemaNode*(std::string_view name)>;

  explicit SchemaBuilder(SchemaArena& arena, Resolve resolve = nullptr) : arena_(arena), resolve_(std::move(resolve)) {}

  /// Null gives nullptr. A pattern that RE2 does not take is left out; bad_pattern() tells.
  const SchemaNode* build(const json::Value& schema);
  /// Into a node that may be referred to already.
  void fill(SchemaNode& node, const json::Value& schema);
  /// The whole schema of a kind: apiVersion, kind and metadata are what every object has, also in embedded resources below.
  const SchemaNode* build_resource(const json::Value& schema);

  /// The first pattern that does not compile, or empty.
  const std::string& bad_pattern() const { return bad_pattern_; }

 private:
  void fill_structure(SchemaNode& node, const json::Value& schema);
  void fill_extensions(SchemaNode& node, const json::Value& schema);
  void fill_checks(SchemaNode& node, const json::Value& schema);
  void fill_pattern(SchemaChecks& checks, const json::Value& schema);
  void imply_object_fields(SchemaNode& node, const json::Value& schema);

  SchemaArena& arena_;
  Resolve resolve_;
  bool implies_object_fields_ = false;
  std::string bad_pattern_;
};

}  // namespace slipway::kube
