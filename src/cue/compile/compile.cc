#include <fmt/format.h>

#include <algorithm>

#include "cue/compile/compiler.h"
#include "cue/data/source.h"
#include "cue/std/registry.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

// The compiler asks for a few of many node kinds at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

using NodeKind = ast::Kind;

namespace {

// Parses the files of a package into the program.
std::vector<ast::File*> parse_all(ProgramData& program, const std::vector<SourceText>& files) {
  std::vector<ast::File*> parsed;
  for (const SourceText& source : files) {
    const SourceText& kept = program.texts.emplace_back(source);
    Pos base = program.sources.add(kept.name, kept.text);
    parsed.push_back(parse_source(kept, base, program.arena, program.diagnostics));
  }
  return parsed;
}

// Whether a package may have a field: a package that embeds may have any.
bool may_have(const Instance& package, Label label) {
  return std::ranges::any_of(package.files, [&](const ir::Struct* file) {
    return std::ranges::any_of(file->decls,
                               [&](const ir::Decl& decl) { return decl.kind != ir::DeclKind::Field || decl.label == label; });
  });
}

void check_members(ProgramData& program, const std::vector<MemberUse>& uses) {
  for (const MemberUse& use : uses) {
    const Instance& package = program.instances[use.instance];
    if (may_have(package, use.label)) continue;
    program.diagnostics.push_back(
        {use.pos, fmt::format("package \"{}\" has no {} ({}.{})", package.path, program.labels.describe(use.label), use.package,
                              program.labels.describe(use.label))});
  }
}

}  // namespace

ImportPath::ImportPath(std::string_view text) : path(text) {
  std::string_view last = text.substr(text.rfind('/') == std::string_view::npos ? 0 : text.rfind('/') + 1);
  std::string_view implied = last.substr(0, last.find(':'));
  implied = implied.substr(0, implied.find('@'));
  name = implied;
  if (auto colon = last.rfind(':'); colon != std::string_view::npos) {
    name = last.substr(colon + 1);
    path.resize(text.rfind(':'));
  }
  key = name == implied ? path : path + ":" + name;
}

std::unique_ptr<ProgramData> compile_program(const std::vector<SourceText>& files, const Packages& packages,
                                             const CompileOptions& options) {
  auto program = std::make_unique<ProgramData>();
  program->is_legacy = options.is_legacy;
  std::map<std::string, std::uint32_t> instances;
  program->instances.emplace_back();
  std::vector<std::vector<ast::File*>> parsed = {parse_all(*program, files)};
  std::vector<MemberUse> uses;
  // Compiling a package may add the packages it imports; each is compiled once.
  program->is_well_formed = program->diagnostics.empty();
  for (std::uint32_t i = 0; i < program->instances.size() && program->is_well_formed; ++i) {
    std::size_t before = program->diagnostics.size();
    if (i > 0) parsed.push_back(parse_all(*program, packages.find(program->instances[i].path)->second));
    program->is_well_formed = program->diagnostics.size() == before;
    if (!program->is_well_formed) break;
    Compiler compiler(*program, packages, options, instances);
    compiler.package(i, parsed[i]);
    uses.insert(uses.end(), compiler.member_uses().begin(), compiler.member_uses().end());
  }
  if (options.checks_members && program->is_well_formed) check_members(*program, uses);
  std::stable_sort(program->diagnostics.begin(), program->diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.pos < b.pos; });
  return program;
}

void Compiler::package(std::uint32_t index, const std::vector<ast::File*>& files) {
  for (const ast::File* one : files) {
    if (!one->package.empty()) package_name_ = one->package;
  }
  if (index > 0) package_name_ = program_.instances[index].path;
  program_.instances[index].name = files.empty() ? "" : std::string(files[0]->package);
  Scope scope{nullptr, true, {}};
  for (const ast::File* one : files) declare_fields(scope, one->decls, true);
  for (const std::string& name : options_.open_names) {
    if (index == 0) scope.bindings.push_back({name, Binding::Kind::Field, program_.labels.identifier(name, package_name_)});
  }
  InScope in(*this, scope);
  std::vector<const ir::Struct*> compiled;
  // Files without a clause belong to the package of those they are named beside, if there is one.
  bool is_package = std::any_of(files.begin(), files.end(),
                                [](const ast::File* one) { return !one->package.empty() && one->package != "_"; });
  for (const ast::File* one : files) {
    if (is_package || !options_.are_files_apart || index > 0) {
      compiled.push_back(file(*one, scope));
      continue;
    }
    Scope own{nullptr, true, {}};
    declare_fields(own, one->decls, true);
    InScope in_own(*this, own);
    compiled.push_back(file(*one, own));
  }
  program_.instances[index].files = std::move(compiled);
  if (index == 0) expressions_and_data(scope);
}

void Compiler::expressions_and_data(Scope& scope) {
  Scope packages{nullptr, false, {}};
  for (std::string_view path : standard_package_paths()) {
    Binding binding{path.substr(path.rfind('/') + 1), Binding::Kind::Std, kNoLabel};
    binding.package = path;
    if (!path.empty()) packages.bindings.push_back(binding);
  }
  scope.outer = &packages;
  for (const std::string& one : options_.expressions) {
    const SourceText& kept = program_.texts.emplace_back(SourceText{options_.expression_name, one});
    Pos base = program_.sources.add(kept.name, kept.text);
    const ast::Node* tree = parse_expression(kept.text, base, program_.arena, program_.diagnostics);
    program_.expressions.push_back(tree != nullptr ? expression(*tree) : bottom(Code::Eval, "invalid expression", base));
  }
  scope.outer = nullptr;
  for (const SourceText& one : options_.data) program_.data_values.push_back(data_value(one));
}

// The value of a data file: nothing of the program is in its scope.
const ir::Expr* Compiler::data_value(const SourceText& source) {
  const SourceText& kept = program_.texts.emplace_back(source);
  Pos base = program_.sources.add(kept.name, kept.text);
  const ast::File* file = parse_source(kept, base, program_.arena, program_.diagnostics);
  Scope outside{nullptr, true, {}};
  InScope in(*this, outside);
  bool is_value = file->decls.size() == 1 && file->decls[0]->kind != NodeKind::Field;
  return is_value ? expression(*file->decls[0]) : struct_body(file->decls, base, false);
}

// What @tag and @embed attributes of a field add to its value.
const ir::Expr* Compiler::with_attributes(const ast::Field& node, const ir::Expr* value) {
  std::vector<const ir::Expr*> parts = {value};
  for (const ast::Attribute* attribute : node.attributes) {
    if (attribute->name == "tag" && options_.are_files_apart && inside_ != nullptr) {
      error(attribute->pos, fmt::format("@tag not allowed within {}", inside_));
    } else if (attribute->name == "tag") {
      if (const ir::Expr* injected = tag_value(*attribute)) parts.push_back(injected);
    } else if (attribute->name == "embed" && allows_embed_ && options_.embed) {
      parts.push_back(embedded_value(*attribute));
    }
  }
  if (parts.size() == 1) return value;
  auto* all = make<ir::And>(ir::Op::And, node.pos);
  all->parts = program_.arena.copy(parts);
  return all;
}

const ir::Expr* Compiler::embedded_value(const ast::Attribute& attribute) {
  auto found = options_.embed(program_.sources.locate(attribute.pos).file, attribute.body);
  if (!found) return error(attribute.pos, found.error());
  if (found->size() == 1 && found->front().key.empty()) return data_value(found->front().source);
  auto* result = make<ir::Struct>(ir::Op::Struct, attribute.pos);
  result->has_regular = result->is_definite = true;
  std::vector<ir::Decl> decls;
  for (const EmbeddedSource& one : *found) {
    decls.push_back({ir::DeclKind::Field, ast::Mark::Regular,
                     program_.labels.regular(program_.arena.copy(std::string_view(one.key))), nullptr, data_value(one.source),
                     attribute.pos, nullptr});
  }
  result->decls = program_.arena.copy(decls);
  return result;
}

// Null when nothing was given for it.
const ir::Expr* Compiler::tag_value(const ast::Attribute& attribute) {
  std::vector<AttributeArgument> arguments = attribute_arguments(attribute.body);
  if (arguments.empty()) return nullptr;
  std::string type;
  const std::string* text = nullptr;
  std::string short_form;
  for (const AttributeArgument& one : arguments) {
    if (one.key == "type") type = one.value;
    if (one.key == "var" && options_.has_variables) {
      auto known = options_.variables.find(one.value);
      if (known == options_.variables.end()) return error(Pos{0}, fmt::format("tag variable '{}' not found", one.value));
      text = &known->second;
    }
    if (one.key != "short") continue;
    for (std::size_t at = 0; at <= one.value.size();) {
      std::size_t end = std::min(one.value.find('|', at), one.value.size());
      std::string name = one.value.substr(at, end - at);
      at = end + 1;
      if (!options_.tags.contains(name) || !options_.tags.at(name).empty()) continue;
      program_.used_tags.insert(name);
      short_form = name;
      text = &short_form;
    }
  }
  if (auto given = options_.tags.find(arguments[0].value); given != options_.tags.end()) {
    program_.used_tags.insert(given->first);
    text = &given->second;
  }
  static constexpr std::string_view kTypes[] = {"", "string", "bool", "int", "number"};
  if (std::ranges::count(kTypes, type) == 0) return error(attribute.pos, fmt::format("invalid type \"{}\"", type));
  if (text == nullptr) return nullptr;
  if (type.empty() || type == "string") return constant(Value::string(program_.arena.copy(std::string_view(*text))), Pos{0});
  if (type == "bool") {
    static constexpr std::string_view kYes[] = {"", "1", "t", "T", "TRUE", "true", "True"};
    static constexpr std::string_view kNo[] = {"0", "f", "F", "FALSE", "false", "False"};
    if (std::ranges::count(kYes, *text) > 0) return constant(Value::of(true), Pos{0});
    if (std::ranges::count(kNo, *text) > 0) return constant(Value::of(false), Pos{0});
  }
  bool is_negative = text->starts_with('-');
  std::string_view digits = std::string_view(*text).substr(is_negative ? 1 : 0);
  auto number_literal = parse_number(digits);
  if (!number_literal || type == "bool" || (type == "int" && !number_literal->is_integer))
    return error(attribute.pos, fmt::format("invalid value \"{}\" for {} tag", *text, type));
  return constant(number(program_.arena.copy(digits), attribute.pos, is_negative), Pos{0});
}

const ir::Struct* Compiler::file(const ast::File& node, Scope& package_scope) {
  Scope scope{&package_scope, false, {}};
  allows_embed_ = std::any_of(node.attributes.begin(), node.attributes.end(),
                              [](const ast::Attribute* a) { return a->name == "extern" && a->body == "embed"; });
  declare_imports(scope, node);
  for (const ast::Node* decl : node.decls) {
    if (decl->kind == NodeKind::Let) {
      const auto& let = ast::as<ast::Let>(*decl);
      declare(
          scope,
          {let.name, Binding::Kind::Let, program_.labels.unique_let(let.name), let.expr, nullptr, 0, {}, let.pos, false, true});
    }
    if (decl->kind != NodeKind::Field) continue;
    const auto& field = ast::as<ast::Field>(*decl);
    Label label;
    if (field.alias.empty() || field.label->kind == NodeKind::List) continue;
    if (static_label(*field.label, label)) {
      declare(scope, {field.alias, Binding::Kind::Field, label, nullptr, nullptr, 0, {}, field.pos, false, true});
    } else {
      declare(scope, {field.alias, Binding::Kind::Dynamic, label, field.label, nullptr, 0, {}, field.pos, false, true});
    }
  }
  InScope in(*this, scope);
  const ir::Struct* body = struct_body(node.decls, node.begin, !node.is_data);
  check_used(scope);
  return body;
}

void Compiler::declare_imports(Scope& scope, const ast::File& node) {
  for (const ast::Import& import : node.imports) {
    std::string_view name;
    std::string path = import_path(import, name);
    if (path.empty()) continue;
    Binding binding{name, Binding::Kind::Import, kNoLabel};
    binding.pos = import.pos;
    binding.must_be_used = !options_.allows_unused_imports;
    binding.package = program_.arena.copy(std::string_view(path));
    if (auto known = instances_.find(path); known != instances_.end()) {
      binding.instance = known->second;
    } else if (packages_.contains(path)) {
      binding.instance = static_cast<std::uint32_t>(program_.instances.size());
      instances_[path] = binding.instance;
      program_.instances.push_back({path, std::string(name), {}});
    } else if (is_standard_package(path)) {
      binding.kind = Binding::Kind::Std;
    } else {
      error(ast::as<ast::Node>(*import.path).pos,
            is_package_not_offered(path) ? fmt::format("package \"{}\" is not supported", path)
                                         : fmt::format("package \"{}\" not found{}", path, options_.missing_package_hint));
      binding.must_be_used = false;
      binding.kind = Binding::Kind::Std;
    }
    for (const Binding& other : scope.bindings) {
      if (other.name == name) error(import.pos, fmt::format("{} redeclared as imported package name", name), other.pos);
    }
    scope.bindings.push_back(binding);
  }
}

// The key of the package.
std::string Compiler::import_path(const ast::Import& import, std::string_view& name) {
  auto path = unquote(ast::as<ast::Literal>(*import.path).text);
  if (!path || path->value.empty()) {
    error(import.pos, "invalid import path");
    return {};
  }
  ImportPath parsed(path->value);
  name = import.name.empty() ? program_.arena.copy(std::string_view(parsed.name)) : import.name;
  // A host may offer a package under its path, whatever it is named.
  return packages_.contains(parsed.key) || !packages_.contains(parsed.path) ? parsed.key : parsed.path;
}

bool Compiler::static_label(const ast::Node& node, Label& label) {
  if (node.kind == NodeKind::Ident) {
    if (ast::as<ast::Ident>(node).name == "_") error(node.pos, "cannot use _ as label");
    label = program_.labels.identifier(ast::as<ast::Ident>(node).name, package_name_);
    return true;
  }
  if (node.kind != NodeKind::Literal) return false;
  const auto& literal = ast::as<ast::Literal>(node);
  if (literal.tok != Tok::String) {
    label = program_.labels.regular(literal.text);
    return true;
  }
  auto text = unquote(literal.text, Closing::BehindText);
  if (!text) {
    error(node.pos, text.error().message);
    label = program_.labels.regular("");
    return true;
  }
  label = program_.labels.regular(text->value);
  return true;
}

void Compiler::declare(Scope& scope, Binding binding) {
  if (const Binding* other = scope.find(binding.name); other != nullptr) {
    bool both_fields = other->kind == Binding::Kind::Field && binding.kind == Binding::Kind::Field && !other->must_be_used &&
                       !binding.must_be_used;
    if (both_fields) return;
    bool is_let = other->kind == Binding::Kind::Let || binding.kind == Binding::Kind::Let;
    error(binding.pos,
          is_let ? fmt::format("cannot have both let/alias and field with name \"{}\" in same scope", binding.name)
                 : fmt::format("alias \"{}\" redeclared in same scope", binding.name),
          other->pos);
    return;
  }
  scope.bindings.push_back(binding);
}

// Names a struct's declarations introduce. In a file, lets and aliases belong to the file, fields to the package.
void Compiler::declare_fields(Scope& scope, ast::Nodes decls, bool is_file) {
  for (const ast::Node* decl : decls) {
    if (decl->kind == NodeKind::Let && !is_file) {
      const auto& let = ast::as<ast::Let>(*decl);
      declare(
          scope,
          {let.name, Binding::Kind::Let, program_.labels.unique_let(let.name), let.expr, nullptr, 0, {}, let.pos, false, true});
    }
    if (decl->kind != NodeKind::Field) continue;
    const auto& field = ast::as<ast::Field>(*decl);
    Label label;
    if (field.label->kind == NodeKind::Ident) {
      static_label(*field.label, label);
      declare(scope, {ast::as<ast::Ident>(*field.label).name, Binding::Kind::Field, label, nullptr, nullptr, 0, {}, field.pos});
    }
    std::string_view alias = field.alias.empty() ? field.self_name : field.alias;
    if (alias.empty() || (is_file && !field.alias.empty()) || field.label->kind == NodeKind::List) continue;
    bool is_static = static_label(*field.label, label);
    Binding binding{
        alias, is_static ? Binding::Kind::Field : Binding::Kind::Dynamic, label, nullptr, nullptr, 0, {}, field.pos, false,
        true};
    if (!is_static) binding.source = field.label;
    declare(scope, binding);
  }
}

void Compiler::check_used(const Scope& scope) {
  for (const Binding& binding : scope.bindings) {
    if (binding.is_used || !binding.must_be_used) continue;
    if (binding.kind == Binding::Kind::Import || binding.kind == Binding::Kind::Std) {
      bool is_renamed = binding.package != binding.name && !binding.package.ends_with("/" + std::string(binding.name));
      error(binding.pos, fmt::format("imported and not used: \"{}\"{}", binding.package,
                                     is_renamed ? " as " + std::string(binding.name) : ""));
    } else {
      error(binding.pos, fmt::format("unreferenced alias or let clause {}", binding.name));
    }
  }
}

const ir::Struct* Compiler::struct_literal(const ast::Struct& node, std::vector<Binding> names) {
  Scope scope{scope_, true, {}};
  declare_fields(scope, node.decls, false);
  scope.bindings.insert(scope.bindings.end(), names.begin(), names.end());
  InScope in(*this, scope);
  const ir::Struct* body = struct_body(node.decls, node.pos, false);
  check_used(scope);
  return body;
}

const ir::Struct* Compiler::struct_body(ast::Nodes decls, Pos pos, bool is_file) {
  auto* result = make<ir::Struct>(ir::Op::Struct, pos);
  result->is_file = is_file;
  std::vector<ir::Decl> out;
  std::vector<const ast::Attribute*> attributes;
  for (const ast::Node* decl : decls) {
    declaration(*decl, out, *result);
    if (decl->kind == NodeKind::Attribute) attributes.push_back(&ast::as<ast::Attribute>(*decl));
  }
  result->attributes = program_.arena.copy(attributes);
  // Fields first: what embeddings and guards ask for must be there.
  std::stable_sort(out.begin(), out.end(), [](const ir::Decl& a, const ir::Decl& b) {
    auto rank = [](const ir::Decl& d) {
      return d.kind == ir::DeclKind::Comprehension ? 2 : d.kind == ir::DeclKind::Embed ? 1 : 0;
    };
    return rank(a) < rank(b);
  });
  result->decls = program_.arena.copy(out);
  result->is_definite = result->has_regular || !result->has_embeds || out.empty();
  return result;
}

void Compiler::declaration(const ast::Node& node, std::vector<ir::Decl>& out, ir::Struct& target) {
  switch (node.kind) {
    case NodeKind::Field:
      field(ast::as<ast::Field>(node), out, target);
      return;
    case NodeKind::Let:
      return;
    case NodeKind::Attribute: {
      const auto& attribute = ast::as<ast::Attribute>(node);
      if (attribute.name != "embed" || !allows_embed_ || !options_.embed) return;
      target.has_embeds = true;
      out.push_back({ir::DeclKind::Embed, ast::Mark::Regular, kNoLabel, nullptr, embedded_value(attribute), node.pos, nullptr});
      return;
    }
    case NodeKind::Ellipsis:
      target.has_ellipsis = true;
      return;
    case NodeKind::Comprehension: {
      target.has_embeds = true;
      const ir::Expr* compiled = expression(node);
      auto kind = compiled->op == ir::Op::Comprehension ? ir::DeclKind::Comprehension : ir::DeclKind::Embed;
      out.push_back({kind, ast::Mark::Regular, kNoLabel, nullptr, compiled, node.pos, nullptr});
      return;
    }
    default:
      target.has_embeds = true;
      out.push_back({ir::DeclKind::Embed, ast::Mark::Regular, kNoLabel, nullptr, expression(node), node.pos, nullptr});
      return;
  }
}

const ir::FieldInfo* Compiler::field_info(const ast::Field& node) {
  if (node.doc.empty() && node.attributes.empty()) return nullptr;
  auto* info = program_.arena.make<ir::FieldInfo>();
  info->doc = node.doc;
  info->attributes = std::span<const ast::Attribute* const>(node.attributes.data(), node.attributes.size());
  return info;
}

void Compiler::field(const ast::Field& node, std::vector<ir::Decl>& out, ir::Struct& target) {
  Label label;
  if (node.label->kind == NodeKind::List) {
    pattern(node, out);
    return;
  }
  if (!static_label(*node.label, label)) {
    target.has_regular = true;
    dynamic_field(node, out, target);
    return;
  }
  if (label.is_regular() && node.mark != ast::Mark::Optional) target.has_regular = true;
  std::vector<Binding> names;
  // The name of a struct is that of whatever the struct is inserted into; of other values, of the field it is written in.
  bool is_struct = node.value->kind == NodeKind::Struct;
  if (!node.value_alias.empty()) {
    auto kind = is_struct ? Binding::Kind::Node : Binding::Kind::Field;
    names.push_back({node.value_alias, kind, label, nullptr, nullptr, 0, {}, node.pos, false, true});
  }
  if (!node.key_name.empty())
    names.push_back({node.key_name, Binding::Kind::FieldName, label, nullptr, nullptr, 0, {}, node.pos});
  const ir::Expr* value = nullptr;
  path_.push_back(label);
  const char* outside = inside_;
  if (node.mark == ast::Mark::Optional && inside_ == nullptr) inside_ = "field constraint";
  if (names.empty()) {
    value = expression(*node.value);
  } else if (is_struct) {
    value = struct_literal(ast::as<ast::Struct>(*node.value), std::move(names));
  } else {
    Scope scope{scope_, false, std::move(names)};
    InScope in(*this, scope);
    value = expression(*node.value);
    check_used(scope);
  }
  path_.pop_back();
  if (!node.attributes.empty()) value = with_attributes(node, value);
  inside_ = outside;
  out.push_back({ir::DeclKind::Field, node.mark, label, nullptr, value, node.label->pos, field_info(node)});
}

// The value of a pattern or dynamic field sees its field by name and value.
const ir::Expr* Compiler::value_in_field_scope(const ast::Field& node, std::vector<Binding> names) {
  if (!node.value_alias.empty())
    names.push_back({node.value_alias, Binding::Kind::Node, kNoLabel, nullptr, nullptr, 0, {}, node.pos, false, true});
  if (!node.self_name.empty())
    names.push_back({node.self_name, Binding::Kind::Node, kNoLabel, nullptr, nullptr, 0, {}, node.pos});
  if (!node.key_name.empty())
    names.push_back({node.key_name, Binding::Kind::FieldName, kNoLabel, nullptr, nullptr, 0, {}, node.pos});
  Scope scope{scope_, true, std::move(names)};
  InScope in(*this, scope);
  return expression(*node.value);
}

void Compiler::dynamic_field(const ast::Field& node, std::vector<ir::Decl>& out, ir::Struct&) {
  const ast::Node* name = node.label;
  std::vector<Binding> names;
  if (name->kind == NodeKind::Paren) {
    name = ast::as<ast::Paren>(*name).inner;
    if (name->kind == NodeKind::Alias) {
      const auto& alias = ast::as<ast::Alias>(*name);
      names.push_back({alias.name, Binding::Kind::FieldName, kNoLabel, nullptr, nullptr, 0, {}, node.pos});
      name = alias.expr;
    }
  }
  const ir::Expr* label = expression(*name);
  const ir::Expr* value = value_in_field_scope(node, std::move(names));
  if (!node.attributes.empty()) value = with_attributes(node, value);
  out.push_back({ir::DeclKind::Dynamic, node.mark, kNoLabel, label, value, node.label->pos, field_info(node)});
}

void Compiler::pattern(const ast::Field& node, std::vector<ir::Decl>& out) {
  const ast::Node* item = ast::as<ast::List>(*node.label).items[0];
  std::vector<Binding> names;
  if (item->kind == NodeKind::Alias) {
    const auto& alias = ast::as<ast::Alias>(*item);
    names.push_back({alias.name, Binding::Kind::FieldName, kNoLabel, nullptr, nullptr, 0, {}, node.pos});
    item = alias.expr;
  }
  if (!node.alias.empty())
    names.push_back({node.alias, Binding::Kind::Node, kNoLabel, nullptr, nullptr, 0, {}, node.pos, false, true});
  const ir::Expr* matcher = expression(*item);
  const char* outside = inside_;
  if (inside_ == nullptr) inside_ = "field constraint";
  const ir::Expr* value = value_in_field_scope(node, std::move(names));
  if (!node.attributes.empty()) value = with_attributes(node, value);
  inside_ = outside;
  out.push_back({ir::DeclKind::Pattern, node.mark, kNoLabel, matcher, value, node.label->pos, field_info(node)});
}

const ir::Expr* Compiler::comprehension(const ast::Comprehension& node) {
  auto* result = make<ir::Comprehension>(ir::Op::Comprehension, node.pos);
  if (node.fallback != nullptr) return error(node.pos, "else and otherwise clauses are not supported");
  std::vector<ir::Clause> out;
  const char* outside = inside_;
  if (inside_ == nullptr) inside_ = "comprehension";
  clauses(node, 0, out, *result);
  inside_ = outside;
  result->clauses = program_.arena.copy(out);
  std::vector<Label> labels;
  collect_labels(*result->body, labels, result->any_label);
  std::sort(labels.begin(), labels.end(), [](Label a, Label b) { return a.word < b.word; });
  result->labels = program_.arena.copy(labels);
  return result;
}

// Each for and let clause opens a level for what follows it.
void Compiler::clauses(const ast::Comprehension& node, std::size_t index, std::vector<ir::Clause>& out,
                       ir::Comprehension& result) {
  if (index == node.clauses.size()) {
    result.body = expression(*node.body);
    return;
  }
  const ast::ClauseNode& clause = node.clauses[index];
  ir::Clause compiled{clause.kind, kNoLabel, kNoLabel, nullptr, clause.pos};
  if (clause.kind == ast::Clause::Try) {
    error(clause.pos, "try clauses are not supported");
  }
  if (clause.expr != nullptr) compiled.expr = expression(*clause.expr);
  Scope scope{scope_, clause.kind == ast::Clause::For || clause.kind == ast::Clause::Let, {}};
  if (!clause.key.empty()) {
    compiled.key = program_.labels.unique_let(clause.key);
    scope.bindings.push_back({clause.key, Binding::Kind::Field, compiled.key, nullptr, nullptr, 0, {}, clause.key_pos});
  }
  if (!clause.value.empty()) {
    compiled.value = program_.labels.unique_let(clause.value);
    scope.bindings.push_back({clause.value, Binding::Kind::Field, compiled.value, nullptr, nullptr, 0, {}, clause.value_pos});
  }
  out.push_back(compiled);
  InScope in(*this, scope);
  clauses(node, index + 1, out, result);
}

void Compiler::collect_labels(const ir::Expr& body, std::vector<Label>& out, bool& any) {
  if (body.op == ir::Op::Constant) return;
  if (body.op == ir::Op::Comprehension) {
    const auto& inner = ir::as<ir::Comprehension>(body);
    out.insert(out.end(), inner.labels.begin(), inner.labels.end());
    any = any || inner.any_label;
    return;
  }
  if (body.op != ir::Op::Struct) {
    any = true;
    return;
  }
  for (const ir::Decl& decl : ir::as<ir::Struct>(body).decls) {
    if (decl.kind == ir::DeclKind::Field) {
      out.push_back(decl.label);
    } else if (decl.kind == ir::DeclKind::Embed || decl.kind == ir::DeclKind::Comprehension) {
      collect_labels(*decl.value, out, any);
    } else if (decl.kind == ir::DeclKind::Dynamic) {
      any = true;
    }
  }
}

}  // namespace slipway::cue
