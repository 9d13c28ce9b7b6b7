// The assertions that stand beside the newest form of the sources: what the value at a path equals, whether it is an error, is
// closed, allows a field, or stays the same in whatever order its fields are written. Expectations are compared as trees;
// whether structs are closed is not part of them.
#pragma once

#include <functional>

#include "base/memory_files.h"
#include "cue/load/load.h"
#include "cue/result_tree_test.h"
#include "cue/syntax/parser.h"

namespace slipway::cue::testing {

/// An archive as a program: the files beside each other are one package, those in folders are packages to import.
inline std::unique_ptr<ProgramData> program_of(const std::vector<SourceText>& files) {
  std::vector<SourceText> main;
  for (const SourceText& one : files) {
    if (one.name.find('/') == std::string::npos && one.name.ends_with(".cue")) main.push_back(one);
  }
  MemoryFiles memory;
  load::Request request{.arguments = {}, .package = {}, .tags = {}, .input = {}};
  for (const SourceText& one : files) {
    std::string path = "/" + one.name;
    (void)memory.make_folders(path.substr(0, path.rfind('/')));
    (void)memory.write(path, one.text, 0644);
  }
  for (const SourceText& one : main) request.arguments.push_back(one.name);
  auto loaded = load::load(memory, request);
  if (!loaded || loaded->instances.empty()) return compile_program(main, {}, {});
  return compile_program(main, loaded->instances.front().packages, {});
}

inline Vertex* step_to(Evaluator& evaluator, Vertex* v, std::string label) {
  if (v == nullptr) return nullptr;
  evaluator.complete(v);
  while (!label.empty() && (label.back() == '?' || label.back() == '!')) label.pop_back();
  Vertex* otherwise_quoted = nullptr;
  for (Vertex* field : deref(v)->arcs) {
    std::string shown =
        field->label.is_index() ? std::to_string(field->label.index()) : evaluator.labels().describe(field->label);
    if (shown == label) return field;
    if (shown == "\"" + label + "\"" || label == "\"" + shown + "\"") otherwise_quoted = field;
  }
  return otherwise_quoted;
}

/// `at`: further labels with dots between them.
inline Vertex* find_path(Evaluator& evaluator, Vertex* root, const json::Value& path, const std::string& at = "") {
  Vertex* v = root;
  for (const json::Value& label : path.items())
    v = step_to(evaluator, v, label.is_string() ? label.str() : label.number_text());
  for (std::size_t i = 0; i < at.size();) {
    std::size_t end = std::min(at.find('.', i), at.size());
    v = step_to(evaluator, v, at.substr(i, end - i));
    i = end + 1;
  }
  return v;
}

/// A struct that fails only because a field of it does, or that waits for what decides its other fields, as a struct.
inline json::Value structural(const json::Value& tree) {
  json::Value out = tree.without("child");
  bool waits = tree.has("f") && (tree["code"].as_string() == "incomplete" || tree["code"].as_string() == "cycle");
  if (waits) out = out.with("k", "struct").with("fails", json::Value(true));
  if (tree.has("child")) out = out.with("k", tree["child"]).with("fails", json::Value(true));
  json::ArrayBuilder fields;
  for (const json::Value& field : tree["f"].items())
    fields.add(json::array({field.item(0), field.item(1), structural(field.item(2))}));
  return fields.empty() ? out : out.with("f", fields.build());
}

class Assertions {
 public:
  Assertions(Evaluator& evaluator, Vertex* root, const std::vector<SourceText>& files)
      : evaluator_(evaluator), root_(root), files_(files) {}

  /// Why it does not hold; empty when it does.
  std::string judge(const json::Value& one) {
    std::string at = one["opt"]["at"].item(0).str();
    std::string want = one["want"].str();
    if (want.starts_with("at=")) {
      at = want.substr(3);
      want = one["opt"]["flags"].item(0).str();
    }
    // What follows a word to the reader is what counts.
    if (want.starts_with("hint=")) want = one["opt"]["flags"].item(0).str();
    Vertex* v = find_path(evaluator_, root_, one["path"], at);
    if (v == nullptr) return "no such path";
    json::Value got = tree_of(evaluator_, v, 0);
    std::string_view op = one["op"].as_string();
    bool wants_false = one["val"].as_string() == "false";
    if (op == "err") {
      // The error is that of a field below.
      if (const json::Value& below = one["opt"]["path"].item(0); below.is_string() && at.empty()) {
        if (Vertex* field = find_path(evaluator_, root_, one["path"], below.str()); field != nullptr)
          got = tree_of(evaluator_, field, 0);
      }
      if (got["k"].as_string() != "_|_") return "no error";
      const json::Value& code = one["opt"]["code"].item(0);
      return code.is_null() || is_one_of(got["code"].str(), code.str()) ? "" : "code " + got["code"].str();
    }
    if (op == "closed") return (got["closed"].as_bool() || deref(v)->is_closed) != wants_false ? "" : "closed differs";
    if (op == "kind") return got["k"].as_string() == one["val"].as_string() ? "" : "kind " + got["k"].str();
    if (op == "allows") return allows(v, one["opt"]["flags"].item(0).str()) != wants_false ? "" : "allows differs";
    if (op == "permute") return permute(one, got);
    return equals(want, got);
  }

 private:
  // "cycle|incomplete"; words are joined by an underscore there.
  static bool is_one_of(std::string code, const std::string& wanted) {
    std::replace(code.begin(), code.end(), ' ', '_');
    std::string spaced = wanted.starts_with('(') ? wanted.substr(1, wanted.size() - 2) : wanted;
    std::replace(spaced.begin(), spaced.end(), ' ', '_');
    return ("|" + spaced + "|").find("|" + code + "|") != std::string::npos;
  }

  std::string equals(const std::string& want, const json::Value& got) {
    CompileOptions options;
    options.expressions = {want};
    auto program = compile_program({{"want.cue", ""}}, {}, options);
    if (!program->is_well_formed || program->expressions.empty()) return "expectation: not well-formed";
    for (const Diagnostic& one : program->diagnostics) {
      if (!one.message.starts_with("unreferenced")) return "expectation: " + one.message;
    }
    Evaluator expected(*program, {.max_steps = 150'000});
    expected.run({});
    json::Value tree = open_tree(structural(tree_of(expected, expected.complete_expression(program->expressions.front()), 0)));
    Comparison comparison{tree};
    comparison.compare(tree, open_tree(structural(got)), "", 0);
    return comparison.first;
  }

  // An unquoted "string" asks for a field of any name.
  bool allows(Vertex* v, std::string label) {
    if (label == "string") return evaluator_.allows_field(v, kNoLabel);
    if (label.starts_with('"')) label = label.substr(1, label.size() - 2);
    return evaluator_.allows_field(v, evaluator_.labels().regular(label));
  }

  // Every order of the fields of the struct in which the assertion stands.
  std::string permute(const json::Value& one, const json::Value& got) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].name != one["file"].as_string()) continue;
      const std::string& text = files_[i].text;
      std::vector<std::pair<std::size_t, std::size_t>> fields = fields_around(text, one["line"].as_int());
      if (fields.empty()) return "no fields to permute";
      std::vector<std::size_t> order(fields.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      while (std::next_permutation(order.begin(), order.end())) {
        std::string changed = text.substr(0, fields[0].first);
        for (std::size_t k = 0; k < order.size(); ++k) {
          auto [begin, end] = fields[order[k]];
          changed += text.substr(begin, end - begin);
          std::size_t next = k + 1 < order.size() ? fields[k + 1].first : text.size();
          changed += text.substr(fields[k].second, next - fields[k].second);
        }
        std::vector<SourceText> files = files_;
        files[i].text = changed;
        if (std::string why = differs(files, one["path"], got); !why.empty()) return why;
      }
      return "";
    }
    return "no such file";
  }

  static std::string differs(const std::vector<SourceText>& files, const json::Value& path, const json::Value& got) {
    auto program = program_of(files);
    if (!program->is_well_formed) return "permuted: not well-formed";
    Evaluator evaluator(*program, {.max_steps = 150'000});
    Vertex* v = find_path(evaluator, evaluator.run({}), path);
    if (v == nullptr) return "permuted: no such path";
    Comparison comparison{got};
    comparison.compare(got, tree_of(evaluator, v, 0), "", 0);
    return comparison.first.empty() ? "" : "permuted: " + comparison.first;
  }

  // Begin and end of the fields beside the attribute on that line.
  static std::vector<std::pair<std::size_t, std::size_t>> fields_around(const std::string& text, std::int64_t line) {
    Arena arena;
    Diagnostics diagnostics;
    SourceMap sources;
    SourceText source{"in.cue", text};
    Pos base = sources.add(source.name, source.text);
    ast::File* file = parse_file(source.name, source.text, base, arena, diagnostics);
    std::vector<std::pair<std::size_t, std::size_t>> out;
    std::function<bool(ast::Nodes)> walk = [&](ast::Nodes decls) {
      for (const ast::Node* decl : decls) {
        if (decl->kind == ast::Kind::Attribute && sources.locate(decl->pos).line == line) {
          for (const ast::Node* field : decls) {
            if (field->kind == ast::Kind::Field) out.emplace_back(field->pos - base, field->end - base);
          }
          return true;
        }
        if (decl->kind != ast::Kind::Field) continue;
        const ast::Node* value = ast::as<ast::Field>(*decl).value;
        if (value != nullptr && value->kind == ast::Kind::Struct && walk(ast::as<ast::Struct>(*value).decls)) return true;
      }
      return false;
    };
    walk(file->decls);
    return out;
  }

  Evaluator& evaluator_;
  Vertex* root_;
  const std::vector<SourceText>& files_;
};

}  // namespace slipway::cue::testing
