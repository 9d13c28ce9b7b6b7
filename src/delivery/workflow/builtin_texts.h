// The CUE texts of definitions/ as they were when the program was built: what a fresh installation knows without a file or a
// network. The build writes the table (cmake/builtin_texts.cmake).
#pragma once

#include <span>
#include <string_view>

namespace slipway::delivery::workflow {

struct BuiltinText {
  std::string_view path;  // below definitions/: "step/deploy.cue"; folders: component, trait, policy, step, package, view
  std::string_view text;
};

/// All of them, by folder and then by name. Lives as long as the program.
std::span<const BuiltinText> builtin_texts();

}  // namespace slipway::delivery::workflow
