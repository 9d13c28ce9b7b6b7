#include "krm/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "json/text.h"

namespace slipway::krm {
namespace {

constexpr std::string_view kIgnoreFile = ".krmignore";
constexpr std::string_view kJsonEnding = ".json";

/// Members by name, and fractions without the zeros that were written.
json::Value as_go_has_it(const json::Value& value) {
  const bool is_fraction = value.is_number() && value.number_text().find_first_of(".eE") != std::string::npos;
  if (is_fraction) return json::Value(value.as_double());
  if (value.is_array()) {
    json::ArrayBuilder made;
    for (const json::Value& one : value.items()) made.add(as_go_has_it(one));
    return made.build();
  }
  if (!value.is_object()) return value;
  std::map<std::string, json::Value> members;
  for (const auto& [key, one] : value.members()) members.emplace(key, as_go_has_it(one));
  json::ObjectBuilder made;
  for (const auto& [key, one] : members) made.add(key, one);
  return made.build();
}

/// As Go's encoder writes it, which is kyaml's.
std::string json_text(const json::Value& value) {
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}};
  std::string text = json::print_pretty(as_go_has_it(value), 2);
  for (const auto& [plain, escaped] : kEscapes) {
    for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos; at += escaped.size()) {
      text.replace(at, plain.size(), escaped);
    }
  }
  return text.ends_with('\n') ? text : text + "\n";
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view parent_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Ignore ignore_of(const Files& files) {
  const auto found = files.find(std::string(kIgnoreFile));
  return found == files.end() ? Ignore() : Ignore(found->second);
}

// An empty mapping of annotations goes, as kyaml's writer has it.
void drop_empty_annotations(Node& root) {
  Node* metadata = root.find("metadata");
  if (metadata == nullptr) return;
  const Node* annotations = metadata->find("annotations");
  if (annotations != nullptr && annotations->is_mapping() && annotations->children.empty()) metadata->erase("annotations");
}

bool leaves_package(std::string_view path) {
  if (path.starts_with('/')) return true;
  int depth = 0;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "..") --depth;
    if (part != ".." && part != "." && !part.empty()) ++depth;
    if (depth < 0) return true;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return false;
}

}  // namespace

std::string_view Resource::group() const {
  const std::size_t slash = api_version().find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version().substr(0, slash);
}

std::string_view Resource::version() const {
  const std::size_t slash = api_version().find('/');
  return slash == std::string_view::npos ? api_version() : api_version().substr(slash + 1);
}

bool Resource::is_local_config() const {
  const Node* found = tree.root.at({"metadata", "annotations", kLocalConfig});
  return found != nullptr && found->text != "false";
}

std::vector<std::string> package_folders(const Files& files) {
  std::vector<std::string> made{""};
  for (const auto& [path, text] : files) {
    if (base_name(path) == kKptfile && path != kKptfile) made.emplace_back(parent_folder(path));
  }
  std::ranges::sort(made);
  return made;
}

std::string package_of(std::string_view path, std::span<const std::string> folders) {
  std::string best;
  for (const std::string& folder : folders) {
    const bool is_inside = path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
    if (!folder.empty() && is_inside && folder.size() > best.size()) best = folder;
  }
  return best;
}

bool is_krm_file(std::string_view path, Json json) {
  const std::string_view base = base_name(path);
  const bool is_json = json == Json::Read && base.ends_with(kJsonEnding);
  return base == kKptfile || base.ends_with(".yaml") || base.ends_with(".yml") || is_json;
}

bool is_ignored(const Files& files, std::string_view path) { return ignore_of(files).ignores(path); }

Result<std::vector<Resource>> read_resources(const Files& files, Json json) {
  std::vector<Resource> made;
  const Ignore ignore = ignore_of(files);
  const std::vector<std::string> folders = package_folders(files);
  for (const auto& [path, text] : files) {
    if (!is_krm_file(path, json) || ignore.ignores(path)) continue;
    auto trees = read_yaml(text);
    if (!trees) return fail(trees.error().reason, fmt::format("{}: {}", path, trees.error().message));
    std::size_t index = 0;
    for (YamlTree& tree : *trees) {
      if (tree.is_empty || tree.root.is_null()) continue;
      drop_empty_annotations(tree.root);
      Resource resource;
      resource.tree = std::move(tree);
      resource.path = path;
      resource.package = package_of(path, folders);
      resource.index = index++;
      made.push_back(std::move(resource));
    }
  }
  return made;
}

Result<void> require_krm(std::span<const Resource> resources) {
  for (const Resource& resource : resources) {
    std::string_view missing;
    if (resource.name().empty()) missing = "metadata.name";
    if (resource.kind().empty()) missing = "kind";
    if (resource.api_version().empty()) missing = "apiVersion";
    if (missing.empty()) continue;
    return fail(Reason::BadRequest,
                fmt::format("input resource list must contain only KRM resources: {}: resource must have `{}`", resource.path,
                            missing));
  }
  return {};
}

std::string default_path(const Resource& resource) {
  std::string kind(resource.kind());
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string made = fmt::format("{}_{}.yaml", kind, resource.name());
  if (!resource.namespace_name().empty()) made = fmt::format("{}/{}", resource.namespace_name(), made);
  return resource.package.empty() ? made : resource.package + "/" + made;
}

Result<Files> write_resources(Files files, std::vector<Resource> resources, Json json) {
  const Ignore ignore = ignore_of(files);
  std::erase_if(files, [&](const auto& file) { return is_krm_file(file.first, json) && !ignore.ignores(file.first); });
  std::set<std::pair<std::string, std::size_t>> taken;
  std::map<std::string, std::size_t> next;
  for (const Resource& resource : resources) {
    if (resource.path.empty()) continue;
    if (leaves_package(resource.path)) {
      return fail(Reason::Invalid, fmt::format("resource must not have a path outside the package: {}", resource.path));
    }
    if (!taken.emplace(resource.path, resource.index).second) {
      return fail(Reason::Invalid,
                  fmt::format("resource at path {:?} and index \"{}\" already exists", resource.path, resource.index));
    }
    next[resource.path] = std::max(next[resource.path], resource.index + 1);
  }
  for (Resource& resource : resources) {
    if (!resource.path.empty()) continue;
    resource.path = default_path(resource);
    resource.index = next[resource.path]++;
  }
  std::ranges::sort(
      resources, [](const Resource& a, const Resource& b) { return a.path != b.path ? a.path < b.path : a.index < b.index; });
  for (Resource& resource : resources) {
    drop_empty_annotations(resource.root());
    std::string& text = files[resource.path];
    const bool is_json = resource.path.ends_with(kJsonEnding) && next[resource.path] == 1;
    const auto value = is_json ? to_value(resource.root()) : Result<json::Value>(json::Value());
    if (is_json && value) {
      text = json_text(*value);
      continue;
    }
    if (!text.empty()) text += "---\n";
    text += write_yaml(resource.tree);
  }
  return files;
}

std::string package_context(std::string_view name, std::string_view path) {
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations:\n    {}: \"true\"\ndata:\n  name: "
      "{}\n{}",
      kLocalConfig, name, path.empty() ? "" : fmt::format("  package-path: {}\n", path));
}

}  // namespace slipway::krm
