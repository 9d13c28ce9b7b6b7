// The schemas of an OpenAPI document: each type that something refers to, once, under its long name
// ("io.k8s.api.apps.v1.Deployment"), in the dialect of v2 or v3.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

enum class OpenApiDialect : std::uint8_t { V2, V3 };

class OpenApiSchemas {
 public:
  /// `tables`: builtin_tables().
  OpenApiSchemas(OpenApiDialect dialect, json::Value tables);

  /// A reference to a type of the built-in tables or of the protobuf table by its short name ("meta.v1.ListMeta"), which
  /// becomes part of the document.
  json::Value reference(std::string_view short_name);
  /// A reference to a built-in kind. A kind without a table is any object.
  json::Value built_in(const GroupVersionKind& kind);
  /// A reference to a custom kind with this openAPIV3Schema.
  json::Value custom(const GroupVersionKind& kind, const json::Value& schema);
  /// A reference to the list of a kind, whose reference is given.
  json::Value list_of(const GroupVersionKind& kind, const std::string& list_kind, const json::Value& item);

  /// All schemas referred to, by name.
  json::Value build();

 private:
  json::Value reference_to(const std::string& long_name) const;
  void reach(const std::string& short_name);
  json::Value type(const std::string& short_name);
  json::Value message_type(std::string_view short_name);
  json::Value converted(const json::Value& schema);
  json::Value with_object_fields(const json::Value& schema, bool is_root);
  json::Value custom_node(const json::Value& schema);

  OpenApiDialect dialect_;
  json::Value tables_;  // of the built-in types
  std::map<std::string, json::Value, std::less<>> done_;
  std::map<std::string, GroupVersionKind, std::less<>> kinds_;  // by short name, those that are kinds
  std::set<std::string> seen_;
  std::set<std::string> pending_;
};

/// "io.k8s.api.apps.v1.Deployment" of "apps.v1.Deployment".
std::string openapi_long_name(std::string_view short_name);
/// x-kubernetes-group-version-kind of an operation.
json::Value openapi_kind(const GroupVersionKind& kind);

}  // namespace slipway::kube
