#include <algorithm>

#include "base/text.h"
#include "delivery/application/definition_commands.h"

namespace slipway::delivery::application {
namespace {

constexpr std::string_view kUsage = "+usage=";

std::string_view without_comment(std::string_view line) {
  bool is_quoted = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) is_quoted = !is_quoted;
    if (!is_quoted && line[i] == '/' && line[i + 1] == '/') return line.substr(0, i);
  }
  return line;
}

std::ptrdiff_t depth_of(std::string_view line) {
  const auto count = [&](char c) { return std::ranges::count(line, c); };
  return count('{') + count('[') - count('}') - count(']');
}

/// `name?: type` at the start of a line; nullopt for anything else.
std::optional<ParameterDoc> field_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view name = trimmed(line.substr(0, colon));
  ParameterDoc doc;
  if (name.ends_with('?') || name.ends_with('!')) {
    doc.is_optional = name.ends_with('?');
    name.remove_suffix(1);
  }
  if (name.size() > 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
  });
  if (!is_name) return std::nullopt;
  doc.name = std::string(name);
  doc.type = std::string(trimmed(line.substr(colon + 1)));
  return doc;
}

std::string readable(std::string type) {
  if (type == "{") return "struct";
  if (type == "[...{") return "list of structs";
  if (type.ends_with('{')) return std::string(trimmed(std::string_view(type).substr(0, type.size() - 1))) + " struct";
  return type;
}

}  // namespace

std::vector<ParameterDoc> parameter_docs(const std::string& text) {
  std::vector<ParameterDoc> docs;
  std::vector<std::pair<std::ptrdiff_t, std::string>> around;  // the fields that are open, with the depth outside them
  std::ptrdiff_t depth = 0;
  std::string usage;
  bool is_inside = false;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view whole = trimmed(raw);
    if (!is_inside) {
      is_inside = whole.starts_with("parameter:") && whole.ends_with('{');
      depth = is_inside ? 1 : 0;
      continue;
    }
    if (whole.starts_with("//")) {
      if (const auto at = whole.find(kUsage); at != std::string_view::npos) usage = whole.substr(at + kUsage.size());
      continue;
    }
    const std::string_view line = trimmed(without_comment(whole));
    const std::ptrdiff_t opened = depth_of(line);
    if (auto doc = field_of(line)) {
      const std::string path = around.empty() ? doc->name : around.back().second + "." + doc->name;
      if (opened > 0) around.emplace_back(depth, path);
      doc->name = path;
      doc->type = readable(doc->type);
      doc->usage = usage;
      docs.push_back(std::move(*doc));
    }
    usage.clear();
    depth += opened;
    while (!around.empty() && depth <= around.back().first) around.pop_back();
    if (depth <= 0) break;
  }
  return docs;
}

}  // namespace slipway::delivery::application
