// The module around a folder: where its root is, what its cue.mod/module.cue says, which folder an import path names, and
// which files of a folder may belong to a package. Nothing is evaluated but module.cue. Follows "cue help modules" and "cue
// help injection" (@if).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "cue/cue.h"

namespace slipway::cue::load {

/// What the head of a file says.
struct Head {
  std::string package;
  bool is_ignored = false;  // @ignore(), or an @if that does not hold
  std::string condition;    // that @if
  struct Import {
    std::string path;
    Position position;
  };
  std::vector<Import> imports;
  Errors errors;
};

/// A file of a folder that may belong to a package.
struct Candidate {
  SourceText source;
  std::string package;
  Errors errors;
};

Errors one_error(std::string message, std::vector<Position> positions = {});
/// Text holds no NUL; what does would only be a list of characters that are not allowed.
bool is_binary(std::string_view text);
Errors binary(const std::string& name);

/// The folder, at or above this one, that holds cue.mod; empty when there is none.
std::string module_root(Files& files, const std::string& folder);

class Module {
 public:
  /// Looks for the root from `cwd` upwards. `tags` are what @if asks for.
  Module(Files& files, std::string cwd, const std::vector<std::string>& tags);

  Head head_of(const SourceText& source) const;
  std::vector<Candidate> candidates(const std::string& folder);

  std::optional<std::string> folder_of_import(const std::string& path) const;
  /// A vendored package is what lies in all of these together.
  std::vector<std::string> vendored_folders(const std::string& path) const;
  /// A folder below the module's that is, or lies in, a module of its own.
  bool is_in_nested_module(const std::string& folder) const;

  /// What is wrong with its module.cue.
  const Errors& errors() const { return errors_; }
  /// Empty: there is no module.
  const std::string& root() const { return root_; }
  /// Files of the folder that a condition leaves out, with that condition; known once candidates() has been asked.
  const std::map<std::string, std::string>& excluded(const std::string& folder) { return excluded_[folder]; }

 private:
  void find_root();
  void read_file(const std::string& text, const std::string& name);

  Files& files_;
  std::string cwd_;
  std::string root_;
  std::string path_;  // of the module, without version
  Errors errors_;
  std::set<std::string> tags_;
  std::map<std::string, std::map<std::string, std::string>> excluded_;
};

}  // namespace slipway::cue::load
