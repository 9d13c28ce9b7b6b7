#include "delivery/application/template_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

constexpr std::uint64_t kMaxChartFile = std::uint64_t{8} << 20;
constexpr std::string_view kHeads = "refs/heads/";

std::unexpected<Status> invalid_template(std::string message) { return fail(Reason::Invalid, std::move(message)); }

bool is_below(std::string_view file, std::string_view folder) {
  return folder.empty() || (file.starts_with(folder) && file.size() > folder.size() && file[folder.size()] == '/');
}

Task<Result<std::string>> ref_of(Git& git, TemplateSource source) {
  if (!source.branch.empty()) co_return std::string(kHeads) + source.branch;
  SLIPWAY_CO_TRY(refs, co_await git.list_refs(source.remote, std::string(kHeads)));
  if (refs.head.empty()) co_return fail(Reason::NotFound, "the repository names no branch by its HEAD: set branch");
  co_return refs.head;
}

bool is_kustomization(std::string_view path) {
  const auto name = path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization";
}

/// `entry` seen from `folder`, without "." and ".."; nothing when it leads out of the repository.
std::optional<std::string> resolved(std::string_view folder, std::string_view entry) {
  std::vector<std::string> parts;
  for (const std::string_view text : {folder, entry}) {
    for (const std::string_view segment : split(text, '/')) {
      if (segment.empty() || segment == ".") continue;
      if (segment != "..") {
        parts.emplace_back(segment);
      } else if (parts.empty()) {
        return {};
      } else {
        parts.pop_back();
      }
    }
  }
  return joined(parts, "/");
}

/// All files and all folders that have some.
std::set<std::string, std::less<>> places_of(const std::vector<GitFile>& files) {
  std::set<std::string, std::less<>> places = {""};
  for (const GitFile& file : files) {
    for (std::size_t at = file.path.find('/'); at != std::string::npos; at = file.path.find('/', at + 1)) {
      places.insert(file.path.substr(0, at));
    }
    places.insert(file.path);
  }
  return places;
}

}  // namespace

Result<std::string> source_path(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  while (path.starts_with('/')) path.erase(0, 1);
  if (path.empty()) return path;
  for (const std::string_view segment : split(path, '/')) {
    if (segment.empty() || segment == "." || segment == "..")
      return invalid_template(fmt::format("path {}: no folder of a repository", path));
  }
  return path;
}

Task<Result<SourceFiles>> read_source(Git& git, TemplateSource source, Reach reach) {
  SLIPWAY_CO_TRY(ref, co_await ref_of(git, source));
  SLIPWAY_CO_TRY(commit, co_await git.fetch(source.remote, std::move(ref)));
  GitTreeQuery query;
  if (reach == Reach::folder) {
    query.path = source.path;
    query.large = GitTreeQuery::Large::refuse;
    query.max_file_bytes = kMaxChartFile;
  }
  SLIPWAY_CO_TRY(files, co_await git.read_tree(source.remote, commit, std::move(query)));
  bool is_there = false;
  for (const GitFile& file : files) {
    if (!is_below(file.path, source.path)) continue;
    is_there = true;
    if (file.mode == GitMode::Symlink)
      co_return invalid_template(fmt::format("{} is a symbolic link, which is not followed", file.path));
  }
  if (!is_there) co_return fail(Reason::NotFound, fmt::format("the repository has no folder {}", source.path));
  co_return SourceFiles{.commit = std::move(commit), .files = std::move(files)};
}

std::map<std::string, ProgramFile> program_files(const SourceFiles& source, const std::string& path,
                                                 const std::string& folder) {
  std::map<std::string, ProgramFile> made;
  for (const GitFile& file : source.files) {
    const bool is_file = file.mode == GitMode::Regular || file.mode == GitMode::Executable;
    if (!is_file || !file.content || !is_below(file.path, path)) continue;
    const std::string name = path.empty() ? file.path : file.path.substr(path.size() + 1);
    made[fmt::format("{}/{}", folder, name)] = {*file.content};
  }
  return made;
}

Result<void> check_kustomizations(const std::vector<GitFile>& files) {
  const auto places = places_of(files);
  for (const GitFile& file : files) {
    if (!is_kustomization(file.path) || !file.content) continue;
    const auto parsed = json::parse_yaml(*file.content);
    if (!parsed) return invalid_template(fmt::format("{}: {}", file.path, parsed.error().message));
    const auto slash = file.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : file.path.substr(0, slash);
    for (const char* list : {"resources", "bases", "components", "generators", "transformers", "validators"}) {
      for (const Value& entry : (*parsed)[list].items()) {
        const std::string text = entry.str();
        if (text.find('\n') != std::string::npos) continue;  // an object written out
        const auto place = resolved(folder, text);
        const bool is_inside =
            !text.starts_with('/') && text.find("://") == std::string::npos && place && places.contains(*place);
        if (!is_inside) return invalid_template(fmt::format("{}: {}: {} is not in the repository", file.path, list, text));
      }
    }
  }
  return {};
}

}  // namespace slipway::delivery::application
