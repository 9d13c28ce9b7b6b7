// How a package revision comes about: the one task that is sent with it, as porch.kpt.dev/v1alpha1 has tasks since they are no
// longer replayed. An empty list means init; render and push are marks in commits and refused in requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery::package {

enum class TaskType : std::uint8_t { Init, Clone, Edit, Upgrade, Render, Push, None };
inline auto describe_enum(TaskType) {
  return json::enum_names<TaskType>({{TaskType::Init, "init"},
                                     {TaskType::Clone, "clone"},
                                     {TaskType::Edit, "edit"},
                                     {TaskType::Upgrade, "upgrade"},
                                     {TaskType::Render, "render"},
                                     {TaskType::Push, "push"},
                                     {TaskType::None, ""}});
}

/// How upstream's changes get into a copy that was changed too.
enum class MergeStrategy : std::uint8_t {
  ResourceMerge,       // field by field; also what absent means
  FastForward,         // only when nothing was changed locally
  ForceDeleteReplace,  // the new upstream as it is
  CopyMerge,           // the new upstream's files over the local ones
};
inline auto describe_enum(MergeStrategy) {
  return json::enum_names<MergeStrategy>({{MergeStrategy::ResourceMerge, "resource-merge"},
                                          {MergeStrategy::FastForward, "fast-forward"},
                                          {MergeStrategy::ForceDeleteReplace, "force-delete-replace"},
                                          {MergeStrategy::CopyMerge, "copy-merge"},
                                          {MergeStrategy::ResourceMerge, ""}});
}

struct NameRef {
  std::string name{};

  static void describe(auto& d) {
    d.doc("An object of the same namespace, by name.");
    d.field("name", &NameRef::name, "Its name.").always();
  }
  bool operator==(const NameRef&) const = default;
};

struct InitTask {
  std::string subpackage{};
  std::string description{};
  std::vector<std::string> keywords{};
  std::string site{};

  static void describe(auto& d) {
    d.doc("A new, empty package.");
    d.field("subpackage", &InitTask::subpackage, "A folder of the package to make one in.");
    d.field("description", &InitTask::description, "What it is for.");
    d.field("keywords", &InitTask::keywords, "Words to find it by.").list_type("atomic");
    d.field("site", &InitTask::site, "A page about it.");
  }
  bool operator==(const InitTask&) const = default;
};

struct GitSource {
  std::string repo{};
  std::string ref{};
  std::string directory{};
  std::optional<NameRef> secret{};

  static void describe(auto& d) {
    d.doc("A folder of a Git repository.");
    d.field("repo", &GitSource::repo, "URL of the repository, as git is given it.").always();
    d.field("ref", &GitSource::ref, "Branch, tag or commit.").always();
    d.field("directory", &GitSource::directory, "The folder of the package.").always();
    d.field("secretRef", &GitSource::secret, "A Secret with credentials.");
  }
  bool operator==(const GitSource&) const = default;
};

struct OciSource {
  std::string image{};

  static void describe(auto& d) {
    d.doc("An image with a package. Not implemented: refused.");
    d.field("image", &OciSource::image, "Its address.").always();
  }
  bool operator==(const OciSource&) const = default;
};

enum class SourceType : std::uint8_t { Unset, Git, Oci };
inline auto describe_enum(SourceType) {
  return json::enum_names<SourceType>({{SourceType::Git, "git"}, {SourceType::Oci, "oci"}, {SourceType::Unset, ""}});
}

struct UpstreamSource {
  SourceType type = SourceType::Unset;
  std::optional<GitSource> git{};
  std::optional<OciSource> oci{};
  std::optional<NameRef> revision{};

  static void describe(auto& d) {
    d.doc("A package to begin with: somewhere else by type, or a revision that is served here.");
    d.field("type", &UpstreamSource::type, "Where it is; absent: upstreamRef says it.");
    d.field("git", &UpstreamSource::git, "For type git.");
    d.field("oci", &UpstreamSource::oci, "For type oci.");
    d.field("upstreamRef", &UpstreamSource::revision, "A package revision of the namespace.");
  }
  bool operator==(const UpstreamSource&) const = default;
};

struct CloneTask {
  UpstreamSource upstream{};
  MergeStrategy strategy = MergeStrategy::ResourceMerge;

  static void describe(auto& d) {
    d.doc("A new package with the content of another one, which stays its upstream.");
    d.field("upstreamRef", &CloneTask::upstream, "The other one.");
    d.field("strategy", &CloneTask::strategy, "How later upgrades merge.");
  }
  bool operator==(const CloneTask&) const = default;
};

struct EditTask {
  std::optional<NameRef> source{};

  static void describe(auto& d) {
    d.doc("A new revision of the same package, with the content of a published one.");
    d.field("sourceRef", &EditTask::source, "The published revision.");
  }
  bool operator==(const EditTask&) const = default;
};

struct UpgradeTask {
  NameRef old_upstream{};
  NameRef new_upstream{};
  NameRef local{};
  MergeStrategy strategy = MergeStrategy::ResourceMerge;

  static void describe(auto& d) {
    d.doc("A new revision of the same package with what has changed upstream. All three revisions must be published.");
    d.field("oldUpstreamRef", &UpgradeTask::old_upstream, "The upstream revision that the local one came from.");
    d.field("newUpstreamRef", &UpgradeTask::new_upstream, "The upstream revision to go to.");
    d.field("localPackageRevisionRef", &UpgradeTask::local, "The revision with the local changes.");
    d.field("strategy", &UpgradeTask::strategy, "How the two are merged.");
  }
  bool operator==(const UpgradeTask&) const = default;
};

struct RevisionTask {
  TaskType type = TaskType::None;
  std::optional<InitTask> init{};
  std::optional<CloneTask> clone{};
  std::optional<EditTask> edit{};
  std::optional<UpgradeTask> upgrade{};

  static void describe(auto& d) {
    d.doc("How the revision comes about.");
    d.field("type", &RevisionTask::type, "Which of the four.").required();
    d.field("init", &RevisionTask::init, "A new, empty package.");
    d.field("clone", &RevisionTask::clone, "A copy of another package.");
    d.field("edit", &RevisionTask::edit, "A copy of a published revision.");
    d.field("upgrade", &RevisionTask::upgrade, "A merge with a newer upstream.");
  }
  bool operator==(const RevisionTask&) const = default;
};

}  // namespace slipway::delivery::package
