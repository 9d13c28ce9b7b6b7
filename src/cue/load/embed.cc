#include <fmt/format.h>

#include <algorithm>

#include "cue/data/source.h"
#include "cue/load/file_kind.h"
#include "cue/load/load.h"
#include "cue/load/module.h"
#include "cue/load/paths.h"

namespace slipway::cue::load {
namespace {

void glob(Files& files, const std::string& folder, const std::string& below, std::string_view pattern, int depth,
          std::vector<std::string>& out) {
  auto names = depth > 30 ? Result<std::vector<std::string>>(std::vector<std::string>{}) : files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    std::string path = below.empty() ? name : below + "/" + name;
    if (name[0] == '.') continue;
    if (files.list(joined(folder, name)))
      glob(files, joined(folder, name), path, pattern, depth + 1, out);
    else if (matches_glob(pattern, path))
      out.push_back(path);
  }
}

// Files are embedded by those of a module, which is where they are looked for. A folder without one is left alone: that "cue
// mod init" was not run yet is no reason to refuse its package.
std::string outside_of_module(Files& files, const Request& request, const std::string& folder) {
  const std::string root = module_root(files, normal(request.cwd));
  bool names_files = std::ranges::any_of(
      request.arguments, [](const std::string& one) { return one == "-" || kind_of_extension(one) == FileKind::Cue; });
  if (root.empty()) return names_files ? "cannot embed files when not in a module" : "";
  bool is_inside = folder == root || root == "/" || folder.starts_with(root + "/");
  return is_inside ? "" : "cannot embed files from a file outside of the current module";
}

}  // namespace

std::expected<std::vector<EmbeddedSource>, std::string> embed(Files& files, const Request& request, std::string_view file,
                                                              std::string_view body) {
  const std::string cwd = normal(request.cwd);
  std::string folder = parent(joined(cwd, file));
  if (std::string refusal = outside_of_module(files, request, folder); !refusal.empty()) return std::unexpected(refusal);
  std::string path;
  std::string pattern;
  std::string type;
  bool allows_none = false;
  for (const AttributeArgument& one : attribute_arguments(body)) {
    if (one.key == "file")
      path = one.value;
    else if (one.key == "glob")
      pattern = one.value;
    else if (one.key == "type")
      type = one.value;
    else if (one.value == "allowEmptyGlob" || one.key == "allowEmptyGlob")
      allows_none = true;
    else
      return std::unexpected(fmt::format("@embed: unknown argument {}", one.key.empty() ? one.value : one.key));
  }
  if (path.empty() == pattern.empty()) return std::unexpected("@embed: attribute must have file or glob field");
  for (const std::string* one : {&path, &pattern}) {
    if (one->starts_with('/') || one->starts_with("../") || one->find("/../") != std::string::npos || *one == "..")
      return std::unexpected(fmt::format("@embed: cannot refer to parent directory: {}", *one));
  }
  std::vector<std::string> paths = {path};
  if (!pattern.empty()) {
    paths.clear();
    glob(files, folder, "", pattern, 0, paths);
    if (paths.empty() && !allows_none)
      return std::unexpected(fmt::format("@embed: no matches for glob pattern \"{}\"", pattern));
  }
  std::vector<EmbeddedSource> out;
  for (const std::string& one : paths) {
    std::string full = joined(folder, one);
    auto text = files.read(full);
    if (!text) return std::unexpected(fmt::format("@embed: open {}: no such file or directory", one));
    FileKind kind = type.empty() ? kind_of_extension(one) : type == "binary" ? FileKind::Text : kind_of_scope(type);
    if (kind == FileKind::None || kind == FileKind::Unsupported || kind == FileKind::Cue)
      return std::unexpected(fmt::format("@embed: encoding of {} is not supported", one));
    SourceText source{shown(full, cwd), *text};
    source.format = type == "binary" ? SourceFormat::Binary : format_of(kind);
    out.push_back({pattern.empty() ? "" : one, std::move(source)});
  }
  return out;
}

}  // namespace slipway::cue::load
