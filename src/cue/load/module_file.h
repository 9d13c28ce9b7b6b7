// cue.mod/module.cue: data that names the module and the version of the language it is written for. Follows "cue help
// modules" and the checks of cue v0.14: syntax (data only), language version, fields, module path.
#pragma once

#include <expected>
#include <string>

#include "cue/cue.h"

namespace slipway::cue::load {

struct ModuleFile {
  std::string path;      // of the module, without its major version
  std::string language;  // "v0.14.0"
};

/// `shown_name` is the file as errors point to it, `full_name` as their text names it. The errors are of the first check that
/// fails.
std::expected<ModuleFile, Errors> read_module_file(const std::string& text, const std::string& shown_name,
                                                   const std::string& full_name);

}  // namespace slipway::cue::load
