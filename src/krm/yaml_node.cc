#include "krm/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "json/yaml_scalar.h"

namespace slipway::krm {
namespace {

constexpr std::size_t kMostRepeated = 10'000;  // nodes that aliases may add to a document, beside nine times its own

bool looks_like_date(std::string_view text) {
  if (text.size() < 8) return false;
  const auto digits = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  return digits(0) && digits(1) && digits(2) && digits(3) && text[4] == '-' && digits(5) &&
         text.find_first_not_of("0123456789-:.TtZz+ ") == std::string_view::npos &&
         std::ranges::count(text.substr(0, 10), '-') == 2;
}

class Reader {
 public:
  explicit Reader(const Node& root) { collect(root); }

  Result<json::Value> read(const Node& node, std::size_t depth) {
    if (++nodes_ > kMostRepeated + 10 * own_ || depth > kMostDepth)
      return fail(Reason::BadRequest, "yaml: the document is too large or too deep");
    switch (node.kind) {
      case Node::Kind::Scalar:
        return scalar(node);
      case Node::Kind::Mapping:
        return mapping(node, depth);
      case Node::Kind::Sequence:
        return sequence(node, depth);
      case Node::Kind::Alias:
        break;
    }
    const auto found = anchors_.find(node.anchor);
    if (found == anchors_.end()) {
      return fail(Reason::BadRequest,
                  fmt::format("yaml: line {}: unknown anchor '{}' referenced", node.line_number, node.anchor));
    }
    return read(*found->second, depth + 1);
  }

 private:
  void collect(const Node& node) {
    ++own_;
    if (node.kind != Node::Kind::Alias && !node.anchor.empty()) anchors_.emplace(node.anchor, &node);
    for (const Node& child : node.children) collect(child);
  }

  static Result<json::Value> scalar(const Node& node) {
    if (node.style != Node::Style::Plain || node.is_string || node.tag == "!!str" || node.tag == "!")
      return json::Value(node.text);
    const auto value = json::resolve_plain(node.text);
    if (!value) return json::Value(node.text);
    if (value->type() == json::Type::Double && !std::isfinite(value->as_double())) {
      return fail(Reason::BadRequest, fmt::format("yaml: line {}: {} is no JSON number", node.line_number, node.text));
    }
    return *value;
  }

  Result<json::Value> mapping(const Node& node, std::size_t depth) {
    json::ObjectBuilder made;
    for (std::size_t i = 0; i < node.pairs(); ++i) {
      SLIPWAY_TRY(value, read(node.value(i), depth + 1));
      if (node.key(i).kind == Node::Kind::Scalar && node.key(i).text == "<<" && node.key(i).style == Node::Style::Plain) {
        for (auto [key, member] : value.members()) made.set(key, member);
        continue;
      }
      made.set(node.key(i).text, std::move(value));
    }
    return made.build();
  }

  Result<json::Value> sequence(const Node& node, std::size_t depth) {
    json::ArrayBuilder made;
    for (const Node& item : node.children) {
      SLIPWAY_TRY(value, read(item, depth + 1));
      made.add(std::move(value));
    }
    return made.build();
  }

  std::map<std::string, const Node*, std::less<>> anchors_;
  std::size_t nodes_ = 0;
  std::size_t own_ = 0;
};

}  // namespace

Node Node::string(std::string_view text) {
  Node made;
  made.text = text;
  made.is_string = true;
  if (text.find('\n') != std::string_view::npos) made.style = Style::Literal;
  return made;
}

Node Node::plain(std::string_view text) {
  Node made;
  made.text = text;
  return made;
}

Node Node::mapping() {
  Node made;
  made.kind = Kind::Mapping;
  return made;
}

Node Node::sequence() {
  Node made;
  made.kind = Kind::Sequence;
  return made;
}

Node Node::from(const json::Value& value) {
  if (value.is_object()) {
    Node made = mapping();
    for (auto [key, member] : value.members()) {
      made.children.push_back(string(key));
      made.children.push_back(from(member));
    }
    return made;
  }
  if (value.is_array()) {
    Node made = sequence();
    for (const json::Value& item : value.items()) made.children.push_back(from(item));
    return made;
  }
  if (value.is_string()) return string(value.as_string());
  if (value.is_bool()) return plain(value.as_bool() ? "true" : "false");
  return plain(value.is_null() ? "null" : value.number_text());
}

bool Node::is_null() const {
  if (kind != Kind::Scalar || style != Style::Plain || is_string) return false;
  return text.empty() || text == "null" || text == "~" || text == "Null" || text == "NULL";
}

bool Node::reads_as_string() const {
  if (kind != Kind::Scalar) return false;
  if (style != Style::Plain || is_string || tag == "!!str") return true;
  return !json::resolve_plain(text).has_value() && !looks_like_date(text);
}

const Node* Node::find(std::string_view name) const { return const_cast<Node*>(this)->find(name); }

Node* Node::find(std::string_view name) {
  for (std::size_t i = 0; i < pairs(); ++i) {
    if (key(i).kind == Kind::Scalar && key(i).text == name) return &value(i);
  }
  return nullptr;
}

const Node* Node::key_node(std::string_view name) const { return const_cast<Node*>(this)->key_node(name); }

Node* Node::key_node(std::string_view name) {
  Node* found = find(name);
  return found == nullptr ? nullptr : found - 1;
}

const Node* Node::at(std::initializer_list<std::string_view> path) const { return const_cast<Node*>(this)->at(path); }

Node* Node::at(std::initializer_list<std::string_view> path) {
  Node* here = this;
  for (std::string_view part : path) {
    here = here->find(part);
    if (here == nullptr) return nullptr;
  }
  return here;
}

const Node* Node::at(std::span<const std::string> path) const { return const_cast<Node*>(this)->at(path); }

Node* Node::at(std::span<const std::string> path) {
  Node* here = this;
  for (const std::string& part : path) {
    if (here->is_sequence()) {
      std::size_t index = 0;
      for (char c : part) {
        if (c < '0' || c > '9' || index > here->children.size()) return nullptr;
        index = index * 10 + static_cast<std::size_t>(c - '0');
      }
      if (part.empty() || index >= here->children.size()) return nullptr;
      here = &here->children[index];
      continue;
    }
    here = here->find(part);
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string_view Node::get(std::initializer_list<std::string_view> path) const {
  const Node* found = at(path);
  return found != nullptr && found->is_scalar() && !found->is_null() ? std::string_view(found->text) : std::string_view();
}

Node& Node::set(std::string_view name, Node made) {
  if (Node* old = find(name)) {
    if (made.head.empty()) made.head = old->head;
    if (made.foot.empty()) made.foot = old->foot;
    if (made.line.empty()) made.line = old->line;
    if (made.is_scalar() && old->is_scalar() && made.is_string && made.style == Style::Plain && old->style != Style::Literal &&
        old->style != Style::Folded) {
      made.style = old->style;
    }
    *old = std::move(made);
    return *old;
  }
  if (kind != Kind::Mapping) {
    kind = Kind::Mapping;
    children.clear();
    text.clear();
    style = Style::Plain;
  }
  if (children.empty()) is_flow = false;
  children.push_back(string(name));
  children.push_back(std::move(made));
  return children.back();
}

Node& Node::mapping_at(std::string_view name) {
  Node* found = find(name);
  if (found == nullptr) return set(name, mapping());
  if (!found->is_mapping()) {
    Node made = mapping();
    made.head = found->head;
    made.foot = found->foot;
    *found = std::move(made);
  }
  return *found;
}

Node& Node::mapping_at(std::initializer_list<std::string_view> path) {
  Node* here = this;
  for (std::string_view part : path) here = &here->mapping_at(part);
  return *here;
}

bool Node::erase(std::string_view name) {
  for (std::size_t i = 0; i < pairs(); ++i) {
    if (key(i).kind != Kind::Scalar || key(i).text != name) continue;
    const auto first = children.begin() + static_cast<std::ptrdiff_t>(2 * i);
    children.erase(first, first + 2);
    return true;
  }
  return false;
}

void Node::set_text(std::string_view made) {
  const bool was_block = style == Style::Literal || style == Style::Folded;
  text = made;
  tag.clear();
  if (style == Style::Plain || was_block) {
    style = made.find('\n') != std::string_view::npos ? Style::Literal : Style::Plain;
    is_string = true;
  }
}

bool Node::has_value_of(const Node& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case Kind::Alias:
      return anchor == other.anchor;
    case Kind::Scalar: {
      if (is_null() && other.is_null()) return true;
      return text == other.text && (reads_as_string() == other.reads_as_string());
    }
    case Kind::Sequence:
      return std::ranges::equal(children, other.children, [](const Node& a, const Node& b) { return a.has_value_of(b); });
    case Kind::Mapping:
      break;
  }
  if (pairs() != other.pairs()) return false;
  for (std::size_t i = 0; i < pairs(); ++i) {
    const Node* found = other.find(key(i).text);
    if (found == nullptr || !value(i).has_value_of(*found)) return false;
  }
  return true;
}

Result<json::Value> to_value(const Node& root) { return Reader(root).read(root, 0); }

json::Value value_or_null(const Node& root) {
  auto value = to_value(root);
  return value ? *value : json::Value();
}

}  // namespace slipway::krm
