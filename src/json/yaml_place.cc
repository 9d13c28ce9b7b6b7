#include "json/yaml_place.h"

#include <yaml.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "json/yaml_input.h"

namespace slipway::json {
namespace {

/// A name, or a place in a list.
struct Segment {
  std::string name;
  std::optional<std::size_t> index{};
};

Segment bracketed(std::string_view inside) {
  if (inside.size() >= 2 && inside.front() == '"' && inside.back() == '"') {
    return {.name = std::string(inside.substr(1, inside.size() - 2))};
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  const bool is_number = error == std::errc{} && end == inside.data() + inside.size();
  return is_number ? Segment{.name = "", .index = index} : Segment{.name = std::string(inside)};
}

std::vector<Segment> segments_of(std::string_view path) {
  std::vector<Segment> segments;
  while (!path.empty()) {
    if (path.front() == '.') {
      path.remove_prefix(1);
    } else if (path.front() == '[') {
      const std::size_t end = std::min(path.find(']'), path.size());
      segments.push_back(bracketed(path.substr(1, end - 1)));
      path.remove_prefix(std::min(end + 1, path.size()));
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      segments.push_back({.name = std::string(path.substr(0, end))});
      path.remove_prefix(end);
    }
  }
  return segments;
}

/// One opened text; ends its parser.
class Documents {
 public:
  explicit Documents(std::string_view text) {
    yaml_parser_initialize(&parser_);
    set_yaml_input(parser_, text);
  }
  ~Documents() { yaml_parser_delete(&parser_); }
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  /// False at the end, or where the text cannot be read.
  bool load(yaml_document_t& document) { return yaml_parser_load(&parser_, &document) == 1; }

 private:
  yaml_parser_t parser_{};
};

/// The place that a segment leads to; nullopt when the node has no such member.
struct Step {
  yaml_node_t* node;
  std::size_t line;
};

std::optional<Step> step_into(yaml_document_t& document, yaml_node_t& node, const Segment& segment) {
  if (node.type == YAML_SEQUENCE_NODE) {
    const auto index = segment.index ? segment.index : bracketed(segment.name).index;
    const auto count = static_cast<std::size_t>(node.data.sequence.items.top - node.data.sequence.items.start);
    if (!index || *index >= count) return std::nullopt;
    yaml_node_t* item = yaml_document_get_node(&document, node.data.sequence.items.start[*index]);
    return Step{item, item->start_mark.line + 1};
  }
  if (node.type != YAML_MAPPING_NODE || segment.index) return std::nullopt;
  for (auto* pair = node.data.mapping.pairs.start; pair < node.data.mapping.pairs.top; ++pair) {
    const yaml_node_t* key = yaml_document_get_node(&document, pair->key);
    if (key->type != YAML_SCALAR_NODE) continue;
    const std::string_view name(reinterpret_cast<const char*>(key->data.scalar.value), key->data.scalar.length);
    if (name == segment.name) return Step{yaml_document_get_node(&document, pair->value), key->start_mark.line + 1};
  }
  return std::nullopt;
}

std::size_t line_in(yaml_document_t& document, yaml_node_t* root, std::string_view path) {
  Step at{root, root->start_mark.line + 1};
  for (const Segment& segment : segments_of(path)) {
    const auto next = step_into(document, *at.node, segment);
    if (!next) break;
    at = *next;
  }
  return at.line;
}

}  // namespace

std::size_t yaml_line(std::string_view text, std::size_t document_line, std::string_view path) {
  Documents documents(text);
  yaml_document_t document;
  while (documents.load(document)) {
    yaml_node_t* root = yaml_document_get_root_node(&document);
    if (root == nullptr) {
      yaml_document_delete(&document);
      break;
    }
    const bool is_meant = root->start_mark.line + 1 == document_line;
    const std::size_t line = is_meant ? line_in(document, root, path) : 0;
    yaml_document_delete(&document);
    if (is_meant) return line;
  }
  return document_line;
}

}  // namespace slipway::json
