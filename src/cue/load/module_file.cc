#include "cue/load/module_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cue/evaluation.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

// Nodes are told apart a few kinds at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue::load {
namespace {

using NodeKind = ast::Kind;

constexpr std::string_view kSyntax = "invalid module file syntax: ";
constexpr std::string_view kOldest = "v0.8.0-alpha.0";
// DIVERGES: cue v0.14 refuses modules of later versions. Those known are read here as if they were of v0.14; what they use of
// the later language is an error where it stands.
constexpr std::string_view kNewest = "v0.18.0";
constexpr const char* kSchemaName = "module-schema";
constexpr const char* kSchema = R"(#File: {
  module?: string
  language?: version?: string
  description?: string
  source?: kind!: "self" | "git"
  deps?: [string]: {v!: string, default?: bool}
  custom?: [string]: {...}
})";

// --- data only

/// What may stand in data: fields with plain labels, literals, lists and structs.
class DataCheck {
 public:
  DataCheck(const SourceMap& map, Errors& errors) : map_(map), errors_(errors) {}

  void file(const ast::File& file) {
    if (!file.imports.empty()) refuse(file.imports[0].pos, "imports");
    if (!file.package.empty()) refuse(file.package_pos, "package clauses");
    for (const ast::Node* one : file.decls) declaration(*one);
  }

 private:
  void refuse(Pos pos, std::string_view what) {
    Location at = map_.locate(pos);
    errors_.push_back({"syntax",
                       "",
                       fmt::format("{}{} not allowed in data mode", kSyntax, what),
                       {{std::string(at.file), at.line, at.column}}});
  }

  void declaration(const ast::Node& node) {
    if (node.kind == NodeKind::Attribute) return;
    if (node.kind == NodeKind::Ellipsis) return refuse(node.pos, "ellipsis");
    if (node.kind == NodeKind::Let) return refuse(node.pos, "references");
    if (node.kind != NodeKind::Field) return value(node);
    const auto& field = ast::as<ast::Field>(node);
    bool is_name = field.label->kind == NodeKind::Ident;
    bool is_plain = (is_name || field.label->kind == NodeKind::Literal) && field.mark == ast::Mark::Regular;
    if (!is_plain) return refuse(node.pos, "optional fields");
    std::string_view name = is_name ? ast::as<ast::Ident>(*field.label).name : std::string_view();
    if (name.starts_with('#') || name.starts_with("_#")) return refuse(node.pos, "definitions");
    value(*field.value);
  }

  void value(const ast::Node& node) {
    switch (node.kind) {
      case NodeKind::Literal:
        return;
      case NodeKind::Struct:
        for (const ast::Node* one : ast::as<ast::Struct>(node).decls) declaration(*one);
        return;
      case NodeKind::List:
        for (const ast::Node* one : ast::as<ast::List>(node).items) {
          if (one->kind == NodeKind::Ellipsis) return refuse(one->pos, "ellipsis");
          value(*one);
        }
        return;
      case NodeKind::Unary:
        if (ast::as<ast::Unary>(node).operand->kind == NodeKind::Literal) return;
        return refuse(node.pos, "expressions");
      case NodeKind::Ident:
      case NodeKind::Selector:
      case NodeKind::Index:
        return refuse(node.pos, "references");
      default:
        return refuse(node.pos, "expressions");
    }
  }

  const SourceMap& map_;
  Errors& errors_;
};

Errors errors_of_syntax(const std::string& text, const std::string& name) {
  Errors errors;
  Arena arena;
  Diagnostics diagnostics;
  SourceMap map;
  const ast::File* file = parse_file(name, text, map.add(name, text), arena, diagnostics);
  for (const Diagnostic& one : diagnostics) {
    Location at = map.locate(one.pos);
    errors.push_back({"syntax", "", std::string(kSyntax) + one.message, {{std::string(at.file), at.line, at.column}}});
  }
  if (errors.empty()) DataCheck(map, errors).file(*file);
  return errors;
}

// --- versions

/// Semantic versions as Go modules write them; "v1" and "v1.2" are short for "v1.0.0" and "v1.2.0".
struct Version {
  std::array<std::uint64_t, 3> numbers{};
  std::vector<std::string> pre;  // "alpha", "1"
  bool is_canonical = true;      // written in full, without a build
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<Version> parse_version(std::string_view text) {
  Version out;
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  std::string_view core = text.substr(0, text.find_first_of("-+"));
  std::string_view rest = text.substr(core.size());
  std::size_t count = 0;
  for (std::size_t at = 0; at <= core.size() && count <= 3; ++count) {
    std::size_t end = std::min(core.find('.', at), core.size());
    std::string_view part = core.substr(at, end - at);
    if (!is_number(part) || (part.size() > 1 && part[0] == '0') || count == 3) return std::nullopt;
    std::from_chars(part.data(), part.data() + part.size(), out.numbers[count]);
    at = end + 1;
  }
  if (!rest.empty() && count < 3) return std::nullopt;
  std::size_t plus = std::min(rest.find('+'), rest.size());
  out.is_canonical = count == 3 && plus == rest.size();
  if (plus + 1 == rest.size()) return std::nullopt;
  std::string_view pre = rest.substr(0, plus);
  while (!pre.empty()) {
    pre.remove_prefix(1);  // '-' or '.'
    std::string_view part = pre.substr(0, pre.find('.'));
    if (part.empty() || (is_number(part) && part.size() > 1 && part[0] == '0')) return std::nullopt;
    out.pre.emplace_back(part);
    pre.remove_prefix(part.size());
  }
  return out;
}

// What comes before a release is older than it; numbers before words, fewer words before more.
int compare(const Version& a, const Version& b) {
  if (a.numbers != b.numbers) return a.numbers < b.numbers ? -1 : 1;
  if (a.pre.empty() || b.pre.empty()) return static_cast<int>(a.pre.empty()) - static_cast<int>(b.pre.empty());
  for (std::size_t i = 0; i < std::min(a.pre.size(), b.pre.size()); ++i) {
    const std::string& x = a.pre[i];
    const std::string& y = b.pre[i];
    if (x == y) continue;
    if (is_number(x) != is_number(y)) return is_number(x) ? -1 : 1;
    if (is_number(x) && x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return a.pre.size() < b.pre.size() ? -1 : a.pre.size() > b.pre.size() ? 1 : 0;
}

/// The text of what is wrong with it; empty when nothing is.
std::string problem_of_version(const std::string& text) {
  if (text.empty()) return "no language version declared in module.cue; run 'cue mod fix'";
  auto version = parse_version(text);
  if (!version) return fmt::format("language version \"{}\" in module.cue is not valid semantic version", text);
  if (compare(*version, *parse_version(kNewest)) > 0) {
    return fmt::format("language version \"{}\" declared in module.cue is too new for current language version \"{}\"", text,
                       kNewest);
  }
  if (compare(*version, *parse_version(kOldest)) < 0)
    return fmt::format("cannot find schema suitable for reading module file with language version \"{}\"", text);
  return "";
}

// --- module paths

std::string problem_of_element(std::string_view element) {
  if (element.empty()) return "empty path element";
  for (char bad : {'.', '-', '_'}) {
    if (element.starts_with(bad)) return fmt::format("leading '{}' in path element", bad);
  }
  return element.ends_with('.') ? "trailing '.' in path element" : "";
}

std::string problem_of_path(std::string_view path) {
  if (path.empty()) return "empty string";
  std::size_t bad = path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-._/");
  if (bad != std::string_view::npos) return fmt::format("invalid char '{}'", path[bad]);
  if (path.find("//") != std::string_view::npos) return "double slash";
  if (path.ends_with('/')) return "trailing slash";
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find('/', at), path.size());
    if (std::string problem = problem_of_element(path.substr(at, end - at)); !problem.empty()) return problem;
    at = end + 1;
  }
  return path.substr(0, path.find('/')).find('.') == std::string_view::npos ? "missing dot in first path element" : "";
}

std::string problem_of_dependency(const std::string& name, const std::string& version) {
  std::string made = fmt::format("cannot make version from module \"{}\", version \"{}\": ", name, version);
  std::string path = name.substr(0, name.find('@'));
  if (std::string problem = problem_of_path(path); !problem.empty())
    return fmt::format("{}malformed module path \"{}\": {}", made, name, problem);
  auto parsed = parse_version(version);
  if (!parsed) return fmt::format("{}version \"{}\" (of module \"{}\") is not well formed", made, version, name);
  bool fits = path == name || name.substr(path.size() + 1) == fmt::format("v{}", parsed->numbers[0]);
  return fits ? "" : fmt::format("{}mismatched major version suffix in \"{}\" (version {})", made, name, version);
}

// --- the whole

Error without_schema(Error one) {
  std::erase_if(one.positions, [](const Position& at) { return at.file == kSchemaName; });
  return one;
}

Errors errors_of_fields(const SourceText& source) {
  CompileOptions options;
  options.expressions = {"#File"};
  options.data = {source};
  auto program = compile({{kSchemaName, kSchema}}, {}, options);
  if (!program) return program.error();
  Evaluation evaluation(*program, Limits{});
  evaluation.run({});
  const ProgramData& data = program->data();
  std::vector<const ir::Expr*> parts = data.expressions;
  parts.insert(parts.end(), data.data_values.begin(), data.data_values.end());
  Errors errors = evaluation.errors_of(evaluation.evaluator().complete_all(parts), Demand::Concrete);
  for (Error& one : errors) one = without_schema(std::move(one));
  return errors;
}

// Which version it is written for says how to read the rest.
Errors errors_of_language(const Cursor& root) {
  auto wants = [](const Cursor& at, std::string_view kind) {
    return Errors{{"load", at.path(), fmt::format("cannot determine language version: want a {}", kind), {}}};
  };
  if (root.kind() != cue::Kind::Struct) return wants(root, "struct");
  Cursor language = root.field("language");
  if (language.exists() && language.kind() != cue::Kind::Struct) return wants(language, "struct");
  Cursor version = language.field("version");
  if (version.exists() && version.kind() != cue::Kind::String) return wants(version, "string");
  std::string problem = problem_of_version(version.as_string());
  return problem.empty() ? Errors{} : Errors{{"load", "", problem, {}}};
}

std::string problem_of_content(const Cursor& root, ModuleFile& out) {
  out.language = root.lookup("language.version").as_string();
  if (!parse_version(out.language)->is_canonical) return fmt::format("language version {} is not canonical", out.language);
  std::string module = root.field("module").as_string();
  if (module.empty()) return "empty module path";
  out.path = module.substr(0, module.find('@'));
  if (out.path != module) {
    auto major = parse_version(module.substr(out.path.size() + 1));
    bool is_major = major && module == fmt::format("{}@v{}", out.path, major->numbers[0]);
    if (!is_major) return fmt::format("module path {} should contain the major version only", module);
  }
  if (std::string problem = problem_of_path(out.path); !problem.empty())
    return fmt::format("module path \"{}\" is not valid: {}", out.path, problem);
  for (const FieldCursor& one : root.field("deps").fields()) {
    std::string problem = problem_of_dependency(one.name, one.value.field("v").as_string());
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

std::expected<ModuleFile, Errors> read_module_file(const std::string& text, const std::string& shown_name,
                                                   const std::string& full_name) {
  if (Errors errors = errors_of_syntax(text, shown_name); !errors.empty()) return std::unexpected(std::move(errors));
  const SourceText source{shown_name, text};
  auto program = compile({source});
  if (!program) return std::unexpected(program.error());
  Cursor root = evaluate(*program);
  if (Errors errors = root.validate(); !errors.empty()) {
    for (Error& one : errors) one.message.insert(0, kSyntax);
    return std::unexpected(std::move(errors));
  }
  if (Errors errors = errors_of_language(root); !errors.empty()) return std::unexpected(std::move(errors));
  if (Errors errors = errors_of_fields(source); !errors.empty()) return std::unexpected(std::move(errors));
  ModuleFile out;
  if (std::string problem = problem_of_content(root, out); !problem.empty()) {
    Error wrong{"load", "", fmt::format("invalid module file {}: {}", full_name, problem), {}};
    return std::unexpected(Errors{std::move(wrong)});
  }
  return out;
}

}  // namespace slipway::cue::load
