#include <algorithm>
#include <map>

#include "base/lookup.h"
#include "base/text.h"
#include "delivery/application/definition_commands.h"

namespace slipway::delivery::application {
namespace {

constexpr std::string_view kUsage = "+usage=";
/// A definition that names itself is not followed deeper.
constexpr std::size_t kMaxDocDepth = 4;

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

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
}

/// `name?: type` at the start of a line, `a: b: type` as the path "a.b"; nullopt for anything else.
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
  if (name.empty() || !std::ranges::all_of(name, is_name_letter)) return std::nullopt;
  doc.name = std::string(name);
  doc.type = std::string(trimmed(line.substr(colon + 1)));
  if (auto inner = field_of(doc.type)) {
    inner->name = doc.name + "." + inner->name;
    inner->is_optional = inner->is_optional || doc.is_optional;
    return inner;
  }
  return doc;
}

/// The fields of `parameter` or of a definition `#Name`, as they are written.
struct Block {
  std::string head;  // what stands beside the name: "*#Change | close({", "string", "{"
  std::vector<ParameterDoc> fields;
};
using Blocks = std::map<std::string, Block>;

/// "parameter" or "#Name" where a block of that name begins.
std::string begun(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return "";
  const std::string_view name = line.substr(0, colon);
  const bool is_definition = name.size() > 1 && name.front() == '#' && std::ranges::all_of(name.substr(1), is_name_letter);
  return is_definition || name == "parameter" ? std::string(name) : "";
}

class ParameterReader {
 public:
  Blocks read(const std::string& text) {
    for (const std::string_view raw : split(text, '\n')) read_line(trimmed(raw));
    return std::move(blocks_);
  }

 private:
  void read_line(std::string_view whole) {
    if (whole.starts_with("//")) {
      if (const auto at = whole.find(kUsage); at != std::string_view::npos) usage_ = whole.substr(at + kUsage.size());
      return;
    }
    const std::string_view line = trimmed(without_comment(whole));
    if (block_ == nullptr) {
      begin(line);
    } else {
      read_field(line);
    }
    usage_.clear();
  }

  void begin(std::string_view line) {
    const std::string name = begun(line);
    if (name.empty() || blocks_.contains(name)) return;
    Block& block = blocks_[name];
    block.head = std::string(trimmed(line.substr(line.find(':') + 1)));
    depth_ = depth_of(line);
    if (depth_ > 0) block_ = &block;
  }

  void read_field(std::string_view line) {
    const std::ptrdiff_t opened = depth_of(line);
    if (auto doc = field_of(line)) {
      if (!around_.empty()) doc->name = around_.back().second + "." + doc->name;
      if (opened > 0) around_.emplace_back(depth_, doc->name);
      doc->usage = usage_;
      block_->fields.push_back(std::move(*doc));
    }
    depth_ += opened;
    while (!around_.empty() && depth_ <= around_.back().first) around_.pop_back();
    if (depth_ <= 0) block_ = nullptr;
  }

  Blocks blocks_;
  Block* block_ = nullptr;  // which is being read
  std::ptrdiff_t depth_ = 0;
  std::vector<std::pair<std::ptrdiff_t, std::string>> around_;  // the fields that are open, with the depth outside them
  std::string usage_;
};

/// The first definition that a type names and that is a struct, or a list of structs.
std::string named_struct(const Blocks& blocks, std::string_view type) {
  for (auto at = type.find('#'); at != std::string_view::npos; at = type.find('#', at + 1)) {
    auto end = at + 1;
    while (end < type.size() && is_name_letter(type[end])) ++end;
    const std::string name(type.substr(at, end - at));
    const auto found = blocks.find(name);
    if (found != blocks.end() && !found->second.fields.empty()) return name;
  }
  return "";
}

std::string readable(const Blocks& blocks, std::string type) {
  for (int i = 0; i < 4; ++i) {  // a definition of a plain type may name another one
    const auto at = type.find('#');
    if (at == std::string::npos) break;
    auto end = at + 1;
    while (end < type.size() && is_name_letter(type[end])) ++end;
    const auto found = blocks.find(type.substr(at, end - at));
    if (found == blocks.end()) break;
    const bool is_list = found->second.head.starts_with("[...{");
    const bool is_struct = !found->second.fields.empty();
    type.replace(at, end - at, is_list ? "[...{" : is_struct ? "{" : found->second.head);
  }
  if (type == "{" || type == "{...}") return "struct";
  if (type == "[...{" || type == "[...{]" || type == "[...{...}]") return "list of structs";
  if (type.ends_with('{')) return std::string(trimmed(std::string_view(type).substr(0, type.size() - 1))) + " struct";
  return type;
}

class Expansion {
 public:
  explicit Expansion(const Blocks& blocks) : blocks_(blocks) {}

  std::vector<ParameterDoc> run() {
    const auto parameter = blocks_.find("parameter");
    if (parameter == blocks_.end()) return {};
    const std::string& head = parameter->second.head;
    if (head.starts_with("[string]:")) {
      docs_.push_back({.name = "*", .type = readable(blocks_, std::string(trimmed(head.substr(9)))), .is_optional = true});
      return std::move(docs_);
    }
    const std::string base = named_struct(blocks_, head);
    if (!base.empty()) add(value_at(blocks_, base), "", 1);
    const std::size_t own = docs_.size();
    add(parameter->second, "", 1);
    // `*#Base | close({` …: the own fields are another way to say it.
    for (std::size_t i = own; i < docs_.size() && !base.empty(); ++i) docs_[i].is_optional |= !docs_[i].name.contains('.');
    return std::move(docs_);
  }

 private:
  void add(const Block& block, const std::string& prefix, std::size_t depth) {
    for (const ParameterDoc& field : block.fields) {
      ParameterDoc doc = field;
      doc.name = prefix + doc.name;
      doc.type = readable(blocks_, field.type);
      docs_.push_back(doc);
      const std::string inner = named_struct(blocks_, field.type);
      if (!inner.empty() && depth < kMaxDocDepth) add(value_at(blocks_, inner), doc.name + ".", depth + 1);
    }
  }

  const Blocks& blocks_;
  std::vector<ParameterDoc> docs_;
};

}  // namespace

std::vector<ParameterDoc> parameter_docs(const std::string& text) {
  const Blocks blocks = ParameterReader().read(text);
  return Expansion(blocks).run();
}

}  // namespace slipway::delivery::application
