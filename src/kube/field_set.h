// Sets of field paths, as server-side apply keeps them (structured-merge-diff, fieldpath): who owns `.spec.replicas`, the item
// `[name="web"]` of a list, the member `[="a"]` of a set. A set is a trie of path elements whose nodes never change and are
// shared between sets, so that an operation costs what it changes. The wire form is fieldsV1 (metav1.FieldsV1): one JSON object
// per node, keys `f:name`, `k:{"name":"web"}`, `v:"a"`, `i:3`, and `.` where a node with children is itself a member; its bytes
// depend on the members alone. A set is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

/// One step of a path. Ordered by kind, then by content.
class PathElement {
 public:
  enum class Kind : std::uint8_t { Field, Key, Value, Index };

  static PathElement field(std::string_view name) { return {Kind::Field, json::Value(name)}; }
  /// An item of a list by its key fields, an object of scalars. Their order does not count.
  static PathElement key(const json::Value& fields);
  /// A member of a list of scalars.
  static PathElement value(json::Value scalar) { return {Kind::Value, std::move(scalar)}; }
  static PathElement index(std::int64_t at) { return {Kind::Index, json::Value(at)}; }
  /// From a key of fieldsV1. nullopt for a kind of a later version, BadRequest when malformed.
  static Result<std::optional<PathElement>> parse(std::string_view text);

  Kind kind() const { return kind_; }
  /// The name, the key fields sorted by name, the scalar, or the number.
  const json::Value& content() const { return content_; }
  /// Negative, zero or positive. Scalars: numbers, strings, booleans, null; false before true.
  int compare(const PathElement& other) const;
  bool operator==(const PathElement& other) const { return compare(other) == 0; }
  /// Appends the key of fieldsV1.
  void serialize_to(std::string& out) const;
  /// Appends `.name`, `[name="web",port=80]`, `[="a"]` or `[3]`.
  void print_to(std::string& out) const;

 private:
  PathElement(Kind kind, json::Value content) : kind_(kind), content_(std::move(content)) {}

  Kind kind_;
  json::Value content_;
};

using FieldPath = std::vector<PathElement>;
/// `.spec.containers[name="web"].image`.
std::string to_string(const FieldPath& path);

class FieldSet {
 public:
  struct Entry;

  FieldSet() = default;
  /// Elements must differ. Entries that are no members and have no children are left out.
  static FieldSet of(std::vector<Entry> entries);
  static FieldSet of_paths(std::initializer_list<FieldPath> paths);
  enum class Spelling { Any, Ours };  // Ours: as to_fields_v1 writes it
  /// null and {} are the empty set. BadRequest when malformed; kinds of elements not known here are dropped.
  static Result<FieldSet> from_fields_v1(const json::Value& fields, Spelling spelling = Spelling::Any);
  json::Value to_fields_v1() const { return written(false); }

  bool empty() const { return node_ == nullptr; }
  /// Sorted.
  std::span<const Entry> entries() const;
  const Entry* find(const PathElement& element) const;
  bool has(std::span<const PathElement> path) const;
  /// How many paths are members.
  std::size_t size() const;
  FieldSet with(std::span<const PathElement> path) const;
  /// Only the members that have no member below them.
  FieldSet leaves() const;
  /// Members of a node in order, then what is below them.
  void for_each(const std::function<void(const FieldPath&)>& visit) const;

  bool operator==(const FieldSet& other) const;
  /// The same node: equal without looking.
  bool is_same(const FieldSet& other) const { return node_ == other.node_; }

 private:
  struct Node;
  explicit FieldSet(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static FieldSet of_sorted(std::vector<Entry> entries);
  json::Value written(bool with_self) const;

  friend FieldSet unite(const FieldSet&, const FieldSet&);
  friend FieldSet intersect(const FieldSet&, const FieldSet&);
  friend FieldSet subtract(const FieldSet&, const FieldSet&);
  friend FieldSet subtract_subtrees(const FieldSet&, const FieldSet&);

  std::shared_ptr<const Node> node_;  // null: empty
};

struct FieldSet::Entry {
  PathElement element;
  FieldSet children{};
  bool is_member = false;
};

FieldSet unite(const FieldSet& left, const FieldSet& right);
FieldSet intersect(const FieldSet& left, const FieldSet& right);
/// The members of `left` that are no members of `right`; what is below them stays.
FieldSet subtract(const FieldSet& left, const FieldSet& right);
/// Takes the members of `right` and everything below them out of `left`.
FieldSet subtract_subtrees(const FieldSet& left, const FieldSet& right);

/// How a set lies to a fieldsV1 object in its written form, found without decoding it.
struct Overlap {
  bool touches = false;    // some member of the set is one of the object's
  bool covers = true;      // every one is
  bool has_below = false;  // under some member without children the object goes on
};
/// REQUIRES: `fields` as to_fields_v1 writes it.
Overlap overlap(const json::Value& fields, const FieldSet& set);

}  // namespace slipway::kube
