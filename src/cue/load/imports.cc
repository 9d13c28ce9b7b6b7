#include "cue/load/imports.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cue/load/paths.h"
#include "cue/std/registry.h"

namespace slipway::cue::load {

using Failure = std::optional<Errors>;

Failure Imports::add(const std::vector<SourceText>& sources, Packages& packages) {
  for (const SourceText& source : sources) {
    if (source.format != SourceFormat::Cue) continue;
    const Head head = module_.head_of(source);
    for (const Head::Import& import : head.imports) {
      if (auto failed = add_one(import, packages)) return failed;
    }
  }
  return {};
}

Failure Imports::add_one(const Head::Import& import, Packages& packages) {
  const ImportPath parsed(import.path);
  const std::string& key = parsed.key;
  const std::string& name = parsed.name;
  std::string bare = parsed.path.substr(0, parsed.path.find('@'));
  bool is_cycle = std::ranges::count(importing_, key, &std::pair<std::string, Position>::first) > 0;
  if (is_cycle) return cycle(import.position);
  if (packages.contains(key) || is_standard_package(key) || is_package_not_offered(key)) return {};
  auto folder = module_.folder_of_import(bare);
  if (!folder) {
    bool is_plain = bare.find('.') == std::string::npos;
    return one_error(
        is_plain ? fmt::format("package {}: cannot find package \"{}\": not in std lib", import.path, import.path)
        : module_.root().empty()
            ? "import failed: imports are unavailable because there is no cue.mod/module.cue file"
            : fmt::format("import failed: cannot find package \"{}\": packages of a registry are not supported", import.path),
        {import.position});
  }
  std::vector<SourceText> files;
  if (auto failed = read(import, bare, files)) return failed;
  if (files.empty()) {
    return one_error(
        fmt::format("import failed: cannot find package \"{}\": no files in package directory with package name \"{}\"",
                    import.path, name),
        {import.position});
  }
  const std::vector<SourceText>& kept = packages[key] = std::move(files);
  importing_.emplace_back(key, import.position);
  if (auto failed = add(kept, packages)) return failed;
  importing_.pop_back();
  return {};
}

// The files of an imported package: those in its folder and, in the own module, those of its name in the folders above.
Failure Imports::read(const Head::Import& import, const std::string& path, std::vector<SourceText>& files) {
  const std::string name = ImportPath(import.path).name;
  std::string folder = *module_.folder_of_import(path);
  std::vector<std::string> folders = module_.vendored_folders(path);
  bool is_vendored = !folders.empty() && folders[0] == folder;
  if (!is_vendored) folders = {folder};
  for (const std::string& at : folders) {
    for (Candidate& one : module_.candidates(at)) {
      for (Error& wrong : one.errors) {
        wrong.message = "import failed: " + wrong.message;
        wrong.positions.insert(wrong.positions.begin(), import.position);
      }
      if (!one.errors.empty()) return std::move(one.errors);
      if (one.package == name) files.push_back(std::move(one.source));
    }
  }
  for (std::string at = folder;
       !is_vendored && at != module_.root() && at != "/" && at != "." && at.starts_with(module_.root());) {
    at = parent(at);
    for (Candidate& one : module_.candidates(at)) {
      if (one.package == name) files.insert(files.begin(), std::move(one.source));
    }
  }
  return {};
}

// An import that comes back to a package that is being read, told with the imports on the way.
Errors Imports::cycle(const Position& last) const {
  std::string message = "import failed: ";
  std::vector<Position> positions = {last};
  for (const auto& [key, position] : importing_) {
    message += "import failed: ";
    positions.push_back(position);
  }
  std::ranges::sort(positions, {}, [](const Position& one) { return std::tuple(one.file, one.line, one.column); });
  auto again =
      std::ranges::unique(positions, {}, [](const Position& one) { return std::tuple(one.file, one.line, one.column); });
  positions.erase(again.begin(), again.end());
  return one_error(message + "package import cycle not allowed", std::move(positions));
}

}  // namespace slipway::cue::load
