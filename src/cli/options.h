// The commands of the program as rows, and what each takes on the command line. Rows of families (delivery/family.h) become
// commands beside those of the program itself; a verb of two words is a command of a command.
#pragma once

#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace slipway::cli {

/// One command: how it is called, what it needs, what it does.
struct Command {
  const char* name;
  const char* help;
  /// Files: of a data folder or a temporary one. Target: an object of a data folder. Place: an object of a data folder or of a
  /// cluster elsewhere. Nothing: a data folder. Remote: a cluster elsewhere. Family: as delivery::Command says.
  enum class Needs : std::uint8_t { Files, Target, Nothing, Remote, Place, Family } needs;
  enum class Access : std::uint8_t { Read, Write } access;
  Task<int> (*run)(Session&, Arguments);
  const delivery::Command* family = nullptr;
  const delivery::Action* action = nullptr;
};

/// What the command line asks a command for; filled in when it is parsed.
void add_options(CLI::App& app, const Command& command, Arguments& arguments);
/// The place of a command below `app`.
CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& help);

}  // namespace slipway::cli
