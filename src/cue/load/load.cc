#include "cue/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cue/data/source.h"
#include "cue/load/paths.h"
#include "cue/std/registry.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"
#include "json/yaml_nodes.h"

namespace slipway::cue::load {
namespace {

Errors one_error(std::string message, std::vector<Position> positions = {}) {
  return {{"load", "", std::move(message), std::move(positions)}};
}

// Text holds no NUL; what does would only be a list of characters that are not allowed.
bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }
Errors binary(const std::string& name) { return one_error(fmt::format("{} is a binary file, want CUE text", name)); }

/// What the head of a file says.
struct Head {
  std::string package;
  bool is_ignored = false;  // @ignore(), or an @if that does not hold
  std::string condition;    // that @if
  struct Import {
    std::string path;
    Position position;
  };
  std::vector<Import> imports;
  Errors errors;
};

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

enum class FileKind : std::uint8_t { None, Cue, Json, JsonLines, Yaml, Text, Unsupported };

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
FileKind kind_of_scope(std::string_view scope) {
  static constexpr struct {
    std::string_view name;
    FileKind kind;
  } kKinds[] = {{"cue", FileKind::Cue},   {"json", FileKind::Json}, {"jsonl", FileKind::JsonLines},
                {"yaml", FileKind::Yaml}, {"text", FileKind::Text}, {"data", FileKind::None}};
  // Of the attributes a kind of file may have none is known here.
  if (scope.find('=') != std::string_view::npos) return FileKind::Unsupported;
  for (std::size_t at = 0; at <= scope.size();) {
    std::size_t end = std::min(scope.find('+', at), scope.size());
    for (const auto& one : kKinds) {
      if (scope.substr(at, end - at) == one.name && one.kind != FileKind::None) return one.kind;
    }
    at = end + 1;
  }
  return FileKind::Unsupported;
}

// The part of "cue+foo=bar:" that is to blame.
std::string_view unknown_part(std::string_view scope) {
  scope.remove_suffix(1);
  std::size_t equals = scope.find('=');
  if (equals == std::string_view::npos) return scope;
  scope = scope.substr(0, equals);
  return scope.substr(scope.rfind('+') + 1);
}

SourceFormat format_of(FileKind kind) {
  return kind == FileKind::Yaml   ? SourceFormat::Yaml
         : kind == FileKind::Text ? SourceFormat::Text
         : kind == FileKind::Cue  ? SourceFormat::Cue
                                  : SourceFormat::Json;
}

class Loader {
 public:
  Loader(Files& files, const Request& request) : files_(files), request_(request), cwd_(normal(request.cwd)) {
    tags_.insert(request.tags.begin(), request.tags.end());
    find_module();
  }

  std::expected<Loaded, Errors> load() {
    Loaded out;
    std::vector<SourceText> named;
    std::vector<std::string> packages;
    bool has_files = false;
    FileKind scope = FileKind::None;
    for (const std::string& argument : request_.arguments) {
      if (argument.size() > 1 && argument.ends_with(':') && argument.find('/') == std::string::npos) {
        scope = argument == "data:" ? FileKind::None : kind_of_scope(argument.substr(0, argument.size() - 1));
        if (scope == FileKind::Unsupported)
          return std::unexpected(one_error(fmt::format("unknown filetype {}", unknown_part(argument))));
        continue;
      }
      FileKind kind = scope != FileKind::None ? scope : argument == "-" ? FileKind::Cue : kind_of_extension(argument);
      has_files = has_files || kind != FileKind::None;
      if (kind == FileKind::None) {
        packages.push_back(argument);
      } else if (auto failed = add_file(argument, kind, named, out.data)) {
        return std::unexpected(std::move(*failed));
      }
    }
    // An empty file of YAML is null on its own, and nothing beside others.
    bool has_others =
        std::any_of(out.data.begin(), out.data.end(), [&](const SourceText& one) { return !empty_.contains(one.name); });
    if (has_others) std::erase_if(out.data, [&](const SourceText& one) { return empty_.contains(one.name); });
    for (const std::string& one : packages) {
      bool is_path = one.starts_with('.') || one.find('/') != std::string::npos || one.find('.') != std::string::npos ||
                     one.find(':') != std::string::npos;
      if (!named.empty() && !one.empty() && !is_path) {
        return std::unexpected(
            one_error(fmt::format("standard library import path \"{}\" cannot be imported as a CUE package", one)));
      }
    }
    if (packages.empty() && named.empty() && out.data.empty() && !has_files) packages.push_back(".");
    if (!named.empty() && packages.empty()) {
      if (auto failed = add_named(std::move(named), out)) return std::unexpected(std::move(*failed));
    }
    for (const std::string& one : packages) {
      if (auto failed = add_packages(one, out.instances)) return std::unexpected(std::move(*failed));
    }
    // Files named beside packages belong to each of them.
    for (Instance& one : out.instances) {
      if (!packages.empty()) one.files.insert(one.files.end(), named.begin(), named.end());
    }
    for (Instance& one : out.instances) {
      if (auto failed = add_imports(one.files, one.packages)) return std::unexpected(std::move(*failed));
    }
    return out;
  }

 private:
  using Failure = std::optional<Errors>;

  // Files named one by one are one package.
  Failure add_named(std::vector<SourceText> named, Loaded& out) {
    Instance instance;
    std::string first;  // file with a package clause
    for (const SourceText& one : named) {
      Head head = head_of(one);
      if (!head.errors.empty()) return std::move(head.errors);
      if (!head.package.empty() && !instance.name.empty() && head.package != instance.name) {
        return one_error(fmt::format("found packages \"{}\" ({}) and \"{}\" ({}) in \".\"", instance.name, last_element(first),
                                     head.package, last_element(one.name)));
      }
      if (!head.package.empty() && instance.name.empty()) first = one.name;
      if (!head.package.empty()) instance.name = head.package;
      bool clashes =
          !head.package.empty() && !request_.package.empty() && head.package != request_.package && !out.data.empty();
      if (clashes && !request_.is_forced) {
        return one_error(
            fmt::format("\"package\" flag clashes with existing package name ({} vs {})", request_.package, head.package));
      }
    }
    // In whatever order they are named: a folder's files, then those of the folders below.
    std::sort(named.begin(), named.end(), [](const SourceText& a, const SourceText& b) {
      return std::pair(parent(a.name), a.name) < std::pair(parent(b.name), b.name);
    });
    instance.files = std::move(named);
    out.instances.push_back(std::move(instance));
    return {};
  }

  void find_module() {
    for (std::string at = cwd_;; at = parent(at)) {
      auto text = files_.read(joined(at, "cue.mod/module.cue"));
      if (text || files_.exists(joined(at, "cue.mod"))) {
        root_ = at;
        if (text) read_module(*text);
        return;
      }
      if (at == "/" || at == ".") return;
    }
  }

  void read_module(const std::string& text) {
    auto program = compile({{"./cue.mod/module.cue", text}});
    if (!program) return;
    module_ = evaluate(*program).field("module").as_string();
    if (auto at = module_.find('@'); at != std::string::npos) module_.resize(at);
  }

  Failure add_file(const std::string& argument, FileKind kind, std::vector<SourceText>& named, std::vector<SourceText>& data) {
    SourceText source{"-", request_.input};
    if (kind == FileKind::Unsupported)
      return one_error(fmt::format("files like {} are not supported (JSON, YAML, CUE and text are)", argument));
    if (argument != "-" && argument != "/dev/stdin") {
      std::string path = joined(cwd_, argument);
      auto text = files_.read(path);
      if (!text && files_.list(path)) return one_error(fmt::format("read {}: is a directory", argument));
      if (!text && files_.exists(path)) return one_error(fmt::format("cannot read {}: {}", argument, text.error().message));
      if (!text) return one_error(fmt::format("no such file or directory: {}", argument));
      source = {shown(path, cwd_), *text};
    }
    source.format = format_of(kind);
    if (kind == FileKind::Cue && is_binary(source.text)) return binary(source.name);
    if (kind == FileKind::Cue) {
      named.push_back(std::move(source));
    } else if (kind == FileKind::Yaml) {
      auto documents = json::parse_yaml_nodes(source.text, {.max_bytes = std::size_t{256} << 20});
      std::size_t count = documents ? std::max<std::size_t>(documents->size(), 1) : 1;
      bool is_blank = source.text.find_first_not_of(" \t\r\n") == std::string::npos;
      if (is_blank) empty_.insert(source.name);
      for (source.document = 0; source.document < count; ++source.document) data.push_back(source);
    } else if (kind == FileKind::JsonLines) {
      add_lines(source, data);
    } else {
      data.push_back(std::move(source));
    }
    return {};
  }

  // Values one after another; the lines before each are blank, so that places stay right.
  static void add_lines(const SourceText& source, std::vector<SourceText>& data) {
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

  // Behind a struct or list that begins at `at`, else the end of the line.
  static std::size_t end_of_value(const std::string& text, std::size_t at) {
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

  Head head_of(const SourceText& source) {
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

  struct Candidate {
    SourceText source;
    std::string package;
    Errors errors;
  };

  // Files of a folder that may belong to a package.
  std::vector<Candidate> candidates(const std::string& folder) {
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

  std::string boundary() const { return root_.empty() ? "" : root_; }

  // The files of one package in a folder, and of that package in the folders above it up to the module's root.
  std::expected<Instance, Errors> package_in(const std::string& folder, std::string wanted, const std::string& argument) {
    std::vector<Candidate> all = candidates(folder);
    std::map<std::string, std::string> names;  // package → a file of it
    for (const Candidate& one : all) {
      if (!one.errors.empty()) return std::unexpected(one.errors);
      if (!one.package.empty()) names.try_emplace(one.package, std::string(last_element(one.source.name)));
    }
    if (wanted.empty() && names.size() > 1 && names.contains(std::string(last_element(folder))) && folder != cwd_)
      wanted = last_element(folder);
    if (wanted.empty() && names.size() > 1) {
      std::string list;
      for (const auto& [package, file] : names)
        list += fmt::format("{}\"{}\" ({})", list.empty() ? "" : " and ", package, file);
      return std::unexpected(one_error(fmt::format("found packages {} in {}", list, shown_folder(folder))));
    }
    bool may_be_other = !request_.package.empty() && wanted == request_.package && argument.find(':') == std::string::npos;
    if ((wanted.empty() || may_be_other) && names.size() == 1) wanted = names.begin()->first;
    Instance instance;
    instance.name = wanted == "_" ? "" : wanted;
    std::vector<SourceText> above;
    for (std::string at = folder;
         !wanted.empty() && wanted != "_" && !root_.empty() && at != root_ && at != "/" && at != ".";) {
      at = parent(at);
      for (Candidate& one : candidates(at)) {
        if (one.package == wanted) above.push_back(std::move(one.source));
      }
    }
    instance.files = std::move(above);
    std::size_t before = instance.files.size();
    for (Candidate& one : all) {
      if (one.package == instance.name) instance.files.push_back(std::move(one.source));
    }
    if (instance.files.size() > before || instance.name.empty()) {
      if (!instance.files.empty()) return instance;
    }
    std::string why;
    for (const Candidate& one : all)
      why += fmt::format("\n    {}: package is {}, want {}", one.source.name, one.package, instance.name);
    for (const auto& [name, condition] : excluded_[folder]) why += fmt::format("\n    {}: {} did not match", name, condition);
    std::string shown_argument = argument.starts_with(".:") ? "." : argument;
    if (why.empty()) return std::unexpected(one_error(fmt::format("no CUE files in {}", shown_argument)));
    return std::unexpected(one_error(fmt::format("build constraints exclude all CUE files in {}:{}", shown_argument, why)));
  }

  static std::string without_dot(std::string path) { return path.starts_with("./") ? path.substr(2) : path; }
  std::string shown_folder(const std::string& folder) const {
    return folder == cwd_ ? "\".\"" : "\"" + without_dot(shown(folder, cwd_)) + "\"";
  }

  Failure add_packages(const std::string& argument, std::vector<Instance>& out) {
    if (argument.empty()) return one_error("empty file name");
    std::string path = argument;
    std::string wanted = request_.package;
    std::size_t colon = path.rfind(':');
    if (colon != std::string::npos) {
      wanted = path.substr(colon + 1);
      path = colon == 0 ? "." : path.substr(0, colon);
    }
    if (path.find("...") != std::string::npos) return add_pattern(path, wanted, argument, out);
    std::string folder;
    bool is_local = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../") || path.starts_with('/');
    if (is_local) {
      folder = joined(cwd_, path);
      if (!files_.exists(folder)) return one_error(fmt::format("cannot find package \"{}\": directory not found", argument));
      if (!files_.list(folder)) return one_error(fmt::format("{} is a file and not a package directory", argument));
      bool is_outside = !root_.empty() && root_ != "/" && folder != root_ && !folder.starts_with(root_ + "/");
      if (is_outside) return one_error(fmt::format("cannot determine import path for \"{}\" (dir outside of root)", argument));
      if (is_in_nested_module(folder))
        return one_error(fmt::format("cannot determine import path for \"{}\" (directory is in a nested module)", argument));
    } else {
      if (auto at = path.find('@'); at != std::string::npos) path.resize(at);
      while (path.ends_with('/')) path.pop_back();
      auto found = folder_of_import(path);
      bool is_standard = path.substr(0, path.find('/')).find('.') == std::string::npos;
      // Without a folder in it, it might have been meant as a file.
      if (path.find('/') == std::string::npos && !is_standard && path == argument)
        return one_error(fmt::format("unknown file extension {}", path.substr(path.rfind('.'))));
      if (wanted == "_") return one_error(fmt::format("invalid import path qualifier _ in \"{}\"", argument));
      if (!found && is_standard)
        return one_error(fmt::format("standard library import path \"{}\" cannot be imported as a CUE package", argument));
      if (!found) return one_error(fmt::format("cannot find package \"{}\"", argument));
      folder = *found;
      // An import path names its package.
      if (wanted.empty()) wanted = last_element(path);
      if (!is_identifier(wanted)) {
        return one_error(fmt::format("cannot determine package name for \"{}\"; set it explicitly with ':'", argument));
      }
      std::vector<Candidate> all = candidates(folder);
      bool is_there = std::any_of(all.begin(), all.end(), [&](const Candidate& one) { return one.package == wanted; });
      if (!is_there) {
        return one_error(fmt::format("cannot find package \"{}\": no files in package directory with package name \"{}\"",
                                     argument, wanted));
      }
    }
    auto instance = package_in(folder, wanted, argument);
    if (!instance) return std::move(instance).error();
    out.push_back(std::move(*instance));
    return {};
  }

  // "./...": every folder with a package, in order.
  Failure add_pattern(const std::string& path, const std::string& wanted, const std::string& argument,
                      std::vector<Instance>& out) {
    std::string fixed = path.substr(0, path.find("..."));
    std::string rest = path.substr(path.find("...") + 3);
    std::string top = fixed.ends_with('/') ? fixed.substr(0, fixed.size() - 1) : parent(fixed);
    if (!path.starts_with(".") && !path.starts_with("/")) {
      auto found = folder_of_import(top);
      if (!found) return one_error(fmt::format("cue: \"{}\" matched no packages", argument));
      top = *found;
    }
    std::vector<std::string> folders;
    walk(joined(cwd_, top.empty() ? "." : top), folders, 0);
    std::size_t before = out.size();
    for (const std::string& folder : folders) {
      if (!rest.empty() && !folder.ends_with(rest)) continue;
      std::set<std::string> names;
      for (const Candidate& one : candidates(folder)) {
        if (!one.errors.empty()) return one.errors;
        if (!one.package.empty() && (wanted.empty() || wanted == "*" || one.package == wanted)) names.insert(one.package);
      }
      for (const std::string& name : names) {
        auto instance = package_in(folder, name, argument);
        if (!instance) return std::move(instance).error();
        out.push_back(std::move(*instance));
      }
    }
    if (out.size() == before) return one_error(fmt::format("cue: \"{}\" matched no packages", argument));
    return {};
  }

  void walk(const std::string& folder, std::vector<std::string>& out, int depth) {
    if (depth > 50) return;
    out.push_back(folder);
    auto names = files_.list(folder);
    if (!names) return;
    for (const std::string& name : *names) {
      std::string path = joined(folder, name);
      bool is_hidden = name[0] == '_' || name[0] == '.' || name == "cue.mod";
      if (!is_hidden && files_.list(path) && !files_.exists(joined(path, "cue.mod"))) walk(path, out, depth + 1);
    }
  }

  // A folder below the module's that is, or lies in, a module of its own.
  bool is_in_nested_module(const std::string& folder) {
    if (root_.empty() || root_ == "/" || !folder.starts_with(root_ + "/")) return false;
    for (std::string at = folder; at.size() > root_.size(); at = parent(at)) {
      if (files_.exists(joined(at, "cue.mod"))) return true;
    }
    return false;
  }

  std::optional<std::string> folder_of_import(const std::string& path) {
    bool is_own = !module_.empty() && (path == module_ || path.starts_with(module_ + "/"));
    if (is_own) {
      std::string folder = joined(root_, "." + path.substr(module_.size()));
      if (files_.exists(folder) && !is_in_nested_module(folder)) return folder;
    }
    std::vector<std::string> vendored = vendored_folders(path);
    return vendored.empty() ? std::nullopt : std::optional(vendored[0]);
  }

  // A vendored package is what lies in all of these together.
  std::vector<std::string> vendored_folders(const std::string& path) {
    std::vector<std::string> out;
    for (const char* vendor : {"cue.mod/gen/", "cue.mod/usr/", "cue.mod/pkg/"}) {
      std::string folder = joined(root_.empty() ? cwd_ : root_, vendor + path);
      if (files_.exists(folder)) out.push_back(folder);
    }
    return out;
  }

  // The files of an imported package: those in its folder and, in the own module, those of its name in the folders above.
  Failure add_package_files(const Head::Import& import, const std::string& path, std::vector<SourceText>& files) {
    const std::string name = ImportPath(import.path).name;
    std::string folder = *folder_of_import(path);
    std::vector<std::string> folders = vendored_folders(path);
    bool is_vendored = !folders.empty() && folders[0] == folder;
    if (!is_vendored) folders = {folder};
    for (const std::string& at : folders) {
      for (Candidate& one : candidates(at)) {
        for (Error& wrong : one.errors) {
          wrong.message = "import failed: " + wrong.message;
          wrong.positions.insert(wrong.positions.begin(), import.position);
        }
        if (!one.errors.empty()) return std::move(one.errors);
        if (one.package == name) files.push_back(std::move(one.source));
      }
    }
    for (std::string at = folder; !is_vendored && at != root_ && at != "/" && at != "." && at.starts_with(root_);) {
      at = parent(at);
      for (Candidate& one : candidates(at)) {
        if (one.package == name) files.insert(files.begin(), std::move(one.source));
      }
    }
    return {};
  }

  // An import that comes back to a package that is being read, told with the imports on the way.
  Failure import_cycle(const Position& last) const {
    std::string message = "import failed: ";
    std::vector<Position> positions = {last};
    for (const auto& [key, position] : importing_) {
      message += "import failed: ";
      positions.push_back(position);
    }
    std::ranges::sort(positions, {}, [](const Position& one) { return std::tuple(one.file, one.line, one.column); });
    auto again =
        std::ranges::unique(positions, {}, [](const Position& one) { return std::tuple(one.file, one.line, one.column); });
    positions.erase(again.begin(), again.end());
    return one_error(message + "package import cycle not allowed", std::move(positions));
  }

  Failure add_imports(const std::vector<SourceText>& sources, Packages& packages) {
    for (const SourceText& source : sources) {
      if (source.format != SourceFormat::Cue) continue;
      Head head = head_of(source);
      for (const Head::Import& import : head.imports) {
        const ImportPath parsed(import.path);
        const std::string& key = parsed.key;
        const std::string& name = parsed.name;
        std::string bare = parsed.path.substr(0, parsed.path.find('@'));
        bool is_cycle = std::ranges::count(importing_, key, &std::pair<std::string, Position>::first) > 0;
        if (is_cycle) return import_cycle(import.position);
        if (packages.contains(key) || is_standard_package(key) || is_package_not_offered(key)) continue;
        auto folder = folder_of_import(bare);
        if (!folder) {
          bool is_plain = bare.find('.') == std::string::npos;
          return one_error(
              is_plain ? fmt::format("package {}: cannot find package \"{}\": not in std lib", import.path, import.path)
              : root_.empty()
                  ? "import failed: imports are unavailable because there is no cue.mod/module.cue file"
                  : fmt::format("import failed: cannot find package \"{}\": packages of a registry are not supported",
                                import.path),
              {import.position});
        }
        std::vector<SourceText> files;
        if (auto failed = add_package_files(import, bare, files)) return failed;
        if (files.empty()) {
          return one_error(
              fmt::format("import failed: cannot find package \"{}\": no files in package directory with package name \"{}\"",
                          import.path, name),
              {import.position});
        }
        const std::vector<SourceText>& kept = packages[key] = std::move(files);
        importing_.emplace_back(key, import.position);
        if (auto failed = add_imports(kept, packages)) return failed;
        importing_.pop_back();
      }
    }
    return {};
  }

  Files& files_;
  const Request& request_;
  std::string cwd_;
  std::string root_;
  std::string module_;
  std::set<std::string> tags_;
  std::vector<std::pair<std::string, Position>> importing_;  // packages that are being read, and where they were asked for
  std::set<std::string> empty_;                              // files of YAML without a document
  /// Folder → files that are left out by a condition.
  std::map<std::string, std::map<std::string, std::string>> excluded_;
};

void glob(Files& files, const std::string& folder, const std::string& below, std::string_view pattern, int depth,
          std::vector<std::string>& out) {
  auto names = depth > 30 ? Result<std::vector<std::string>>(std::vector<std::string>{}) : files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    std::string path = below.empty() ? name : below + "/" + name;
    if (name[0] == '.') continue;
    if (files.list(joined(folder, name)))
      glob(files, joined(folder, name), path, pattern, depth + 1, out);
    else if (matches_glob(pattern, path))
      out.push_back(path);
  }
}

}  // namespace

std::expected<Loaded, Errors> load(Files& files, const Request& request) { return Loader(files, request).load(); }

std::expected<std::vector<EmbeddedSource>, std::string> embed(Files& files, std::string_view cwd, std::string_view file,
                                                              std::string_view body) {
  std::string folder = parent(joined(normal(cwd), file));
  std::string path;
  std::string pattern;
  std::string type;
  bool allows_none = false;
  for (const AttributeArgument& one : attribute_arguments(body)) {
    if (one.key == "file")
      path = one.value;
    else if (one.key == "glob")
      pattern = one.value;
    else if (one.key == "type")
      type = one.value;
    else if (one.value == "allowEmptyGlob" || one.key == "allowEmptyGlob")
      allows_none = true;
    else
      return std::unexpected(fmt::format("@embed: unknown argument {}", one.key.empty() ? one.value : one.key));
  }
  if (path.empty() == pattern.empty()) return std::unexpected("@embed: attribute must have file or glob field");
  for (const std::string* one : {&path, &pattern}) {
    if (one->starts_with('/') || one->starts_with("../") || one->find("/../") != std::string::npos || *one == "..")
      return std::unexpected(fmt::format("@embed: cannot refer to parent directory: {}", *one));
  }
  std::vector<std::string> paths = {path};
  if (!pattern.empty()) {
    paths.clear();
    glob(files, folder, "", pattern, 0, paths);
    if (paths.empty() && !allows_none)
      return std::unexpected(fmt::format("@embed: no matches for glob pattern \"{}\"", pattern));
  }
  std::vector<EmbeddedSource> out;
  for (const std::string& one : paths) {
    std::string full = joined(folder, one);
    auto text = files.read(full);
    if (!text) return std::unexpected(fmt::format("@embed: open {}: no such file or directory", one));
    FileKind kind = type.empty() ? kind_of_extension(one) : type == "binary" ? FileKind::Text : kind_of_scope(type);
    if (kind == FileKind::None || kind == FileKind::Unsupported || kind == FileKind::Cue)
      return std::unexpected(fmt::format("@embed: encoding of {} is not supported", one));
    SourceText source{shown(full, normal(cwd)), *text};
    source.format = type == "binary" ? SourceFormat::Binary : format_of(kind);
    out.push_back({pattern.empty() ? "" : one, std::move(source)});
  }
  return out;
}

}  // namespace slipway::cue::load
