// From described structs (json/codec.h) to CustomResourceDefinitions: own kinds are named once, in C++, and their CRDs follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

/// A structural schema: types, rules, defaults, list and map types, and the docs as descriptions.
json::Value open_api_schema(const json::Description& description);

/// A printer column: `path` is the JSONPath of its value. kubectl shows a priority above 0 with `-o wide` only.
Column column(std::string name, std::string path, std::string type = "string", std::string description = "", int priority = 0);

/// One kind in one version, served and stored.
struct CrdSpec {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  std::string singular;   // empty: the kind in lower case
  std::string list_kind;  // empty: the kind and "List"
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool is_namespaced = true;
  bool has_status = true;             // status subresource
  std::optional<ScalePaths> scale{};  // scale subresource
  std::vector<Column> columns;
  std::vector<std::string> selectable_fields;  // "spec.x"
  std::string doc;                             // of the kind
  json::Value spec_schema;                     // as open_api_schema gives it; null: the kind has no spec
  json::Value status_schema;                   // null: the kind has no status
};

/// The object to apply (apiextensions.k8s.io/v1), without status.
json::Value make_crd(const CrdSpec& spec);

}  // namespace slipway::kube
