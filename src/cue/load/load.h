// From arguments of a command line to what is to be evaluated: files of the language and of data, packages of a module
// (cue.mod/module.cue) by folder, "./..." and import path, vendored ones below cue.mod/pkg, gen and usr. Packages of a registry
// are out: an import that would need one is an error. Follows "cue help inputs" and "cue help packages".
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "cue/compile/program.h"
#include "cue/cue.h"

namespace slipway::cue::load {

struct Request {
  std::vector<std::string> arguments;  // none: the package of the folder
  std::string cwd = "/";
  std::string package;            // -p: for folders with several
  bool is_forced = false;         // whatever package the files say they are of
  std::vector<std::string> tags;  // names that @if(name) asks for
  std::string input;              // standard input, for "-"
};

/// What one evaluation takes.
struct Instance {
  std::string name;  // of the package; may be empty
  std::vector<SourceText> files;
  Packages packages;
};

struct Loaded {
  std::vector<Instance> instances;
  /// Data files given beside packages or files of the language; every document of a YAML file stands for itself.
  std::vector<SourceText> data;
  /// Files of YAML without a document, where there is something beside them.
  std::vector<SourceText> empty;
  bool has_data_files = false;  // though perhaps none of them holds a value

  /// More than one document of one file: each is a value of its own.
  bool data_is_stream() const {
    for (std::size_t i = 1; i < data.size(); ++i) {
      if (data[i].name == data[i - 1].name) return true;
    }
    return false;
  }
};

std::expected<Loaded, Errors> load(Files& files, const Request& request);

/// For @embed of a file at `file` (a shown name). The error is the text of a diagnostic.
std::expected<std::vector<EmbeddedSource>, std::string> embed(Files& files, const Request& request, std::string_view file,
                                                              std::string_view body);

}  // namespace slipway::cue::load
