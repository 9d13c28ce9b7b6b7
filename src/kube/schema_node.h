// The compiled form of a schema: a graph of nodes read by pruning, defaulting, validation and server-side apply. The nodes of
// one schema lie in one SchemaArena and refer to each other by plain pointers, so types may be shared and recursive
// (JSONSchemaProps is); whoever holds a Schema keeps its arena alive. Nodes never change once their Schema is handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace re2 {
class RE2;
}

namespace slipway::kube {

struct SchemaNode;

/// The value validations of a node, those that most nodes have none of.
struct SchemaChecks {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool is_minimum_exclusive = false;
  bool is_maximum_exclusive = false;
  std::optional<double> multiple_of;
  std::optional<std::int64_t> min_length;  // code points
  std::optional<std::int64_t> max_length;
  std::optional<std::int64_t> min_items;
  std::optional<std::int64_t> max_items;
  std::optional<std::int64_t> min_properties;
  std::optional<std::int64_t> max_properties;
  std::string pattern;
  std::shared_ptr<const re2::RE2> compiled_pattern;
  std::vector<json::Value> enumeration;
  std::string format;  // one that kube/format.h knows; unknown ones are left out
  // Validation-only nodes: their properties and items hold further checks, never structure.
  std::vector<const SchemaNode*> all_of;
  std::vector<const SchemaNode*> any_of;
  std::vector<const SchemaNode*> one_of;
  const SchemaNode* not_schema = nullptr;
};

struct SchemaNode {
  /// Any: no type given (preserve-unknown, int-or-string, or a validation-only node).
  enum class Type : std::uint8_t { Any, Object, Array, String, Integer, Number, Boolean };
  /// How server-side apply sees a list. Without x-kubernetes-list-type a list is Atomic.
  enum class ListType : std::uint8_t { Atomic, Set, Map };
  /// How server-side apply sees an object. Without x-kubernetes-map-type an object is Granular.
  enum class MapType : std::uint8_t { Granular, Atomic };
  /// How a scalar of a built-in kind is stored: metav1.Time has whole seconds, MicroTime six digits, a quantity its canonical
  /// text. Fields of custom kinds are AsSent whatever their format.
  enum class StoredForm : std::uint8_t { AsSent, Time, MicroTime, Quantity };
  struct Property {
    std::string name;
    const SchemaNode* node = nullptr;
  };

  Type type = Type::Any;
  ListType list_type = ListType::Atomic;
  MapType map_type = MapType::Granular;
  StoredForm stored_form = StoredForm::AsSent;
  bool is_nullable = false;
  bool preserves_unknown_fields = false;
  bool is_int_or_string = false;
  bool is_embedded_resource = false;
  bool has_bool_additional = false;  // additionalProperties is a bool: keys stay, but fields below them go (as upstream)
  bool has_default = false;
  bool has_defaults_within = false;  // defaulting has something to do here or below, even without nulls
  bool is_quantity = false;          // a string or number that kube/quantity.h reads
  bool empty_is_absent = false;      // built-in strings with a default or an enum: "" counts as absent, as in Go
  bool omits_zero = false;           // built-in fields: an empty or zero value is not stored (kube/stored_form.h)
  bool has_filled_default = false;
  bool may_repeat = false;        // built-in lists: validation leaves repeated keys to the rules of the kind
  json::Value default_value;      // meaningful when has_default
  json::Value filled_default;     // with the defaults within it; meaningful when has_filled_default
  std::size_t default_bytes = 0;  // of the text of filled_default

  std::vector<Property> properties;                   // sorted by size of the name, then by bytes
  const SchemaNode* additional_properties = nullptr;  // the values of a map
  const SchemaNode* items = nullptr;
  std::vector<std::string> required;           // in the order of the schema
  std::vector<std::string> list_map_keys;      // for ListType::Map
  std::shared_ptr<const SchemaChecks> checks;  // nullptr: none

  // Facts of strategic merge patch; only built-in kinds have them.
  bool patch_merges = false;        // patchStrategy has "merge"
  bool patch_retains_keys = false;  // patchStrategy has "retainKeys"
  bool patch_replaces = false;      // patchStrategy has "replace": an object is not merged
  std::string patch_merge_key;      // for lists of objects

  /// The declared property, or nullptr.
  const SchemaNode* property(std::string_view name) const;
  /// The node of a member with that name: the property, else additional_properties; nullptr when the schema knows neither.
  const SchemaNode* member(std::string_view name) const {
    const SchemaNode* found = property(name);
    return found != nullptr ? found : additional_properties;
  }
  /// Brings properties into the order that property() needs.
  void sort_properties();
};

/// Owns the nodes of one schema (or of all built-in kinds).
class SchemaArena {
 public:
  SchemaArena() = default;
  SchemaArena(const SchemaArena&) = delete;
  SchemaArena& operator=(const SchemaArena&) = delete;

  /// A node that stays where it is as long as the arena lives.
  SchemaNode* add() { return &nodes_.emplace_back(); }
  /// Keeps another arena alive that nodes of this one point into.
  void keep(std::shared_ptr<const void> other) { kept_.push_back(std::move(other)); }
  std::deque<SchemaNode>& nodes() { return nodes_; }

 private:
  std::deque<SchemaNode> nodes_;
  std::vector<std::shared_ptr<const void>> kept_;
};

/// The root of a finished arena as Schema's constructor takes it.
inline std::shared_ptr<const SchemaNode> root_of(std::shared_ptr<const SchemaArena> arena, const SchemaNode* root) {
  return {std::move(arena), root};
}
/// Sets has_defaults_within on every node of the arena. To be called once all edges are in place.
void mark_defaults(SchemaArena& arena);
/// Sets filled_default on every node with a default. To be called after mark_defaults(); without it defaults are filled each
/// time they are used.
void fill_default_values(SchemaArena& arena);
/// ObjectMeta, as every object's metadata has it. Lives for ever.
const SchemaNode& object_meta_node();

}  // namespace slipway::kube
