// A compiled program: the texts, the names, the compiled packages. Immutable once built, so threads share it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cue/arena.h"
#include "cue/compile/ir.h"

namespace re2 {
class RE2;
}

namespace slipway::cue {

struct SourceText {
  std::string name;
  std::string text;
};

/// Import path → files of the package. Which packages there are is the host's business.
using Packages = std::map<std::string, std::vector<SourceText>, std::less<>>;

/// One package of a program. Instance 0 is the main one.
struct Instance {
  std::string path;
  std::string name;
  std::vector<const ir::Struct*> files;
};

struct ProgramData {
  Arena arena;
  Labels labels;
  SourceMap sources;
  std::deque<SourceText> texts;
  std::vector<Instance> instances;
  /// Patterns written as literals, compiled.
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> regexps;
  /// The texts follow the grammar. What is wrong beside that stands as an error where it is used, too.
  bool is_well_formed = true;
  Diagnostics diagnostics;  // why it cannot be evaluated; empty when it can
};

/// Names a program may use without declaring them; they stand for top-level fields that come with the holes.
struct CompileOptions {
  std::vector<std::string> open_names;
  bool allows_unused_imports = false;
};

std::unique_ptr<ProgramData> compile_program(const std::vector<SourceText>& files, const Packages& packages,
                                             const CompileOptions& options);

}  // namespace slipway::cue
