// The commands eval, export and vet as functions: arguments, files and standard input in; text and exit code out, as people
// know them from the cue command. What needs a registry, TOML or protobuf is refused with a clear error.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/env.h"

namespace slipway::cue::load {

struct Invocation {
  std::vector<std::string> arguments;  // "eval", "-c", "x.cue"
  std::string cwd = "/";
  std::string input;
  /// What -T gives to @tag(name,var=…): now, os, cwd, username, hostname, rand.
  std::map<std::string, std::string> variables = {};
};
struct Outcome {
  int code = 0;
  std::string output;
  std::string errors;
};

/// Writes files only when the arguments ask for it (--outfile).
Outcome run_command(Files& files, const Invocation& invocation);

}  // namespace slipway::cue::load
