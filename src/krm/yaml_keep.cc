// Edits as splices of the text. The tree says where things stand; the printer of kpt's form makes the few lines that are new.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/count.h"
#include "json/quoted.h"
#include "json/text.h"
#include "krm/yaml_tree.h"

namespace slipway::krm {
namespace {

using Path = std::span<const std::string>;

struct Splice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string made;
};

std::string written(Path path) {
  std::string made;
  for (const std::string& part : path) made += (made.empty() ? "" : ".") + part;
  return made;
}

std::optional<std::size_t> as_index(const std::string& part, std::size_t size) {
  if (part == "-") return size;
  const auto index = parse_count(part);
  return index && static_cast<std::size_t>(*index) <= size ? std::optional(static_cast<std::size_t>(*index)) : std::nullopt;
}

// What the document's value is to be after the edit.
Result<json::Value> with_at(const json::Value& here, Path path, const json::Value& value) {
  if (path.empty()) return value;
  if (here.is_array()) {
    const auto index = as_index(path.front(), here.size());
    if (!index)
      return fail(Reason::Invalid, fmt::format("{} is no index of a list of {}", json::quoted(path.front()), here.size()));
    SLIPWAY_TRY(inner, with_at(here.item(*index), path.subspan(1), value));
    return here.with_item(*index, std::move(inner));
  }
  if (!here.is_object() && !here.is_null()) {
    return fail(Reason::Invalid,
                fmt::format("there is no field {}: it stands in a {}", written(path), here.is_string() ? "text" : "scalar"));
  }
  SLIPWAY_TRY(inner, with_at(here[path.front()], path.subspan(1), value));
  return here.with(path.front(), std::move(inner));
}

json::Value nested(Path path, const json::Value& value) {
  if (path.empty()) return value;
  return json::object({{path.front(), nested(path.subspan(1), value)}});
}

class Editor {
 public:
  Editor(std::string_view text, const YamlTree& tree) : text_(text), tree_(tree) {}

  Result<Splice> set(Path path, const json::Value& value) const;
  Result<Splice> remove(Path path);
  /// Nothing where there is a comment already, or more than the key on its line.
  std::optional<Splice> comment(std::string_view key, const std::string& text) const;

 private:
  struct Place {
    const Node* node = nullptr;
    const Node* key = nullptr;   // when it is a member
    const Node* item = nullptr;  // itself, when it is an item
    bool is_in_flow = false;
  };

  std::size_t line_begin(std::size_t at) const {
    const std::size_t found = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
    return found == std::string_view::npos ? 0 : found + 1;
  }
  std::size_t line_end(std::size_t at) const {
    const std::size_t found = text_.find('\n', at);
    if (found == std::string_view::npos) return text_.size();
    return found > 0 && text_[found - 1] == '\r' && found - 1 >= at ? found - 1 : found;
  }
  std::size_t column(std::size_t at) const { return at - line_begin(at); }
  std::size_t colon_end(const Node& key) const { return text_.find(':', key.end) + 1; }
  std::size_t dash(const Node& item) const { return text_.rfind('-', item.begin - 1); }

  Splice replaced(const Place& place, const json::Value& value) const;
  Splice in_place(const Node& old, const json::Value& value) const;
  Splice inserted(const Place& parent, const std::string& part, const json::Value& value) const;
  std::string lines(const Node& made, std::size_t column) const;
  static std::string inline_text(const json::Value& value);
  Splice without_lines(std::size_t start, const Node& entry, const std::string& head) const;

  std::string_view text_;
  const YamlTree& tree_;
};

std::string Editor::inline_text(const json::Value& value) {
  if (value.is_object() || value.is_array()) return json::print(value);
  Node list = Node::sequence();
  list.is_flow = true;
  list.children.push_back(Node::from(value));
  std::string made = write_node(list, false);
  return made.substr(1, made.size() - 3);  // [x]\n
}

// The block form, every line but the first indented by `column`.
std::string Editor::lines(const Node& made, std::size_t column) const {
  std::string out;
  for (char c : write_node(made, tree_.is_wide)) {
    if (!out.empty() && out.back() == '\n' && c != '\n') out.append(column, ' ');
    out += c;
  }
  out.pop_back();
  return out;
}

// A scalar for a scalar: in the quotes that are there.
Splice Editor::in_place(const Node& old, const json::Value& value) const {
  std::string made = inline_text(value);
  if (value.is_string() && old.is_scalar() && old.begin != old.end) {
    Node list = Node::sequence();
    list.is_flow = true;
    list.children.push_back(Node::string(value.as_string()));
    if (old.style == Node::Style::SingleQuoted || old.style == Node::Style::DoubleQuoted) list.children[0].style = old.style;
    made = write_node(list, false);
    made = made.substr(1, made.size() - 3);
  }
  const bool is_glued = old.begin == old.end && old.begin > 0 && (text_[old.begin - 1] == ':' || text_[old.begin - 1] == '-');
  return {.begin = old.begin, .end = old.end, .made = (is_glued ? " " : "") + made};
}

Splice Editor::replaced(const Place& place, const json::Value& value) const {
  const Node& old = *place.node;
  const bool is_block = (value.is_object() || value.is_array()) && !value.empty();
  const bool is_tall = value.is_string() && value.as_string().contains('\n');
  const bool was_block = (old.is_mapping() || old.is_sequence()) && !old.is_flow;
  if (place.is_in_flow || (!is_block && !is_tall && (!was_block || place.key == nullptr))) return in_place(old, value);
  if (place.key == nullptr && place.item == nullptr) {
    return {.begin = old.begin, .end = old.end, .made = lines(Node::from(value), 0)};
  }
  Node owner = place.key != nullptr ? Node::mapping() : Node::sequence();
  if (place.key != nullptr) owner.children.push_back(Node::string("k"));
  owner.children.push_back(Node::from(value));
  const std::size_t begin = place.key != nullptr ? colon_end(*place.key) : dash(old) + 1;
  std::string made = lines(owner, place.key != nullptr ? column(place.key->begin) : column(dash(old)));
  made = made.substr(place.key != nullptr ? 2 : 1);
  std::size_t end = old.end;
  const std::string& comment = place.key != nullptr && !place.key->line.empty() ? place.key->line : old.line;
  if (!comment.empty()) {
    const std::size_t at = text_.find(comment, begin);
    end = std::max(end, at + comment.size());
    const std::size_t first = std::min(made.find('\n'), made.size());
    if (old.style != Node::Style::Literal && old.style != Node::Style::Folded) made.insert(first, " " + comment);
  }
  return {.begin = begin, .end = std::max(end, begin), .made = std::move(made)};
}

Splice Editor::inserted(const Place& parent, const std::string& part, const json::Value& value) const {
  const Node& node = *parent.node;
  const bool is_list = node.is_sequence();
  if (node.is_flow) {
    std::string made = is_list ? inline_text(value) : inline_text(part) + ": " + inline_text(value);
    if (!node.children.empty()) made = ", " + made;
    std::size_t at = node.end - 1;
    while (at > node.begin + 1 && (text_[at - 1] == ' ' || text_[at - 1] == '\n')) --at;
    if (!node.children.empty()) at = std::max(at, node.children.back().end);
    return {.begin = at, .end = at, .made = std::move(made)};
  }
  Node owner = is_list ? Node::sequence() : Node::mapping();
  if (!is_list) owner.children.push_back(Node::string(part));
  owner.children.push_back(Node::from(value));
  const std::size_t by = column(node.begin);
  const std::size_t at = line_end(node.end);
  return {.begin = at, .end = at, .made = "\n" + std::string(by, ' ') + lines(owner, by)};
}

std::optional<Splice> Editor::comment(std::string_view key, const std::string& text) const {
  const Node* node = tree_.root.is_flow ? nullptr : tree_.root.key_node(key);
  if (text.empty() || node == nullptr || !node->line.empty() || tree_.root.find(key)->is_flow) return {};
  const std::size_t begin = colon_end(*node);
  const std::size_t end = line_end(begin);
  if (text_.substr(begin, end - begin).find_first_not_of(" \t") != std::string_view::npos) return {};
  return Splice{.begin = begin, .end = end, .made = " " + text};
}

Result<Splice> Editor::set(Path path, const json::Value& value) const {
  Place here{.node = &tree_.root};
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node& node = *here.node;
    if (node.kind == Node::Kind::Alias)
      return fail(Reason::Invalid, fmt::format("{} is an alias: change what it names", written(path.first(i))));
    const bool is_in_flow = here.is_in_flow || node.is_flow;
    const Node* next = path[i] == "-" ? nullptr : node.at(path.subspan(i, 1));
    if (next != nullptr) {
      here = {.node = next,
              .key = node.is_mapping() ? next - 1 : nullptr,
              .item = node.is_sequence() ? next : nullptr,
              .is_in_flow = is_in_flow};
      continue;
    }
    const json::Value rest = nested(path.subspan(i + 1), value);
    if (node.is_null() || (node.children.empty() && !here.is_in_flow && !node.is_scalar())) {
      return replaced(here, node.is_sequence() ? json::array({rest}) : json::object({{path[i], rest}}));
    }
    return inserted(here, path[i], rest);
  }
  return replaced(here, value);
}

Splice Editor::without_lines(std::size_t start, const Node& entry, const std::string& head) const {
  std::size_t begin = line_begin(start);
  for (std::size_t left = head.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(head, '\n'));
       left > 0 && begin > 0; --left) {
    begin = line_begin(begin - 1);
  }
  std::size_t end = text_.find('\n', std::max(entry.end, start));
  if (end != std::string_view::npos) return {.begin = begin, .end = end + 1, .made = ""};
  while (begin > 0 && (text_[begin - 1] == '\n' || text_[begin - 1] == '\r')) --begin;
  return {.begin = begin, .end = text_.size(), .made = ""};
}

Result<Splice> Editor::remove(Path path) {
  Place parent{.node = &tree_.root};
  const auto absent = [&] { return fail(Reason::NotFound, fmt::format("there is no field {}", written(path))); };
  if (path.empty()) return absent();
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Node& node = *parent.node;
    const Node* next = node.at(path.subspan(i, 1));
    if (next == nullptr) return absent();
    parent = {.node = next,
              .key = node.is_mapping() ? next - 1 : nullptr,
              .item = node.is_sequence() ? next : nullptr,
              .is_in_flow = parent.is_in_flow || node.is_flow};
  }
  const Node& node = *parent.node;
  const Node* gone = node.at(path.last(1));
  if (gone == nullptr) return absent();
  const std::size_t step = node.is_mapping() ? 2 : 1;
  if (node.children.size() == step)
    return replaced(parent, node.is_mapping() ? json::Value::empty_object() : json::Value::empty_array());
  const auto index = static_cast<std::size_t>(gone - node.children.data()) / step;
  const Node& first = node.children[index * step];
  const bool is_last = (index + 1) * step >= node.children.size();
  if (node.is_flow) {
    if (!is_last) return Splice{.begin = first.begin, .end = node.children[(index + 1) * step].begin, .made = ""};
    return Splice{.begin = node.children[index * step - 1].end, .end = gone->end, .made = ""};
  }
  const std::size_t start = node.is_mapping() ? first.begin : dash(first);
  const bool is_inline =
      text_.substr(line_begin(start), start - line_begin(start)).find_first_not_of(" \t") != std::string_view::npos;
  if (is_inline && !is_last) {
    const Node& next = node.children[(index + 1) * step];
    return Splice{.begin = start, .end = node.is_mapping() ? next.begin : dash(next), .made = ""};
  }
  return without_lines(start, *gone, first.head);
}

}  // namespace

Result<KeptYaml> KeptYaml::parse(std::string text) {
  SLIPWAY_TRY(documents, read_yaml(text));
  return KeptYaml(std::move(text), std::move(documents));
}

Result<void> KeptYaml::set(std::size_t document, std::span<const std::string> path, const json::Value& value) {
  if (document >= documents_.size()) return fail(Reason::NotFound, fmt::format("there is no document {}", document));
  SLIPWAY_TRY(before, to_value(documents_[document].root));
  SLIPWAY_TRY(wanted, with_at(before, path, value));
  if (wanted == before) return {};
  SLIPWAY_TRY(splice, Editor(text_, documents_[document]).set(path, value));
  return replace(document, splice.begin, splice.end, std::move(splice.made), wanted);
}

Result<void> KeptYaml::remove(std::size_t document, std::span<const std::string> path) {
  if (document >= documents_.size()) return fail(Reason::NotFound, fmt::format("there is no document {}", document));
  SLIPWAY_TRY(splice, Editor(text_, documents_[document]).remove(path));
  SLIPWAY_TRY(before, to_value(documents_[document].root));
  json::Value parent = before;
  for (const std::string& part : path.first(path.size() - 1)) {
    const json::Value next = parent.is_array() ? parent.item(as_index(part, parent.size()).value_or(0)) : parent[part];
    parent = next;
  }
  parent =
      parent.is_array() ? parent.without_item(as_index(path.back(), parent.size()).value_or(0)) : parent.without(path.back());
  SLIPWAY_TRY(wanted, with_at(before, path.first(path.size() - 1), parent));
  return replace(document, splice.begin, splice.end, std::move(splice.made), wanted);
}

Result<void> KeptYaml::mark(std::span<const MetadataMark> marks) {
  std::vector<Splice> splices;
  std::vector<json::Value> wanted;
  wanted.reserve(documents_.size());
  for (const YamlTree& one : documents_) wanted.push_back(value_or_null(one.root));
  for (const MetadataMark& one : marks) {
    if (one.document >= documents_.size()) return fail(Reason::NotFound, fmt::format("there is no document {}", one.document));
    const Editor editor(text_, documents_[one.document]);
    if (auto comment = editor.comment("metadata", one.comment)) splices.push_back(std::move(*comment));
    if (one.annotation.empty()) continue;
    const std::vector<std::string> path{"metadata", "annotations", one.annotation};
    SLIPWAY_TRY(after, with_at(wanted[one.document], path, json::Value(one.value)));
    if (after == wanted[one.document]) continue;
    wanted[one.document] = after;
    SLIPWAY_TRY(splice, editor.set(path, json::Value(one.value)));
    // In quotes, needed or not: as kpt writes it.
    const std::string plain = ": " + one.value;
    if (splice.made.ends_with(plain) && !one.value.contains('\''))
      splice.made.replace(splice.made.size() - plain.size(), plain.size(), ": '" + one.value + "'");
    splices.push_back(std::move(splice));
  }
  std::ranges::sort(splices, {}, &Splice::begin);
  std::string edited;
  std::size_t at = 0;
  for (const Splice& one : splices) {
    if (one.begin < at || one.begin > one.end || one.end > text_.size())
      return fail(Reason::InternalError, "yaml: the places of two edits lie in each other");
    edited += std::string_view(text_).substr(at, one.begin - at);
    edited += with_line_ends(one.made);
    at = one.end;
  }
  edited += std::string_view(text_).substr(at);
  return take(std::move(edited), wanted, marks.empty() ? 0 : marks.front().document);
}

std::string KeptYaml::with_line_ends(std::string made) const {
  if (!text_.contains("\r\n")) return made;
  std::string with_returns;
  for (char c : made) {
    if (c == '\n') with_returns += '\r';
    with_returns += c;
  }
  return with_returns;
}

Result<void> KeptYaml::replace(std::size_t document, std::size_t begin, std::size_t end, std::string made,
                               const json::Value& wanted) {
  if (begin > end || end > text_.size())
    return fail(Reason::InternalError, "yaml: the place of the edit lies outside the text");
  std::vector<json::Value> all;
  all.reserve(documents_.size());
  for (const YamlTree& one : documents_) all.push_back(value_or_null(one.root));
  all[document] = wanted;
  return take(text_.substr(0, begin) + with_line_ends(std::move(made)) + text_.substr(end), all, document);
}

Result<void> KeptYaml::take(std::string edited, const std::vector<json::Value>& wanted, std::size_t document) {
  auto again = read_yaml(edited);
  const auto refused = [&] {
    return fail(Reason::InternalError, fmt::format("yaml: line {}: this text cannot be edited so that nothing else changes",
                                                   documents_[document].root.line_number));
  };
  if (!again || again->size() != documents_.size()) return refused();
  for (std::size_t i = 0; i < again->size(); ++i) {
    if (!(value_or_null((*again)[i].root) == wanted[i])) return refused();
  }
  text_ = std::move(edited);
  documents_ = std::move(*again);
  return {};
}

}  // namespace slipway::krm
