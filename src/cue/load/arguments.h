// The arguments of eval, export and vet: every flag is one row of a table, which help is made from, too.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "cue/load/load.h"

namespace slipway::cue::load {

enum class Verb : std::uint8_t { Eval, Export, Vet };

struct Options {
  Verb verb = Verb::Eval;
  Request request;
  std::vector<std::string> expressions;  // -e
  std::vector<std::string> schema;       // -d, --schema
  std::vector<std::string> path;         // -l
  std::string out;
  std::string outfile;
  bool is_concrete = false;
  bool allows_incomplete = false;  // -c=false
  bool ignores_errors = false;
  bool shows_hidden = false;
  bool shows_optional = false;
  bool shows_all_errors = false;
  bool shows_attributes = false;  // -A
  bool is_list = false;
  bool is_forced = false;
  bool is_simplified = false;  // -s
  bool is_apart = false;       // --merge=false: each data file stands for itself
  bool has_escapes = false;
  bool is_json_errors = false;
  bool is_legacy = false;  // CompileOptions::is_legacy
  bool has_context = false;
  bool has_variables = false;  // -T: @tag(x,var=now) and its like are given their values
  bool names_files = false;    // -n
  std::string chdir;
};

/// What to do, or what is wrong with the arguments, in the words people know.
std::expected<Options, std::string> parse_arguments(const std::vector<std::string>& arguments);

/// How the command is used; of one verb ("eval", "export", "vet") with each of its flags on a line, else of all three.
std::string usage(std::string_view verb);

}  // namespace slipway::cue::load
