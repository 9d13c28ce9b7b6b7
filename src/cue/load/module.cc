#include "cue/load/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "cue/load/module_file.h"
#include "cue/load/paths.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

namespace slipway::cue::load {
namespace {

// "a && !b || (c)" over the tags given.
class Condition {
 public:
  Condition(std::string_view text, const std::set<std::string>& tags) : text_(text), tags_(tags) {}
  bool holds() { return any(); }

 private:
  bool any() {
    bool value = all();
    while (take("||")) {
      bool right = all();
      value = value || right;
    }
    return value;
  }
  bool all() {
    bool value = unary();
    while (take("&&")) {
      bool right = unary();
      value = value && right;
    }
    return value;
  }
  bool unary() {
    if (take("!")) return !unary();
    if (take("(")) {
      bool value = any();
      take(")");
      return value;
    }
    skip();
    std::size_t size = std::min(text_.find_first_of("!&|() \t"), text_.size());
    std::string name(text_.substr(0, size));
    text_.remove_prefix(size);
    return tags_.contains(name);
  }
  void skip() {
    while (text_.starts_with(' ') || text_.starts_with('\t')) text_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::string_view text_;
  const std::set<std::string>& tags_;
};

}  // namespace

Errors one_error(std::string message, std::vector<Position> positions) {
  return {{"load", "", std::move(message), std::move(positions)}};
}

bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }
Errors binary(const std::string& name) { return one_error(fmt::format("{} is a binary file, want CUE text", name)); }

Module::Module(Files& files, std::string cwd, const std::vector<std::string>& tags)
    : files_(files), cwd_(std::move(cwd)), tags_(tags.begin(), tags.end()) {
  find_root();
}

std::string module_root(Files& files, const std::string& folder) {
  for (std::string at = folder;; at = parent(at)) {
    if (files.exists(joined(at, "cue.mod"))) return at;
    if (at == "/" || at == ".") return "";
  }
}

void Module::find_root() {
  root_ = module_root(files_, cwd_);
  if (root_.empty()) return;
  const std::string name = joined(root_, "cue.mod/module.cue");
  if (auto text = files_.read(name)) {
    read_file(*text, name);
  } else if (!files_.list(joined(root_, "cue.mod"))) {
    errors_ = one_error("cue.mod files are no longer supported; use cue.mod/module.cue");
  }
}

void Module::read_file(const std::string& text, const std::string& name) {
  auto file = read_module_file(text, shown(name, cwd_), name);
  if (!file) {
    errors_ = file.error();
    return;
  }
  path_ = file->path;
}

Head Module::head_of(const SourceText& source) const {
  Head head;
  Arena arena;
  Diagnostics diagnostics;
  SourceMap map;
  Pos base = map.add(source.name, source.text);
  const ast::File* file = parse_file(source.name, source.text, base, arena, diagnostics);
  auto position = [&](Pos pos) {
    Location at = map.locate(pos);
    return Position{std::string(at.file), at.line, at.column};
  };
  for (const Diagnostic& one : diagnostics) head.errors.push_back({"syntax", "", one.message, {position(one.pos)}});
  head.package = file->package == "_" ? "" : std::string(file->package);
  for (const ast::Attribute* attribute : file->attributes) {
    if (attribute->name == "ignore") head.is_ignored = true;
    if (attribute->name == "if" && !Condition(attribute->body, tags_).holds()) {
      head.is_ignored = true;
      head.condition = attribute->text;
    }
  }
  for (const ast::Import& one : file->imports) {
    auto path = unquote(ast::as<ast::Literal>(*one.path).text);
    if (path) head.imports.push_back({path->value, position(one.path->pos)});
  }
  return head;
}

std::vector<Candidate> Module::candidates(const std::string& folder) {
  std::vector<Candidate> out;
  auto names = files_.list(folder);
  if (!names) return out;
  for (const std::string& name : *names) {
    bool is_special = name.ends_with("_tool.cue") || name.ends_with("_test.cue") || name[0] == '_' || name[0] == '.';
    if (!name.ends_with(".cue") || is_special) continue;
    auto text = files_.read(joined(folder, name));
    if (!text) continue;
    SourceText source{shown(joined(folder, name), cwd_), *text};
    Head head;
    if (is_binary(source.text)) {
      head.errors = binary(source.name);
    } else {
      head = head_of(source);
    }
    if (!head.is_ignored) {
      out.push_back({std::move(source), head.package, std::move(head.errors)});
    } else if (!head.condition.empty()) {
      excluded_[folder].emplace(source.name, head.condition);
    }
  }
  return out;
}

bool Module::is_in_nested_module(const std::string& folder) const {
  if (root_.empty() || root_ == "/" || !folder.starts_with(root_ + "/")) return false;
  for (std::string at = folder; at.size() > root_.size(); at = parent(at)) {
    if (files_.exists(joined(at, "cue.mod"))) return true;
  }
  return false;
}

std::optional<std::string> Module::folder_of_import(const std::string& path) const {
  bool is_own = !path_.empty() && (path == path_ || path.starts_with(path_ + "/"));
  if (is_own) {
    std::string folder = joined(root_, "." + path.substr(path_.size()));
    if (files_.exists(folder) && !is_in_nested_module(folder)) return folder;
  }
  std::vector<std::string> vendored = vendored_folders(path);
  return vendored.empty() ? std::nullopt : std::optional(vendored[0]);
}

std::vector<std::string> Module::vendored_folders(const std::string& path) const {
  std::vector<std::string> out;
  for (const char* vendor : {"cue.mod/gen/", "cue.mod/usr/", "cue.mod/pkg/"}) {
    std::string folder = joined(root_.empty() ? cwd_ : root_, vendor + path);
    if (files_.exists(folder)) out.push_back(folder);
  }
  return out;
}

}  // namespace slipway::cue::load
