// A package: a folder as path → bytes, paths with '/', relative to the folder. Which of its files hold KRM resources (*.yaml,
// *.yml and Kptfile, for functions *.json too, but for what .krmignore names), where its subpackages are (folders with a
// Kptfile), and the resources read and written back in kpt's form. Files that are not KRM keep their bytes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "krm/yaml_tree.h"

namespace slipway::krm {

using Files = std::map<std::string, std::string>;

inline constexpr std::string_view kKptfile = "Kptfile";
inline constexpr std::string_view kLocalConfig = "config.kubernetes.io/local-config";

/// The patterns of a .krmignore file, as those of .gitignore: '#' comments, '!' takes back, a '/' at the end means folders, one
/// elsewhere binds to the folder of the file; * ? [a-z] and **.
class Ignore {
 public:
  Ignore() = default;
  explicit Ignore(std::string_view text);
  /// Whether the file, or a folder that it is in, is named.
  bool ignores(std::string_view path) const;

 private:
  struct Pattern {
    std::string glob;
    bool is_negated = false;
    bool is_for_folders = false;
    bool is_anchored = false;
  };
  bool names(std::string_view path, bool is_folder) const;
  std::vector<Pattern> patterns_;
};

/// `*` and `?` do not match '/', `**` does.
bool matches_glob(std::string_view glob, std::string_view path);

struct Resource {
  YamlTree tree;
  std::string path;       // of its file; empty for one that was generated
  std::string package;    // the folder of the package that it belongs to; "" for the root
  std::size_t index = 0;  // in the file
  std::size_t id = 0;     // tells it apart in a pipeline; 0: new
  /// Annotations of an orchestrator, taken off what came over the wire and put back there.
  std::vector<std::pair<std::string, std::string>> marks;

  Node& root() { return tree.root; }
  const Node& root() const { return tree.root; }
  std::string_view api_version() const { return tree.root.get({"apiVersion"}); }
  std::string_view kind() const { return tree.root.get({"kind"}); }
  std::string_view name() const { return tree.root.get({"metadata", "name"}); }
  std::string_view namespace_name() const { return tree.root.get({"metadata", "namespace"}); }
  std::string_view annotation(std::string_view key) const { return tree.root.get({"metadata", "annotations", key}); }
  std::string_view group() const;
  std::string_view version() const;
  bool is_local_config() const;
  bool is_kptfile() const { return kind() == kKptfile && api_version().starts_with("kpt.dev/"); }
};

/// The folders of all packages in `files`, "" for the root, parents before children; a folder without a Kptfile above it is
/// reported as the root all the same.
std::vector<std::string> package_folders(const Files& files);
/// The nearest package around a file.
std::string package_of(std::string_view path, std::span<const std::string> folders);
/// Whether *.json are files with resources: kpt's functions see them so, its upgrades take them as they are.
enum class Json : bool { Left, Read };
/// Whether kpt reads resources from it.
bool is_krm_file(std::string_view path, Json json = Json::Left);
/// The .krmignore of the root applied.
bool is_ignored(const Files& files, std::string_view path);

/// Every document of every KRM file, in the order of paths and then of documents. BadRequest "res.yaml: yaml: line 3: …".
Result<std::vector<Resource>> read_resources(const Files& files, Json json = Json::Left);
/// BadRequest "input resource list must contain only KRM resources: a.yaml: resource must have `kind`".
Result<void> require_krm(std::span<const Resource> resources);

/// `files` with the resources written: the KRM files become what the list says, files whose last resource is gone are removed,
/// resources without a path get kyaml's default one, <namespace>/<kind>_<name>.yaml. Invalid for a path outside the package
/// or for two resources in one place. The only resource of a *.json is written as JSON, its members sorted.
Result<Files> write_resources(Files files, std::vector<Resource> resources, Json json = Json::Left);
std::string default_path(const Resource& resource);

/// The context that a package made for a deployment carries, package-context.yaml.
std::string package_context(std::string_view name, std::string_view path = "");

}  // namespace slipway::krm
