// YAML as a tree that can be changed and written again: order, quoting, tags, anchors and comments are kept, a node knows where
// it stood. Comments belong to nodes as in the YAML library of kpt (go-yaml v3): above, behind, and below. Values are read by
// the rules of sigs.k8s.io/yaml. A node is a value: a copy is independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::krm {

/// Levels of a document, aliases resolved.
inline constexpr std::size_t kMostDepth = 1000;

struct Node {
  enum class Kind : std::uint8_t { Scalar, Mapping, Sequence, Alias };
  enum class Style : std::uint8_t { Plain, SingleQuoted, DoubleQuoted, Literal, Folded };

  Kind kind = Kind::Scalar;
  Style style = Style::Plain;
  bool is_flow = false;    // [a, b] and {a: b}
  bool is_string = false;  // plain text that was set as text: written in quotes where it would read as something else
  std::string tag;         // as written, "!!str"; empty when there is none
  std::string anchor;      // of an alias: what it names
  std::string text;        // of a scalar
  std::string head;        // comments with their '#', lines joined by '\n'
  std::string line;
  std::string foot;
  std::vector<Node> children;  // items, or keys and values by turns

  // Where it stood in the text that it was read from: bytes, and the line from 1. A block collection begins at its first child
  // and ends behind the content of its last.
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t line_number = 0;

  static Node string(std::string_view text);
  /// Text that keeps whatever meaning its plain form has.
  static Node plain(std::string_view text);
  static Node mapping();
  static Node sequence();
  static Node from(const json::Value& value);

  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_mapping() const { return kind == Kind::Mapping; }
  bool is_sequence() const { return kind == Kind::Sequence; }
  /// An empty plain scalar, ~ or null.
  bool is_null() const;
  /// Whether a reader takes the scalar for text.
  bool reads_as_string() const;

  /// The member's value; nullptr when absent or no mapping.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  const Node* at(std::initializer_list<std::string_view> path) const;
  Node* at(std::initializer_list<std::string_view> path);
  const Node* at(std::span<const std::string> path) const;
  Node* at(std::span<const std::string> path);
  /// The text of the scalar there, "" for none.
  std::string_view get(std::initializer_list<std::string_view> path) const;
  const Node* key_node(std::string_view key) const;
  Node* key_node(std::string_view key);

  /// Sets the member, in place or last. What it replaces gives it its comments, and a scalar its quotes.
  Node& set(std::string_view key, Node value);
  /// The mapping there, made where there is none or null.
  Node& mapping_at(std::string_view key);
  Node& mapping_at(std::initializer_list<std::string_view> path);
  /// False when there was none.
  bool erase(std::string_view key);
  /// Replaces a scalar's text and nothing else; text that would not read as text is put in quotes.
  void set_text(std::string_view text);

  /// Pairs of a mapping.
  std::size_t pairs() const { return kind == Kind::Mapping ? children.size() / 2 : 0; }
  Node& key(std::size_t index) { return children[2 * index]; }
  Node& value(std::size_t index) { return children[2 * index + 1]; }
  const Node& key(std::size_t index) const { return children[2 * index]; }
  const Node& value(std::size_t index) const { return children[2 * index + 1]; }

  /// Equal as data: comments, styles and the order of members do not count.
  bool has_value_of(const Node& other) const;
};

/// As the API server reads it. BadRequest for an alias without its anchor, an infinite number, or aliases that make too much.
Result<json::Value> to_value(const Node& root);
/// As to_value; null where that fails.
json::Value value_or_null(const Node& root);

}  // namespace slipway::krm
