#include "kube/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "json/text.h"
#include "kube/schema_build.h"
#include "kube/schema_node.h"
#include "kube/schema_structural.h"
#include "kube/stored_form.h"
#include "kube/value_path.h"

namespace slipway::kube {
namespace {

/// A copy of a container that comes into being with the first difference, so that what does not change stays shared.
class Rewrite {
 public:
  explicit Rewrite(const json::Value& from) : from_(from) {}

  /// The member or item number `at` becomes `value`, or goes. To be called for each in order.
  void keep(std::size_t at, std::string_view key, const json::Value& old, json::Value value) {
    if (!has_begun_ && value.is_same(old)) return;
    begin(at);
    if (from_.is_object()) {
      object_.add(key, std::move(value));
    } else {
      array_.add(std::move(value));
    }
  }
  void drop(std::size_t at) { begin(at); }
  void append(std::string_view key, json::Value value) {
    begin(from_.size());
    object_.add(key, std::move(value));
  }
  json::Value done() {
    if (!has_begun_) return from_;
    return from_.is_object() ? object_.build() : array_.build();
  }

 private:
  void begin(std::size_t at) {
    if (has_begun_) return;
    has_begun_ = true;
    std::size_t number = 0;
    for (const auto [key, value] : from_.members()) {
      if (number++ == at) break;
      object_.add(key, value);
    }
    for (const json::Value& item : from_.items().first(std::min(at, from_.items().size()))) array_.add(item);
  }

  const json::Value& from_;
  bool has_begun_ = false;
  json::ObjectBuilder object_;
  json::ArrayBuilder array_;
};

// Pruning. Without a schema every field goes; below x-kubernetes-preserve-unknown-fields only declared ones are looked into.
class Pruner {
 public:
  Pruner(std::vector<std::string>* dropped, Zeros zeros) : dropped_(dropped), zeros_(zeros) {}

  json::Value prune(const json::Value& value, const SchemaNode* node, const ValuePath& path) {
    if (node != nullptr && node->preserves_unknown_fields && !has_structure(*node)) return value;
    if (value.is_object()) return prune_object(value, node, path);
    if (value.is_array()) return prune_array(value, node, path);
    const bool is_plain = node == nullptr || node->stored_form == SchemaNode::StoredForm::AsSent;
    return is_plain ? value : in_stored_form(value, node->stored_form);
  }

 private:
  static bool has_structure(const SchemaNode& node) {
    return !node.properties.empty() || node.items != nullptr || node.additional_properties != nullptr;
  }

  json::Value prune_object(const json::Value& value, const SchemaNode* node, const ValuePath& path) {
    Rewrite out(value);
    std::size_t at = 0;
    for (const auto [key, member] : value.members()) {
      const std::size_t number = at++;
      const SchemaNode* property = node != nullptr ? node->property(key) : nullptr;
      const bool is_map_key = property == nullptr && node != nullptr && node->additional_properties != nullptr;
      if (is_map_key) property = node->additional_properties;
      if (property != nullptr && zeros_ == Zeros::Omitted && is_omitted(member, *property)) {
        out.drop(number);
      } else if (property != nullptr) {
        out.keep(number, key, member, prune(member, property, is_map_key ? path.key(key) : path.field(key)));
      } else if (node != nullptr && node->has_bool_additional) {
        out.keep(number, key, member, node->preserves_unknown_fields ? member : prune(member, nullptr, path.key(key)));
      } else if (keeps_unknown(node, key)) {
        out.keep(number, key, member, member);
      } else {
        const bool is_told = path.parent != nullptr || !is_object_field(key);
        if (dropped_ != nullptr && is_told) tell(path.field(key));
        out.drop(number);
      }
    }
    return out.done();
  }

  void tell(const ValuePath& path) {
    if (dropped_->size() >= kMostDroppedFields || dropped_bytes_ >= kMostDroppedBytes) return;
    dropped_->push_back(path.dotted());
    dropped_bytes_ += dropped_->back().size();
  }

  static bool keeps_unknown(const SchemaNode* node, std::string_view key) {
    if (node == nullptr) return false;
    return node->preserves_unknown_fields || (node->is_embedded_resource && is_object_field(key));
  }

  json::Value prune_array(const json::Value& value, const SchemaNode* node, const ValuePath& path) {
    const SchemaNode* item_node = node != nullptr ? node->items : nullptr;
    if (item_node == nullptr && node != nullptr && node->preserves_unknown_fields) return value;
    Rewrite out(value);
    std::size_t at = 0;
    for (const json::Value& item : value.items()) {
      out.keep(at, {}, item, prune(item, item_node, path.item(at)));
      ++at;
    }
    return out.done();
  }

  std::vector<std::string>* dropped_;
  Zeros zeros_;
  std::size_t dropped_bytes_ = 0;
};

bool contains_null(const json::Value& value) {
  if (value.is_null()) return true;
  for (const auto [key, member] : value.members()) {
    if (contains_null(member)) return true;
  }
  return std::ranges::any_of(value.items(), contains_null);
}

// Defaulting. A null counts as absent where the node is not nullable: it becomes the default or, in an object, goes.
class Defaulter {
 public:
  Defaulter(bool has_nulls, std::size_t most_bytes) : has_nulls_(has_nulls), room_(most_bytes) {}

  json::Value fill(const json::Value& value, const SchemaNode* node) {
    if (node == nullptr || (!has_nulls_ && !node->has_defaults_within)) return value;
    if (value.is_object()) return fill_object(value, *node);
    if (value.is_array() && node->items != nullptr) return fill_array(value, *node->items);
    return value;
  }

 private:
  static bool counts_as_absent(const json::Value& value, const SchemaNode* node) {
    if (node == nullptr) return false;
    if (node->empty_is_absent && value.is_string() && value.as_string().empty()) return true;
    return value.is_null() && !node->is_nullable;
  }

  json::Value fill_object(const json::Value& value, const SchemaNode& node) {
    Rewrite out(value);
    std::size_t at = 0;
    for (const auto [key, member] : value.members()) {
      const std::size_t number = at++;
      const SchemaNode* child = node.member(key);
      if (!counts_as_absent(member, child)) {
        out.keep(number, key, member, fill(member, child));
      } else if (child->has_default && spend(key, *child)) {
        out.keep(number, key, member, default_of(*child));
      } else {
        out.drop(number);
      }
    }
    if (node.has_defaults_within) {
      for (const SchemaNode::Property& one : node.properties) {
        if (!one.node->has_default || value.has(one.name)) continue;
        if (spend(one.name, *one.node)) out.append(one.name, default_of(*one.node));
      }
    }
    return out.done();
  }

  json::Value fill_array(const json::Value& value, const SchemaNode& node) {
    Rewrite out(value);
    std::size_t at = 0;
    for (const json::Value& item : value.items()) {
      const bool is_replaced = counts_as_absent(item, &node) && node.has_default && spend({}, node);
      out.keep(at++, {}, item, is_replaced ? default_of(node) : fill(item, &node));
    }
    return out.done();
  }

  /// The default with the defaults within it; made once per schema, see fill_default_values().
  json::Value default_of(const SchemaNode& node) {
    return node.has_filled_default ? node.filled_default : fill(node.default_value, &node);
  }

  /// Whether there is room for one more default.
  bool spend(std::string_view key, const SchemaNode& node) {
    const std::size_t bytes = node.default_bytes + key.size();
    if (bytes > room_) {
      room_ = 0;
      return false;
    }
    room_ -= bytes;
    return true;
  }

  bool has_nulls_;
  std::size_t room_;  // bytes of text that may still be added
};

}  // namespace

struct Schema::Deferred {
  std::once_flag once;
  json::Value open_api;
};

Schema::Schema(std::shared_ptr<const SchemaNode> root) : root_(std::move(root)) {}
Schema::~Schema() = default;

std::shared_ptr<const Schema> Schema::deferred(json::Value open_api) {
  auto schema = std::make_shared<Schema>(nullptr);
  schema->deferred_ = std::make_unique<Deferred>();
  schema->deferred_->open_api = std::move(open_api);
  return schema;
}

const SchemaNode* Schema::node() const {
  if (!deferred_) return root_.get();
  std::call_once(deferred_->once, [this] {
    const auto compiled = compile(std::exchange(deferred_->open_api, json::Value()));
    if (compiled) {
      root_ = (*compiled)->root_;
      return;
    }
    auto any = std::make_shared<SchemaNode>();
    any->preserves_unknown_fields = true;
    root_ = std::move(any);
  });
  return root_.get();
}

Result<std::shared_ptr<const Schema>> Schema::compile(const json::Value& open_api, std::string path) {
  std::vector<Cause> causes = structural_causes(open_api, path);
  const auto refuse = [&] {
    Status status;
    status.reason = Reason::Invalid;
    status.message = fmt::format("the schema is not structural: {}: {}", causes.front().field, causes.front().message);
    status.causes = std::move(causes);
    return fail(std::move(status));
  };
  if (!causes.empty()) return refuse();
  auto arena = std::make_shared<SchemaArena>();
  SchemaBuilder builder(*arena);
  const SchemaNode* root = builder.build_resource(open_api);
  if (!builder.bad_pattern().empty()) {
    causes.push_back(
        field::invalid(path, json::print(json::Value(builder.bad_pattern())), "must be a valid regular expression (RE2)"));
    return refuse();
  }
  mark_defaults(*arena);
  fill_default_values(*arena);
  auto schema = std::make_shared<const Schema>(root_of(arena, root));
  check_defaults(*schema, open_api, path, causes);
  if (!causes.empty()) return refuse();
  return schema;
}

json::Value Schema::prune(const json::Value& object, std::vector<std::string>* dropped, Zeros zeros) const {
  json::Value out = Pruner(dropped, zeros).prune(object, node(), ValuePath());
  if (dropped != nullptr) std::ranges::sort(*dropped);
  return out;
}

json::Value Schema::fill_defaults(const json::Value& object) const {
  return Defaulter(contains_null(object), kMostDefaultBytes).fill(object, node());
}

void fill_default_values(SchemaArena& arena) {
  // Children come after their parents: going backwards, the defaults within a default are there when they are needed.
  for (auto node = arena.nodes().rbegin(); node != arena.nodes().rend(); ++node) {
    if (!node->has_default) continue;
    node->filled_default = Defaulter(true, kMostDefaultBytes).fill(node->default_value, &*node);
    node->default_bytes = json::print(node->filled_default).size();
    node->has_filled_default = true;
  }
}

}  // namespace slipway::kube
