#include "cue/load/file_kind.h"

#include <algorithm>

#include "json/yaml_nodes.h"

namespace slipway::cue::load {
FileKind kind_of_extension(std::string_view path) {
  static constexpr struct {
    std::string_view extension;
    FileKind kind;
  } kKinds[] = {{".cue", FileKind::Cue},
                {".json", FileKind::Json},
                {".yaml", FileKind::Yaml},
                {".yml", FileKind::Yaml},
                {".jsonl", FileKind::JsonLines},
                {".ndjson", FileKind::JsonLines},
                {".ldjson", FileKind::JsonLines},
                {".txt", FileKind::Text},
                {".toml", FileKind::Unsupported},
                {".proto", FileKind::Unsupported},
                {".textproto", FileKind::Unsupported},
                {".xml", FileKind::Unsupported}};
  for (const auto& one : kKinds) {
    if (path.ends_with(one.extension)) return one.kind;
  }
  return FileKind::None;
}

/// "yaml:", "json+data:": what the files behind it are.
namespace {

struct ScopeWord {
  std::string_view name;
  FileKind kind;
};
constexpr ScopeWord kScopeWords[] = {{"cue", FileKind::Cue},   {"json", FileKind::Json}, {"jsonl", FileKind::JsonLines},
                                     {"yaml", FileKind::Yaml}, {"text", FileKind::Text}, {"data", FileKind::None}};

const ScopeWord* scope_word(std::string_view name) {
  for (const ScopeWord& one : kScopeWords) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

FileKind kind_of_scope(std::string_view scope) {
  FileKind kind = FileKind::None;
  for (std::size_t at = 0; at <= scope.size();) {
    std::size_t end = std::min(scope.find('+', at), scope.size());
    const ScopeWord* word = scope_word(scope.substr(at, end - at));
    if (word == nullptr) return FileKind::Unsupported;
    if (kind == FileKind::None) kind = word->kind;
    at = end + 1;
  }
  return kind;
}

std::string_view unknown_part(std::string_view scope) {
  scope.remove_suffix(1);
  for (std::size_t at = 0; at <= scope.size();) {
    std::size_t end = std::min(scope.find('+', at), scope.size());
    std::string_view part = scope.substr(at, end - at);
    if (scope_word(part) == nullptr) return part.substr(0, part.find('='));
    at = end + 1;
  }
  return scope;
}

SourceFormat format_of(FileKind kind) {
  return kind == FileKind::Yaml   ? SourceFormat::Yaml
         : kind == FileKind::Text ? SourceFormat::Text
         : kind == FileKind::Cue  ? SourceFormat::Cue
                                  : SourceFormat::Json;
}

namespace {

// Behind a struct or list that begins at `at`, else the end of the line.
std::size_t end_of_value(const std::string& text, std::size_t at) {
  if (text[at] != '{' && text[at] != '[') return std::min(text.find('\n', at), text.size());
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    char c = text[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      is_quoted = c != '"';
      continue;
    }
    is_quoted = c == '"';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (depth == 0 && (c == '}' || c == ']')) return i + 1;
  }
  return text.size();
}

// Values one after another; the lines before each are blank, so that places stay right.
void add_lines(const SourceText& source, std::vector<SourceText>& data) {
  const std::string& text = source.text;
  for (std::size_t at = text.find_first_not_of(" \t\r\n"); at != std::string::npos;) {
    std::size_t end = end_of_value(text, at);
    SourceText one = source;
    auto before = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    std::size_t line = text.rfind('\n', at);
    std::size_t column = line == std::string::npos ? at : at - line - 1;
    one.text = std::string(static_cast<std::size_t>(before), '\n') + std::string(column, ' ') + text.substr(at, end - at);
    data.push_back(std::move(one));
    // What is no value ends the stream: the reader of data tells of it.
    if (std::string_view("{[\"-0123456789tfn").find(text[at]) == std::string_view::npos) return;
    at = text.find_first_not_of(" \t\r\n", end);
  }
}

}  // namespace

bool is_empty_yaml(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

bool is_struct(const SourceText& source) {
  if (!source.below.empty()) return true;
  if (source.format == SourceFormat::Json) {
    std::size_t first = source.text.find_first_not_of(" \t\r\n");
    return first == std::string::npos || source.text[first] == '{';
  }
  if (source.format != SourceFormat::Yaml) return false;
  auto documents = json::parse_yaml_nodes(source.text, {.max_bytes = std::size_t{256} << 20});
  if (!documents) return true;  // told when it is read
  return source.document < documents->size() && (*documents)[source.document].root->kind == json::YamlNode::Kind::Mapping;
}

std::vector<SourceText> values_of(SourceText source, FileKind kind) {
  std::vector<SourceText> out;
  source.format = format_of(kind);
  if (kind == FileKind::JsonLines) {
    add_lines(source, out);
    return out;
  }
  std::size_t count = 1;
  if (kind == FileKind::Yaml) {
    auto documents = json::parse_yaml_nodes(source.text, {.max_bytes = std::size_t{256} << 20});
    if (documents) count = std::max<std::size_t>(documents->size(), 1);
  }
  for (source.document = 0; source.document < count; ++source.document) out.push_back(source);
  return out;
}

}  // namespace slipway::cue::load
