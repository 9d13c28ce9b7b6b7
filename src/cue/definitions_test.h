// What the tests of definitions share: the definitions of this repository and those of the corpus, compiled once each, and
// coarse classes of errors to compare by.
#pragma once

#include <set>
#include <sstream>

#include "cue/corpus_test.h"
#include "cue/cue.h"
#include "cue/section.h"

namespace slipway::cue::testing {

inline std::string file_text(const std::string& path) {
  std::ifstream in = open_beside_sources(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A definition file: of SLIPWAY_DEFINITIONS where that folder has it, to try definitions of others, else of this repository.
inline std::string definition_text(const std::string& name) {
  if (const char* folder = std::getenv("SLIPWAY_DEFINITIONS")) {
    std::string text = file_text(std::string(folder) + "/" + name + ".cue");
    if (!text.empty()) return text;
  }
  return file_text("definitions/" + name + ".cue");
}

/// Templates by "component/webservice" and "trait/scaler".
class Definitions {
 public:
  /// Null, and a failed test, when it does not compile.
  const Program* find(const std::string& name) {
    auto known = programs_.find(name);
    if (known != programs_.end()) return &known->second;
    return add(name, section(definition_text(name), "template"));
  }
  const Program* add(const std::string& name, const std::string& text) {
    if (text.empty()) {
      ADD_FAILURE() << "no template: " << name;
      return nullptr;
    }
    auto program = compile({{name + ".cue", text}}, {}, {.open_names = {"context", "parameter"}});
    if (!program) {
      ADD_FAILURE() << name << " does not compile:\n" << describe(program.error());
      return nullptr;
    }
    return &programs_.emplace(name, *program).first->second;
  }

 private:
  std::map<std::string, Program> programs_;
};

/// The classes of the corpus that the messages fall into.
inline std::set<std::string> error_kinds(const Errors& errors) {
  std::set<std::string> kinds;
  for (const Error& one : errors) {
    auto has = [&](const char* text) { return one.message.find(text) != std::string::npos; };
    if (has("empty disjunction")) kinds.insert("disjunction");
    if (has("conflicting values")) kinds.insert("conflict");
    if (has("out of bound")) kinds.insert("bound");
    if (has("undefined field")) kinds.insert("undefined_field");
    if (has("incomplete value") || has("unresolved disjunction")) kinds.insert("incomplete");
  }
  return kinds;
}

/// Empty when the classes are those expected, or share one: an error inside a disjunction counts as either.
inline std::string compare_kinds(const json::Value& expected, const Errors& errors) {
  std::set<std::string> found = error_kinds(errors);
  if (expected.items().empty()) return "";
  for (const json::Value& one : expected.items()) {
    if (found.contains(one.str())) return "";
  }
  return "another class of error: " + describe(errors);
}

}  // namespace slipway::cue::testing
