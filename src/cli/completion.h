// Scripts with which a shell completes the commands of the program and the kinds that they take: bash, zsh and fish. Words are
// those known when the script is printed; nothing is asked of a cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plane/families.h"

namespace slipway::cli {

struct CompletionWords {
  std::vector<std::string> commands;
  std::vector<std::string> on_objects;  // those of the commands whose first argument is a kind
  std::vector<std::string> kinds;
};

/// Plurals of the built-in kinds and of the families' own, each once, in order; with the group where several groups have one.
std::vector<std::string> kind_words(plane::Families of = plane::families());

/// The script for "bash", "zsh" or "fish", to be evaluated by that shell. Empty for another.
std::string completion_script(std::string_view shell, const CompletionWords& words);

}  // namespace slipway::cli
