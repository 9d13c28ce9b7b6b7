#include "cue/syntax/parser.h"

#include <gtest/gtest.h>

#include "cue/corpus_test.h"

namespace slipway::cue {
namespace {

Diagnostics problems(std::string_view text) {
  Arena arena;
  Diagnostics diagnostics;
  parse_file("x.cue", text, 1, arena, diagnostics);
  return diagnostics;
}

std::string first_problem(std::string_view text) {
  Diagnostics diagnostics = problems(text);
  if (diagnostics.empty()) return "";
  SourceMap map;
  map.add("x.cue", text);
  return map.describe(diagnostics[0].pos) + ": " + diagnostics[0].message;
}

TEST(Parser, reads_what_the_language_has) {
  EXPECT_EQ(first_problem("package p\nimport \"strings\"\nimport (\n\ty \"encoding/yaml\"\n)\na: b?: [N=string]: {...}\n"), "");
  EXPECT_EQ(first_problem("#D: {a!: int, _h: X=a, \"q\\(a)\"?: [...string] @x(y)}\nlet z = 3\nif true {b: 1}\n"), "");
  EXPECT_EQ(first_problem("a: [for k, v in x if v > 2 let y = v {y}, ...]\nif: 1\nfor?: 2\n"), "");
}

TEST(Parser, says_where_and_what_it_expected) {
  EXPECT_EQ(first_problem("a: 1 b: 2"), "x.cue:1:6: missing ',' in struct literal");
  EXPECT_EQ(first_problem("package p\npackage q"), "x.cue:2:9: expected label or ':', found 'IDENT' q");
  EXPECT_EQ(first_problem("import \"a\" a: 1"), "x.cue:1:12: expected ',', found 'IDENT' a");
  EXPECT_EQ(first_problem("a: \"unterminated"), "x.cue:1:4: string literal not terminated");
  EXPECT_EQ(first_problem("[string]?: int"), "x.cue:1:1: pattern constraint cannot be marked optional");
}

TEST(Parser, refuses_to_recurse_without_end) {
  for (const char* piece : {"{", "[", "(", "a: ", "!", "-", "\"\\(", "a.b(", "if x {"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += piece;
    EXPECT_FALSE(problems(text).empty()) << piece;
  }
  for (const char* piece : {"+1", ".a", "[0]", "()"}) {
    std::string text = "a: 1";
    for (int i = 0; i < 100000; ++i) text += piece;
    EXPECT_FALSE(problems(text).empty()) << piece;
  }
}

// The spelling of a tree in the tables: one line, without comments.
class TreePrinter {
 public:
  std::string print(const ast::File& file) {
    std::string out;
    if (!file.package.empty()) {
      for (const auto* one : file.attributes) join(out, std::string(one->text));
      join(out, "package " + std::string(file.package));
    }
    bool imports_done = false;
    for (const ast::Node* decl : file.decls) {
      if (!file.imports.empty() && decl->pos > file.imports[0].pos) imports(file, out, imports_done);
      join(out, node(*decl));
    }
    imports(file, out, imports_done);
    return out;
  }

 private:
  static void imports(const ast::File& file, std::string& out, bool& done) {
    if (done) return;
    done = true;
    for (const ast::Import& one : file.imports) {
      join(out, "import " + (one.name.empty() ? "" : std::string(one.name) + " ") +
                    std::string(ast::as<ast::Literal>(*one.path).text));
    }
  }
  static void join(std::string& out, const std::string& piece) { out += (out.empty() ? "" : ", ") + piece; }
  std::string all(ast::Nodes nodes) {
    std::string out;
    for (const ast::Node* one : nodes) join(out, one->kind == ast::Kind::Alias ? node(*one) : node(*one));
    return out;
  }
  std::string field(const ast::Field& f) {
    std::string out;
    if (!f.alias.empty()) out += std::string(f.alias) + "=";
    out += node(*f.label);
    if (!f.key_name.empty())
      out += "~(" + std::string(f.key_name) + "," + std::string(f.self_name) + ")";
    else if (!f.self_name.empty())
      out += "~" + std::string(f.self_name);
    out += f.mark == ast::Mark::Optional ? "?" : f.mark == ast::Mark::Required ? "!" : "";
    out += ": ";
    if (!f.value_alias.empty()) out += std::string(f.value_alias) + "=";
    out += node(*f.value);
    for (const auto* one : f.attributes) out += " " + std::string(one->text);
    return out;
  }
  std::string comprehension(const ast::Comprehension& c) {
    std::string out;
    for (const ast::ClauseNode& clause : c.clauses) {
      std::string expr = clause.expr != nullptr ? node(*clause.expr) : "";
      if (clause.kind == ast::Clause::For) {
        out += "for " + (clause.key.empty() ? "" : std::string(clause.key) + ": ") + std::string(clause.value) + " in " + expr +
               " ";
      } else if (clause.kind == ast::Clause::If) {
        out += "if " + expr + " ";
      } else if (clause.kind == ast::Clause::Let) {
        out += "let " + std::string(clause.value) + "=" + expr + " ";
      } else {
        out += clause.expr == nullptr ? "try " : "try " + std::string(clause.value) + " = " + expr + " ";
      }
    }
    out += node(*c.body);
    if (c.fallback != nullptr) out += (c.is_else ? " else " : " otherwise ") + node(*c.fallback);
    return out;
  }
  std::string interpolation(const ast::Interpolation& i) {
    std::string out;
    // The tree keeps the pieces without the ")" that ends an expression.
    for (std::size_t n = 0; n < i.parts.size(); ++n) out += (n > 0 && n % 2 == 0 ? ")" : "") + node(*i.parts[n]);
    return out;
  }
  std::string node(const ast::Node& n) {
    using ast::Kind;
    switch (n.kind) {
      case Kind::Bad:
        return "<*ast.BadExpr>";
      case Kind::Ident:
        return std::string(ast::as<ast::Ident>(n).name);
      case Kind::Literal: {
        // Pieces of interpolations are printed with what surrounds their expressions.
        return std::string(ast::as<ast::Literal>(n).text);
      }
      case Kind::Interpolation:
        return interpolation(ast::as<ast::Interpolation>(n));
      case Kind::Bottom:
        return "_|_";
      case Kind::Struct:
        return "{" + all(ast::as<ast::Struct>(n).decls) + "}";
      case Kind::List:
        return "[" + all(ast::as<ast::List>(n).items) + "]";
      case Kind::Ellipsis: {
        const auto& e = ast::as<ast::Ellipsis>(n);
        return "..." + (e.type != nullptr ? node(*e.type) : "");
      }
      case Kind::Selector:
        return node(*ast::as<ast::Selector>(n).base) + "." + node(*ast::as<ast::Selector>(n).name);
      case Kind::Index:
        return node(*ast::as<ast::Index>(n).base) + "[" + node(*ast::as<ast::Index>(n).index) + "]";
      case Kind::Slice: {
        const auto& s = ast::as<ast::Slice>(n);
        return node(*s.base) + "[" + (s.low != nullptr ? node(*s.low) : "") + ":" + (s.high != nullptr ? node(*s.high) : "") +
               "]";
      }
      case Kind::Call:
        return node(*ast::as<ast::Call>(n).function) + "(" + all(ast::as<ast::Call>(n).args) + ")";
      case Kind::Unary:
        return std::string(name(ast::as<ast::Unary>(n).op)) + node(*ast::as<ast::Unary>(n).operand);
      case Kind::Binary: {
        const auto& b = ast::as<ast::Binary>(n);
        return node(*b.left) + std::string(name(b.op)) + node(*b.right);
      }
      case Kind::Paren:
        return "(" + node(*ast::as<ast::Paren>(n).inner) + ")";
      case Kind::Alias:
        return std::string(ast::as<ast::Alias>(n).name) + "=" + node(*ast::as<ast::Alias>(n).expr);
      case Kind::Comprehension:
        return comprehension(ast::as<ast::Comprehension>(n));
      case Kind::FuncType:
        return "func(" + all(ast::as<ast::FuncType>(n).args) + "): " + node(*ast::as<ast::FuncType>(n).result);
      case Kind::Postfix:
        return node(*ast::as<ast::Postfix>(n).operand) + std::string(name(ast::as<ast::Postfix>(n).op));
      case Kind::Field:
        return field(ast::as<ast::Field>(n));
      case Kind::Let:
        return "let " + std::string(ast::as<ast::Let>(n).name) + "=" + node(*ast::as<ast::Let>(n).expr);
      case Kind::Attribute:
        return std::string(ast::as<ast::Attribute>(n).text);
    }
    return "?";
  }
};

// The tables print where comments hang, as <[d0// text] node>; the tree is compared without them.
bool is_comment_at(const std::string& text, std::size_t at) {
  if (at >= text.size() || text[at] != '[') return false;
  std::size_t end = text.find_first_of("0123456789", at + 1);
  return end != std::string::npos && end <= at + 2 && text.compare(text.find_first_not_of("0123456789", end), 2, "//") == 0;
}

std::string without_comments(const std::string& text) {
  std::string out;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "<[") == 0) {
      ++open;
      ++i;
      while (is_comment_at(text, i)) i = text.find(']', i) + 2;
      --i;
      continue;
    }
    if (text[i] == '>' && open > 0 && text.compare(i, 2, ">=") != 0) {
      --open;
      continue;
    }
    out += text[i];
  }
  for (auto at = out.find("[0//"); at != std::string::npos; at = out.find("[0//")) out.erase(at, out.find(']', at) + 2 - at);
  return out;
}

TEST(Conformance, parser_gives_the_trees_and_errors_of_the_table) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("parse");
  for (const json::Value& row : rows) {
    if (row["area"].as_string() != "parse") continue;
    std::string text =
        row["files"].members().begin() != row["files"].members().end() ? (*row["files"].members().begin()).value.str() : "";
    Arena arena;
    Diagnostics diagnostics;
    ParseOptions options;
    options.wants_list_newlines = row["version"].as_string() == "v0.17.0";
    if (row["version"].as_string().starts_with("v0.")) options.minor_version = std::atoi(row["version"].str().c_str() + 3);
    ast::File* file = parse_file("input.cue", text, 1, arena, diagnostics, options);
    bool expects_ok = row["expect_ok"].as_bool();
    std::string why;
    if (expects_ok != diagnostics.empty()) why = diagnostics.empty() ? "no error" : "error " + diagnostics[0].message;
    std::string error = row["expect_error"].str();
    if (auto more = error.find(" (and "); more != std::string::npos) error.resize(more);
    if (why.empty() && !expects_ok && row["expect_error"].is_string() && diagnostics[0].message != error)
      why = "error " + diagnostics[0].message;
    if (why.empty() && expects_ok && row.has("expect_ast")) {
      std::string got = TreePrinter().print(*file);
      if (got != without_comments(row["expect_ast"].str())) why = "tree " + got;
    }
    suite.record(row["id"].str(), why);
  }
}

}  // namespace
}  // namespace slipway::cue
