// From trees to the compiled form. One Compiler compiles one package; names are resolved here, once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cue/compile/program.h"

namespace slipway::cue {

/// What a name stands for.
struct Binding {
  enum class Kind : std::uint8_t { Field, Let, Node, FieldName, Dynamic, Import, Std };
  std::string_view name;
  Kind kind;
  Label label = kNoLabel;
  const ast::Node* source = nullptr;  // expression of Let and Dynamic
  const ir::Expr* compiled = nullptr;
  std::uint32_t instance = 0;
  std::string_view package = {};  // of Std
  Pos pos = 0;
  bool is_used = false;
  bool must_be_used = false;
  bool is_compiling = false;
};

/// What one level introduces; bindings are only added.
struct Scope {
  Scope* outer;
  bool opens_level;
  std::vector<Binding> bindings;
  std::unordered_map<std::string_view, std::size_t> positions = {};  // of the first of each name, once there are many
  std::size_t indexed = 0;                                           // so many of them

  /// The first of that name; null when there is none.
  Binding* find(std::string_view name);
};

/// A field selected from an imported package of the host.
struct MemberUse {
  std::uint32_t instance;
  Label label;
  std::string_view package;  // the name it has in the file
  Pos pos;                   // of the field's name
};

class Compiler {
 public:
  Compiler(ProgramData& program, const Packages& packages, const CompileOptions& options,
           std::map<std::string, std::uint32_t>& instances)
      : program_(program), packages_(packages), options_(options), instances_(instances) {}

  /// Compiles the files of one package into program.instances[index].
  void package(std::uint32_t index, const std::vector<ast::File*>& files);
  /// Of the package that was compiled, without those whose presence is asked for only.
  const std::vector<MemberUse>& member_uses() const { return member_uses_; }

 private:
  friend class InScope;

  // structs (compile.cc)
  void declare_fields(Scope& scope, ast::Nodes decls, bool is_file);
  void declare(Scope& scope, Binding binding);
  void declare_imports(Scope& scope, const ast::File& file);
  std::string import_path(const ast::Import& import, std::string_view& name);
  const ir::Struct* file(const ast::File& file, Scope& package_scope);
  void check_used(const Scope& scope);
  /// `names`: further ones for the struct itself.
  const ir::Struct* struct_literal(const ast::Struct& node, std::vector<Binding> names = {});
  const ir::Struct* struct_body(ast::Nodes decls, Pos pos, bool is_file);
  void declaration(const ast::Node& node, std::vector<ir::Decl>& out, ir::Struct& target);
  void field(const ast::Field& node, std::vector<ir::Decl>& out, ir::Struct& target);
  void dynamic_field(const ast::Field& node, std::vector<ir::Decl>& out, ir::Struct& target);
  void pattern(const ast::Field& node, std::vector<ir::Decl>& out);
  const ir::Expr* value_in_field_scope(const ast::Field& node, std::vector<Binding> names);
  const ir::FieldInfo* field_info(const ast::Field& node);
  const ir::Expr* comprehension(const ast::Comprehension& node);
  void clauses(const ast::Comprehension& node, std::size_t index, std::vector<ir::Clause>& out, ir::Comprehension& result);
  void collect_labels(const ir::Expr& body, std::vector<Label>& out, bool& any);
  bool static_label(const ast::Node& node, Label& label);
  void expressions_and_data(Scope& scope);
  const ir::Expr* data_value(const SourceText& source);
  const ir::Expr* with_attributes(const ast::Field& node, const ir::Expr* value);
  const ir::Expr* embedded_value(const ast::Attribute& attribute);
  const ir::Expr* tag_value(const ast::Attribute& attribute);

  // expressions (compile_expression.cc)
  const ir::Expr* expression(const ast::Node& node);
  const ir::Expr* expression_inner(const ast::Node& node);
  const ir::Expr* identifier(const ast::Ident& node);
  const ir::Expr* reference(Binding& binding, const Scope& scope, std::uint16_t up, Pos pos);
  const ir::Expr* predeclared(std::string_view name, Pos pos);
  const ir::Expr* literal(const ast::Literal& node);
  const ir::Expr* interpolation(const ast::Interpolation& node);
  const ir::Expr* list(const ast::List& node);
  const ir::Expr* standard_member(Binding& binding, const ast::Selector& node, Label label);
  Binding* find(std::string_view name);
  const ir::Expr* selector(const ast::Selector& node);
  const ir::Expr* call(const ast::Call& node);
  const ir::Expr* unary(const ast::Unary& node);
  /// Reports an operand that can never be concrete.
  bool may_be_concrete(const ast::Node& node, const ir::Expr& operand, Tok op);
  const ir::Expr* binary(const ast::Binary& node);
  void note_pattern(const ir::Expr& operand);
  const ir::Expr* conjunction(const ast::Binary& node);
  const ir::Expr* disjunction(const ast::Binary& node);
  const ir::Expr* constant(Value value, Pos pos);
  const ir::Expr* range_type(KindMask kinds, std::string_view low, std::string_view high, Pos pos);
  const ir::Expr* bottom(Code code, const char* message, Pos pos);
  Value number(std::string_view literal, Pos pos, bool negate);
  const ir::Expr* error(Pos pos, std::string message, Pos other = 0);

  template <class T>
  T* make(ir::Op op, Pos pos) {
    T* node = program_.arena.make<T>();
    node->op = op;
    node->pos = pos;
    return node;
  }

  ProgramData& program_;
  const Packages& packages_;
  const CompileOptions& options_;
  std::map<std::string, std::uint32_t>& instances_;
  std::string package_name_;      // hidden names belong to it
  std::vector<Label> path_;       // of the field being compiled
  const char* inside_ = nullptr;  // of what @tag attributes may not stand in
  std::vector<MemberUse> member_uses_;
  Scope* scope_ = nullptr;
  int depth_ = 0;
  bool allows_embed_ = false;  // of the file being compiled
};

/// Enters a scope for as long as it lives.
class InScope {
 public:
  InScope(Compiler& compiler, Scope& scope) : compiler_(compiler), before_(compiler.scope_) { compiler.scope_ = &scope; }
  ~InScope() { compiler_.scope_ = before_; }

 private:
  Compiler& compiler_;
  Scope* before_;
};

}  // namespace slipway::cue
