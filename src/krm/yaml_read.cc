// Events of libyaml become nodes; comments are found in the gaps between the marks of two contents, where no quotes can be.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "json/yaml_event.h"
#include "json/yaml_input.h"
#include "krm/yaml_tree.h"

namespace slipway::krm {
namespace {

struct Comment {
  std::string text;
  std::size_t column = 0;
  bool is_after_blank = false;  // a blank line stands above
};

class Composer {
 public:
  explicit Composer(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) base_ = 3;
    known_at_ = known_line_ = base_;
    if (std::ranges::any_of(text_, [](char c) { return (c & 0x80) != 0; })) index_characters();
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    json::set_yaml_input(parser_, text);
  }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;
  ~Composer() { yaml_parser_delete(&parser_); }

  Result<std::vector<YamlTree>> documents();

 private:
  Result<void> next();
  void index_characters();
  std::size_t offset(const yaml_mark_t& mark) const;
  std::size_t begin() const { return offset(event_->raw.start_mark); }
  std::size_t end() const { return offset(event_->raw.end_mark); }
  yaml_event_type_t type() const { return event_->raw.type; }
  std::unexpected<Status> wrong(std::size_t line, std::string_view what) const {
    return fail(Reason::BadRequest, fmt::format("yaml: line {}: {}", line, what));
  }

  Result<YamlTree> document();
  Result<Node> node(std::size_t depth, std::size_t parent_column);
  Node scalar();
  Result<void> mapping(Node& made, std::size_t depth);
  Result<void> sequence(Node& made, std::size_t depth, std::size_t parent_column);
  Result<void> flow(Node& made, std::size_t depth);

  void advance(std::size_t to);
  void skip_line_comment(std::string& into, bool is_key);
  std::string take_head(Node* previous);
  std::string take_foot(std::size_t column);
  std::size_t column_of(std::size_t at) const;

  std::string_view text_;
  std::size_t base_ = 0;
  std::vector<std::uint32_t> starts_;  // of characters, where the text is not ASCII
  yaml_parser_t parser_{};
  std::unique_ptr<json::YamlEvent> event_;
  std::size_t cursor_ = 0;  // behind the last content
  std::vector<Comment> pending_;
  bool is_gap_blank_ = false;  // a blank line stands behind the last pending comment
  std::size_t flow_depth_ = 0;
  mutable std::size_t known_at_ = 0;    // where column_of looked last,
  mutable std::size_t known_line_ = 0;  // and the beginning of that line
};

void Composer::index_characters() {
  for (std::size_t i = base_; i < text_.size(); ++i) {
    if ((text_[i] & 0xC0) != 0x80) starts_.push_back(static_cast<std::uint32_t>(i));
  }
  starts_.push_back(static_cast<std::uint32_t>(text_.size()));
}

std::size_t Composer::offset(const yaml_mark_t& mark) const {
  if (starts_.empty()) return std::min(base_ + mark.index, text_.size());
  return starts_[std::min(mark.index, starts_.size() - 1)];
}

// Called with places that mostly grow: only what lies between two calls is searched, so that one long line costs no square.
std::size_t Composer::column_of(std::size_t at) const {
  const std::size_t from = at >= known_at_ ? known_at_ : base_;
  if (at < known_at_) known_line_ = base_;
  const std::size_t found = text_.substr(from, at - from).rfind('\n');
  if (found != std::string_view::npos) known_line_ = from + found + 1;
  known_at_ = at;
  return at - known_line_;
}

Result<void> Composer::next() {
  event_ = std::make_unique<json::YamlEvent>();
  if (yaml_parser_parse(&parser_, &event_->raw) != 0) return {};
  const std::size_t line =
      (parser_.context_mark.line != 0 ? parser_.context_mark.line : parser_.problem_mark.line) + 1;  // as go-yaml
  return wrong(line, parser_.problem != nullptr ? parser_.problem : "cannot be read");
}

// Moves over what is no content up to `to` and keeps the comments there.
void Composer::advance(std::size_t to) {
  std::size_t line_begin = cursor_ - column_of(cursor_);
  bool is_blank_line = text_.substr(line_begin, cursor_ - line_begin).find_first_not_of(" \t\r") == std::string_view::npos;
  bool was_comment = false;
  while (cursor_ < to) {
    const char c = text_[cursor_];
    if (c == '\n') {
      if (is_blank_line && !was_comment) is_gap_blank_ = true;
      is_blank_line = true;
      was_comment = false;
    } else if (c == '#' && (cursor_ == base_ || std::string_view(" \t\n\r").contains(text_[cursor_ - 1]))) {
      std::size_t stop = std::min(text_.find('\n', cursor_), text_.size());
      const std::size_t column = column_of(cursor_);
      std::string_view line = text_.substr(cursor_, stop - cursor_);
      while (!line.empty() && std::string_view(" \t\r").contains(line.back())) line.remove_suffix(1);
      pending_.push_back({.text = std::string(line), .column = column, .is_after_blank = is_gap_blank_});
      is_gap_blank_ = false;
      was_comment = true;
      cursor_ = stop;
      continue;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      is_blank_line = false;
    }
    ++cursor_;
  }
  cursor_ = std::max(cursor_, to);
}

// A comment on the rest of this line is the node's own.
void Composer::skip_line_comment(std::string& into, bool is_key) {
  if (flow_depth_ > 0 && is_key) return;
  std::size_t at = cursor_;
  const auto blanks = [&] {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
  };
  blanks();
  if ((is_key && at < text_.size() && text_[at] == ':') || (flow_depth_ > 0 && at < text_.size() && text_[at] == ',')) ++at;
  blanks();
  if (at >= text_.size() || text_[at] != '#' || at == 0 || (text_[at - 1] != ' ' && text_[at - 1] != '\t')) return;
  const std::size_t stop = std::min(text_.find('\n', at), text_.size());
  std::string_view line = text_.substr(at, stop - at);
  while (!line.empty() && std::string_view(" \t\r").contains(line.back())) line.remove_suffix(1);
  into = line;
  cursor_ = stop;
}

std::string joined(std::span<const Comment> comments) {
  std::string made;
  for (const Comment& comment : comments) {
    if (!made.empty()) made += comment.is_after_blank ? "\n\n" : "\n";
    made += comment.text;
  }
  return made;
}

// The comments above a key or an item. A first block that hangs on the line before and is followed by a blank line belongs to
// what stood before.
std::string Composer::take_head(Node* previous) {
  std::vector<Comment> taken = std::exchange(pending_, {});
  const bool is_blank = std::exchange(is_gap_blank_, false);
  if (taken.empty()) return "";
  std::size_t block = 1;
  while (block < taken.size() && !taken[block].is_after_blank) ++block;
  if (previous != nullptr && !taken.front().is_after_blank && (block < taken.size() || is_blank)) {
    std::string foot = joined(std::span(taken).first(block));
    previous->foot = previous->foot.empty() ? foot : previous->foot + "\n" + foot;
    taken.erase(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(block));
  }
  return joined(taken);
}

// At the end of a block: the comments that are indented as far as it is.
std::string Composer::take_foot(std::size_t column) {
  std::size_t count = 0;
  while (count < pending_.size() && pending_[count].column >= column) ++count;
  if (count == 0) return "";
  std::string made = joined(std::span(pending_).first(count));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  return made;
}

Node Composer::scalar() {
  const auto& data = event_->raw.data.scalar;
  Node made;
  made.begin = begin();
  made.end = end();
  made.line_number = event_->raw.start_mark.line + 1;
  made.text.assign(reinterpret_cast<const char*>(data.value), data.length);
  made.anchor = json::yaml_text(data.anchor);
  made.tag = json::yaml_text(data.tag);
  switch (data.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
      made.style = Node::Style::SingleQuoted;
      break;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
      made.style = Node::Style::DoubleQuoted;
      break;
    case YAML_LITERAL_SCALAR_STYLE:
      made.style = Node::Style::Literal;
      break;
    case YAML_FOLDED_SCALAR_STYLE:
      made.style = Node::Style::Folded;
      break;
    case YAML_ANY_SCALAR_STYLE:
    case YAML_PLAIN_SCALAR_STYLE:
      break;
  }
  if (made.style == Node::Style::Literal || made.style == Node::Style::Folded) {
    const std::size_t header = std::min(text_.find('\n', made.begin), made.end);
    const std::string_view line = text_.substr(made.begin, header - made.begin);
    if (const std::size_t at = line.find(" #"); at != std::string_view::npos) made.line = line.substr(at + 1);
    while (!made.line.empty() && std::string_view(" \t\r").contains(made.line.back())) made.line.pop_back();
    while (made.end > made.begin && std::string_view(" \t\r\n").contains(text_[made.end - 1])) --made.end;
  }
  return made;
}

Result<Node> Composer::node(std::size_t depth, std::size_t parent_column) {
  if (depth > kMostDepth) return wrong(event_->raw.start_mark.line + 1, "more than 1000 levels");
  const auto& raw = event_->raw;
  Node made;
  if (type() == YAML_SCALAR_EVENT) {
    made = scalar();
  } else if (type() == YAML_ALIAS_EVENT) {
    made.kind = Node::Kind::Alias;
    made.anchor = json::yaml_text(raw.data.alias.anchor);
  } else if (type() == YAML_MAPPING_START_EVENT) {
    made.kind = Node::Kind::Mapping;
    made.anchor = json::yaml_text(raw.data.mapping_start.anchor);
    made.tag = json::yaml_text(raw.data.mapping_start.tag);
    made.is_flow = raw.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
  } else if (type() == YAML_SEQUENCE_START_EVENT) {
    made.kind = Node::Kind::Sequence;
    made.anchor = json::yaml_text(raw.data.sequence_start.anchor);
    made.tag = json::yaml_text(raw.data.sequence_start.tag);
    made.is_flow = raw.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
  } else {
    return wrong(raw.start_mark.line + 1, "unexpected event");
  }
  if (made.tag.starts_with(json::kYamlTagPrefix)) made.tag = "!!" + made.tag.substr(json::kYamlTagPrefix.size());
  made.begin = begin();
  made.line_number = raw.start_mark.line + 1;
  if (made.kind == Node::Kind::Scalar || made.kind == Node::Kind::Alias) {
    if (made.kind == Node::Kind::Alias) made.end = end();
    cursor_ = std::max(cursor_, made.end);
    return made;
  }
  if (made.is_flow) {
    SLIPWAY_TRY_VOID(flow(made, depth));
  } else if (made.is_mapping()) {
    SLIPWAY_TRY_VOID(mapping(made, depth));
  } else {
    SLIPWAY_TRY_VOID(sequence(made, depth, parent_column));
  }
  return made;
}

Result<void> Composer::flow(Node& made, std::size_t depth) {
  ++flow_depth_;
  const bool was_sequence = made.is_sequence();
  cursor_ = std::max(cursor_, end());
  while (true) {
    SLIPWAY_TRY_VOID(next());
    if (type() == YAML_MAPPING_END_EVENT || type() == YAML_SEQUENCE_END_EVENT) break;
    advance(begin());
    std::string head = take_head(nullptr);
    SLIPWAY_TRY(child, node(depth + 1, 0));
    child.head = std::move(head);
    const bool is_key = !was_sequence && made.children.size() % 2 == 0;
    if (!is_key) skip_line_comment(child.line, false);
    made.children.push_back(std::move(child));
  }
  advance(begin());
  if (!pending_.empty()) made.foot = joined(std::exchange(pending_, {}));
  made.end = end();
  cursor_ = std::max(cursor_, made.end);
  --flow_depth_;
  return {};
}

Result<void> Composer::mapping(Node& made, std::size_t depth) {
  std::size_t column = 0;
  std::set<std::string, std::less<>> seen;
  while (true) {
    SLIPWAY_TRY_VOID(next());
    if (type() == YAML_MAPPING_END_EVENT) break;
    advance(begin());
    std::string head = take_head(made.children.empty() ? nullptr : &made.children[made.children.size() - 2]);
    if (made.children.empty()) column = column_of(begin());
    SLIPWAY_TRY(key, node(depth + 1, column));
    if (made.children.empty()) made.begin = key.begin;
    if (key.is_scalar() && !seen.insert(key.text).second) {
      return wrong(key.line_number, fmt::format("mapping key \"{}\" already defined", key.text));
    }
    key.head = std::move(head);
    skip_line_comment(key.line, true);
    made.children.push_back(std::move(key));
    SLIPWAY_TRY_VOID(next());
    const bool is_block =
        (type() == YAML_MAPPING_START_EVENT && event_->raw.data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE) ||
        (type() == YAML_SEQUENCE_START_EVENT && event_->raw.data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE);
    const bool is_absent = type() == YAML_SCALAR_EVENT && begin() == end();
    if (!is_absent) advance(begin());
    SLIPWAY_TRY(value, node(depth + 1, column));
    if (is_absent) value.begin = value.end = std::max(value.begin, made.children.back().end);
    if (!is_block && !is_absent) {
      if (!pending_.empty()) value.head = take_head(nullptr);
      std::string line;
      skip_line_comment(line, false);
      if (!line.empty()) value.line = std::move(line);
    }
    made.end = std::max(value.end, made.children.back().end);
    made.children.push_back(std::move(value));
  }
  advance(begin());
  if (depth > 0 && !made.children.empty()) made.children[made.children.size() - 2].foot += take_foot(column);
  return {};
}

Result<void> Composer::sequence(Node& made, std::size_t depth, std::size_t parent_column) {
  std::size_t column = 0;
  while (true) {
    SLIPWAY_TRY_VOID(next());
    if (type() == YAML_SEQUENCE_END_EVENT) break;
    // The dash of the item: what is above it is the head, what is behind it goes on inside.
    std::size_t dash = cursor_;
    const std::size_t stop = std::max(begin(), cursor_);
    for (bool is_comment = false; dash < stop; ++dash) {
      if (text_[dash] == '\n') is_comment = false;
      if (text_[dash] == '#' && dash > 0 && std::string_view(" \t\n\r").contains(text_[dash - 1])) is_comment = true;
      if (text_[dash] == '-' && !is_comment) break;
    }
    advance(std::min(dash, stop));
    if (made.children.empty()) {
      column = column_of(dash);
      made.begin = dash;
    }
    std::string head = take_head(made.children.empty() ? nullptr : &made.children.back());
    advance(stop);
    SLIPWAY_TRY(item, node(depth + 1, column + 2));
    item.head = std::move(head);
    const bool is_block = !item.is_flow && (item.is_mapping() || item.is_sequence());
    if (!is_block) {
      std::string line;
      skip_line_comment(line, false);
      if (!line.empty()) item.line = std::move(line);
    }
    made.end = std::max(item.end, dash + 1);
    made.children.push_back(std::move(item));
  }
  advance(begin());
  const std::size_t least = depth > 0 && column == parent_column ? column + 1 : column;
  if (depth > 0 && !made.children.empty()) made.children.back().foot += take_foot(least);
  return {};
}

Result<YamlTree> Composer::document() {
  YamlTree made;
  cursor_ = std::max(cursor_, event_->raw.data.document_start.implicit != 0 ? cursor_ : begin());
  if (event_->raw.data.document_start.implicit == 0) advance(end());
  made.begin = event_->raw.data.document_start.implicit != 0 ? cursor_ : end();
  SLIPWAY_TRY_VOID(next());
  const bool is_absent = type() == YAML_SCALAR_EVENT && begin() == end();
  if (!is_absent) advance(begin());
  // Comments above a blank line belong to the document, the others to the first node.
  std::size_t first = pending_.size();
  if (!is_gap_blank_) {
    while (first > 0 && !pending_[first - 1].is_after_blank) --first;
    if (first > 0) --first;
  }
  made.head = joined(std::span(pending_).first(first));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first));
  is_gap_blank_ = false;
  std::string head;
  if (type() == YAML_SCALAR_EVENT || type() == YAML_ALIAS_EVENT) head = take_head(nullptr);
  SLIPWAY_TRY(root, node(0, 0));
  root.head = std::move(head);
  if (root.is_scalar() || root.is_flow) skip_line_comment(root.line, false);
  SLIPWAY_TRY_VOID(next());
  advance(begin());
  made.end = begin();
  if (!pending_.empty() && !pending_.front().is_after_blank && !root.children.empty() && !root.is_flow) {
    std::size_t block = 1;
    while (block < pending_.size() && !pending_[block].is_after_blank) ++block;
    Node& last = root.is_mapping() ? root.children[root.children.size() - 2] : root.children.back();
    last.foot += joined(std::span(pending_).first(block));
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(block));
  }
  made.foot = joined(std::exchange(pending_, {}));
  is_gap_blank_ = false;
  made.is_empty = is_absent;
  made.root = std::move(root);
  made.is_wide = has_wide_lists(text_.substr(made.begin, made.end - std::min(made.begin, made.end)));
  return made;
}

Result<std::vector<YamlTree>> Composer::documents() {
  std::vector<YamlTree> made;
  cursor_ = base_;
  while (true) {
    SLIPWAY_TRY_VOID(next());
    if (type() == YAML_STREAM_END_EVENT) break;
    if (type() != YAML_DOCUMENT_START_EVENT) continue;
    SLIPWAY_TRY(tree, document());
    made.push_back(std::move(tree));
  }
  return made;
}

}  // namespace

Result<std::vector<YamlTree>> read_yaml(std::string_view text) { return Composer(text).documents(); }

Result<YamlTree> read_one_yaml(std::string_view text) {
  SLIPWAY_TRY(trees, read_yaml(text));
  std::erase_if(trees, [](const YamlTree& tree) { return tree.is_empty; });
  if (trees.size() > 1) return fail(Reason::BadRequest, "yaml: there are several documents, wanted one");
  if (!trees.empty()) return std::move(trees.front());
  YamlTree made;
  made.root = Node::mapping();
  return made;
}

bool has_wide_lists(std::string_view text) {
  std::string_view previous;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t stop = text.find('\n');
    std::string_view line = text.substr(0, stop);
    text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t dash = line.find("- ");
    if (!is_first && dash != std::string_view::npos && line.find_first_not_of(' ') == dash) {
      const std::size_t indent = previous.find_first_not_of(' ');
      std::string_view key = indent == std::string_view::npos ? std::string_view() : previous.substr(indent);
      while (key.ends_with(' ')) key.remove_suffix(1);
      if (key.ends_with(':') && std::ranges::count(key, ':') == 1) {
        if (dash == indent) return false;
        if (dash == indent + 2) return true;
      }
    }
    const std::size_t text_at = line.find_first_not_of(' ');
    if (text_at == std::string_view::npos || line[text_at] != '#') previous = line.substr(0, line.find('#'));
    is_first = false;
  }
  return false;
}

}  // namespace slipway::krm
