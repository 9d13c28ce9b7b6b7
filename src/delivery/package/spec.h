// What is wanted of revisions, packages, repositories and functions, as described structs with the field names of
// porch.kpt.dev/v1alpha1 and config.porch.kpt.dev/v1alpha1. Defaults and limits are Porch's. Variants are in variant_spec.h,
// our own policies in policy_spec.h. DIVERGES: a revision's number is written also when it is 0, so that tables and field
// selectors see it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/condition.h"
#include "delivery/package/task.h"
#include "delivery/package/variant_content.h"
#include "json/codec.h"

namespace slipway::delivery::package {

enum class Lifecycle : std::uint8_t { Draft, Proposed, Published, DeletionProposed };
inline auto describe_enum(Lifecycle) {
  return json::enum_names<Lifecycle>({{Lifecycle::Draft, "Draft"},
                                      {Lifecycle::Proposed, "Proposed"},
                                      {Lifecycle::Published, "Published"},
                                      {Lifecycle::DeletionProposed, "DeletionProposed"}});
}
/// Published, or proposed to be deleted: its content is on the main branch.
constexpr bool is_published(Lifecycle lifecycle) {
  return lifecycle == Lifecycle::Published || lifecycle == Lifecycle::DeletionProposed;
}

struct PackageMetadata {
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> annotations{};

  static void describe(auto& d) {
    d.doc("metadata of the Kptfile.");
    d.field("labels", &PackageMetadata::labels, "Its labels.");
    d.field("annotations", &PackageMetadata::annotations, "Its annotations.");
  }
  bool operator==(const PackageMetadata&) const = default;
};

/// lifecycle is text here: a request may hold any, and Porch's messages say what was sent.
struct RevisionSpec {
  std::string package_name{};
  std::string repository{};
  std::string workspace{};
  std::int64_t revision = 0;
  std::optional<NameRef> parent{};
  std::string lifecycle{};
  std::vector<RevisionTask> tasks{};
  std::vector<ReadinessGate> gates{};
  std::optional<PackageMetadata> package_metadata{};
  std::optional<VariantContent> variant{};

  static void describe(auto& d) {
    d.doc("A version of a package.");
    d.field("packageName", &RevisionSpec::package_name, "Path of the package in its repository.");
    d.field("repository", &RevisionSpec::repository, "The Repository it is in.");
    d.field("workspaceName", &RevisionSpec::workspace, "Tells the revisions of a package apart, also those without a number.");
    d.field("revision", &RevisionSpec::revision,
            "0 before it is published, then its number; -1 follows the repository's branch. Set by the server.")
        .always();
    d.field("parent", &RevisionSpec::parent, "Not used any more.");
    d.field("lifecycle", &RevisionSpec::lifecycle, "Draft, Proposed, Published or DeletionProposed; absent: Draft.");
    d.field("tasks", &RevisionSpec::tasks, "How it comes about: one; absent: init.").list_type("atomic");
    d.field("readinessGates", &RevisionSpec::gates, "Conditions that must be True before it is proposed and approved.")
        .list_type("map", {"conditionType"});
    d.field("packageMetadata", &RevisionSpec::package_metadata, "metadata of its Kptfile.");
    d.field("variant", &RevisionSpec::variant, "Of a new revision: what a PackageVariant writes into it. Not kept.");
  }
  bool operator==(const RevisionSpec&) const = default;
};

struct ResourcesSpec {
  std::string package_name{};
  std::string workspace{};
  std::int64_t revision = 0;
  std::string repository{};
  std::map<std::string, std::string> resources{};

  static void describe(auto& d) {
    d.doc("The files of a revision.");
    d.field("packageName", &ResourcesSpec::package_name, "Path of the package in its repository.");
    d.field("workspaceName", &ResourcesSpec::workspace, "The revision's workspace.");
    d.field("revision", &ResourcesSpec::revision, "The revision's number.").always();
    d.field("repository", &ResourcesSpec::repository, "The Repository it is in.");
    d.field("resources", &ResourcesSpec::resources, "Each file's text by its path in the package.");
  }
  bool operator==(const ResourcesSpec&) const = default;
};

struct PorchPackageSpec {
  std::string package_name{};
  std::string repository{};

  static void describe(auto& d) {
    d.doc("A package, over all its revisions.");
    d.field("packageName", &PorchPackageSpec::package_name, "Its path in the repository.");
    d.field("repository", &PorchPackageSpec::repository, "The Repository it is in.");
  }
  bool operator==(const PorchPackageSpec&) const = default;
};

struct RepositorySync {
  std::optional<Time> run_once_at{};
  std::string schedule{};

  static void describe(auto& d) {
    d.doc("When the repository is read again as a whole.");
    d.field("runOnceAt", &RepositorySync::run_once_at, "Once at that time, beside the schedule.");
    d.field("schedule", &RepositorySync::schedule,
            "When to read the whole repository again: a cron expression in UTC, with the syntax of a CronJob's spec.schedule. "
            "Default: every hour.");
  }
  bool operator==(const RepositorySync&) const = default;
};

struct GitRepository {
  std::string repo{};
  std::string branch = "main";
  bool creates_branch = false;
  std::string directory{};
  std::optional<NameRef> secret{};
  std::string author{};
  std::string email{};

  static void describe(auto& d) {
    d.doc("A Git repository with packages.");
    d.field("repo", &GitRepository::repo, "Its address. Immutable.").required().min_length(1);
    d.field("branch", &GitRepository::branch, "Where published content is. Immutable.").min_length(1).with_default();
    d.field("createBranch", &GitRepository::creates_branch, "Make the branch where it is missing.");
    d.field("directory", &GitRepository::directory, "Packages are looked for below; absent: everywhere. Immutable.");
    d.field("secretRef", &GitRepository::secret, "A Secret with credentials.");
    d.field("author", &GitRepository::author, "Author of commits; absent: who asked for them.");
    d.field("email", &GitRepository::email, "The author's address.");
  }
  bool operator==(const GitRepository&) const = default;
};

struct OciRepository {
  std::string registry{};
  std::optional<NameRef> secret{};

  static void describe(auto& d) {
    d.doc("A registry with packages as images. Not implemented: the repository's condition Ready says so.");
    d.field("registry", &OciRepository::registry, "Its address. Immutable.").required();
    d.field("secretRef", &OciRepository::secret, "A Secret with credentials.");
  }
  bool operator==(const OciRepository&) const = default;
};

struct RepositorySpec {
  std::string description{};
  bool is_deployment = false;
  std::optional<SourceType> type{};
  std::string content = "Package";
  std::optional<RepositorySync> sync{};
  std::optional<GitRepository> git{};
  std::optional<OciRepository> oci{};

  static void describe(auto& d) {
    d.doc("Where packages are.");
    d.field("description", &RepositorySpec::description, "What it is for.");
    d.field("deployment", &RepositorySpec::is_deployment,
            "Its packages go to a cluster as they are: gates must be met before they are published.");
    d.field("type", &RepositorySpec::type, "git; oci is not implemented. Immutable.");
    d.field("content", &RepositorySpec::content, "Not used any more.").one_of({"", "Package"}).with_default();
    d.field("sync", &RepositorySpec::sync, "When it is read again as a whole.");
    d.field("git", &RepositorySpec::git, "For type git.");
    d.field("oci", &RepositorySpec::oci, "For type oci.");
  }
  bool operator==(const RepositorySpec&) const = default;
};

}  // namespace slipway::delivery::package
