// A compiled program: the texts, the names, the compiled packages. Immutable once built, so threads share it.
#pragma once

#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cue/arena.h"
#include "cue/compile/ir.h"

namespace re2 {
class RE2;
}

namespace slipway::cue {

/// Data files are sources too: their values are what the file would be as a file of the language, with places of their own.
enum class SourceFormat : std::uint8_t { Cue, Json, Yaml, Text, Binary };

struct SourceText {
  std::string name;
  std::string text;
  SourceFormat format = SourceFormat::Cue;
  std::size_t document = 0;             // which one of a YAML file
  bool has_names = false;               // fields of data may be referred to by name
  std::vector<std::string> below = {};  // labels the data is put under, as written: x or "x"
};

/// What stands for a field with an @embed attribute. A key makes it one of several, in a struct.
struct EmbeddedSource {
  std::string key;
  SourceText source;
};

/// Import path → files of the package. Which packages there are is the host's business. The key has ":name" at its end when the
/// package is not named as the last element of its path.
using Packages = std::map<std::string, std::vector<SourceText>, std::less<>>;

/// An import path taken apart: "x.y/a@v1:b" is package b, with the key "x.y/a@v1:b"; "x.y/a:a" is package a, with the key
/// "x.y/a".
struct ImportPath {
  explicit ImportPath(std::string_view text);
  std::string path;  // without ":name"
  std::string name;
  std::string key;
};

/// One package of a program. Instance 0 is the main one.
struct Instance {
  std::string path;
  std::string name;
  std::vector<const ir::Struct*> files;
};

struct ProgramData {
  Arena arena;
  mutable ChunkPool chunks;  // for the arenas of evaluations
  Labels labels;
  SourceMap sources;
  std::deque<SourceText> texts;
  std::vector<Instance> instances;
  /// Patterns written as literals, compiled.
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> regexps;
  /// The texts follow the grammar. What is wrong beside that stands as an error where it is used, too.
  bool is_well_formed = true;
  bool is_legacy = false;  // CompileOptions
  std::uint32_t size = 0;  // how many expressions were compiled
  std::vector<const ir::Expr*> expressions;
  std::vector<const ir::Expr*> data_values;
  std::set<std::string> used_tags;
  Diagnostics diagnostics;  // why it cannot be evaluated; empty when it can
};

/// Names a program may use without declaring them; they stand for top-level fields that come with the holes.
struct CompileOptions {
  std::vector<std::string> open_names = {};
  bool allows_unused_imports = false;
  /// Files of which none has a package clause see their own fields alone.
  bool are_files_apart = false;
  /// For templates written for v0.5 to v0.9: lists may be added and multiplied. (A field named `error` may be referred to in
  /// any version here: names of fields come before predeclared ones.)
  bool is_legacy = false;
  /// Expressions in the scope of the main package; standard packages need no import there. Program::data().expressions.
  std::vector<std::string> expressions = {};
  std::string expression_name = "--expression";  // as positions name them
  /// What a package of the host does not declare may not be selected from it; `package.#X != _|_` may still ask for it.
  bool checks_members = false;
  /// Said behind `package "x" not found`: what there is instead.
  std::string_view missing_package_hint = {};
  /// Data that is no part of the package: Program::data().data_values.
  std::vector<SourceText> data = {};
  /// What @tag(name) attributes are given: "name" → value, or a short form, or a switch, with an empty value.
  std::map<std::string, std::string> tags = {};
  /// What @tag(name,var=…) attributes are given where nothing else is: "now", "cwd" and so on.
  bool has_variables = false;
  std::map<std::string, std::string> variables = {};
  /// Finds what "@embed(body)" in a file asks for; the error is the text of a diagnostic.
  std::function<std::expected<std::vector<EmbeddedSource>, std::string>(std::string_view file, std::string_view body)> embed =
      {};
};

std::unique_ptr<ProgramData> compile_program(const std::vector<SourceText>& files, const Packages& packages,
                                             const CompileOptions& options);

}  // namespace slipway::cue
