// What is known of revisions, packages and repositories, as described structs with the field names of porch.kpt.dev/v1alpha1
// and config.porch.kpt.dev/v1alpha1. Results of rendering have the shape of kpt's FunctionResultList.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/condition.h"
#include "delivery/package/vote.h"
#include "json/codec.h"

namespace slipway::delivery::package {

struct GitLock {
  std::string repo{};
  std::string directory{};
  std::string ref{};
  std::string commit{};

  static void describe(auto& d) {
    d.doc("A folder of a Git repository at a commit.");
    d.field("repo", &GitLock::repo, "URL of the repository, as git is given it.");
    d.field("directory", &GitLock::directory, "The folder in the repository; empty: its root.");
    d.field("ref", &GitLock::ref, "The branch, tag or commit that was asked for.");
    d.field("commit", &GitLock::commit, "The commit that was found: 40 hex digits.");
  }
  bool operator==(const GitLock&) const = default;
};

struct Locator {
  std::string type{};
  std::optional<GitLock> git{};

  static void describe(auto& d) {
    d.doc("Where content is, exactly.");
    d.field("type", &Locator::type, "git.");
    d.field("git", &Locator::git, "The folder and the commit.");
  }
  bool operator==(const Locator&) const = default;
};

struct PorchPackageStatus {
  std::int64_t latest_revision = 0;

  static void describe(auto& d) {
    d.doc("What is known of a package.");
    d.field("latestRevision", &PorchPackageStatus::latest_revision, "The highest published revision; 0: none.").always();
  }
  bool operator==(const PorchPackageStatus&) const = default;
};

struct ResultField {
  std::string path{};
  std::string current_value{};
  std::string proposed_value{};

  static void describe(auto& d) {
    d.doc("A field of an object.");
    d.field("path", &ResultField::path, "Its path in the object, e.g. spec.replicas.");
    d.field("currentValue", &ResultField::current_value, "What it is.");
    d.field("proposedValue", &ResultField::proposed_value, "What it should be.");
  }
  bool operator==(const ResultField&) const = default;
};

struct ResultFile {
  std::string path{};
  std::int64_t index = 0;

  static void describe(auto& d) {
    d.doc("A file of the package.");
    d.field("path", &ResultFile::path, "Its path in the package.");
    d.field("index", &ResultFile::index, "The document in it, from 0.");
  }
  bool operator==(const ResultFile&) const = default;
};

struct ResultObject {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::string ns{};

  static void describe(auto& d) {
    d.doc("An object of the package.");
    d.field("apiVersion", &ResultObject::api_version, "Its API version.");
    d.field("kind", &ResultObject::kind, "Its kind.");
    d.field("name", &ResultObject::name, "Its name.");
    d.field("namespace", &ResultObject::ns, "Its namespace.");
  }
  bool operator==(const ResultObject&) const = default;
};

struct ResultItem {
  std::string message{};
  std::string severity{};
  std::optional<ResultObject> object{};
  std::optional<ResultField> field{};
  std::optional<ResultFile> file{};
  std::map<std::string, std::string> tags{};

  static void describe(auto& d) {
    d.doc("What a function says.");
    d.field("message", &ResultItem::message, "For people.");
    d.field("severity", &ResultItem::severity, "error, warning or info.");
    d.field("resourceRef", &ResultItem::object, "The object it is about.");
    d.field("field", &ResultItem::field, "The field it is about.");
    d.field("file", &ResultItem::file, "Where that is.");
    d.field("tags", &ResultItem::tags, "More, by key.");
  }
  bool operator==(const ResultItem&) const = default;
};

struct FunctionResult {
  std::string image{};
  std::string exec{};
  std::string stderr_text{};
  std::int64_t exit_code = 0;
  std::vector<ResultItem> results{};

  static void describe(auto& d) {
    d.doc("How a function ended.");
    d.field("image", &FunctionResult::image, "The function, by image.");
    d.field("exec", &FunctionResult::exec, "The function, by program.");
    d.field("stderr", &FunctionResult::stderr_text, "What it wrote to standard error.");
    d.field("exitCode", &FunctionResult::exit_code, "0: it succeeded.").always();
    d.field("results", &FunctionResult::results, "What it says.").list_type("atomic");
  }
  bool operator==(const FunctionResult&) const = default;
};

struct ResultList {
  std::string api_version{};
  std::string kind{};
  std::optional<json::Value> metadata{};
  std::int64_t exit_code = 0;
  std::vector<FunctionResult> items{};

  static void describe(auto& d) {
    d.doc("How a pipeline ended.");
    d.field("apiVersion", &ResultList::api_version, "kpt.dev/v1.");
    d.field("kind", &ResultList::kind, "FunctionResultList.");
    d.field("metadata", &ResultList::metadata, "Of the list.").any_object();
    d.field("exitCode", &ResultList::exit_code, "0: all functions succeeded.").always();
    d.field("items", &ResultList::items, "The functions that ran, in order.").list_type("atomic");
  }
  bool operator==(const ResultList&) const = default;
};

struct RenderStatus {
  ResultList result{};
  std::string error{};

  static void describe(auto& d) {
    d.doc("How the last rendering ended.");
    d.field("result", &RenderStatus::result, "Of the functions.");
    d.field("error", &RenderStatus::error, "Why it failed; empty: it did not.").always();
  }
  bool operator==(const RenderStatus&) const = default;
};

struct RevisionStatus {
  std::optional<Locator> upstream_lock{};
  std::optional<Locator> self_lock{};
  std::string published_by{};
  std::optional<Time> published_at{};
  bool is_deployment = false;
  std::vector<Condition> conditions{};
  std::string digest{};
  std::string ready{};
  bool is_latest = false;
  std::vector<Vote> votes{};
  std::optional<RenderStatus> render{};

  static void describe(auto& d) {
    d.doc("What is known of a revision.");
    d.field("upstreamLock", &RevisionStatus::upstream_lock, "The upstream that its content came from.");
    d.field("selfLock", &RevisionStatus::self_lock, "Where its own content is.");
    d.field("publishedBy", &RevisionStatus::published_by, "Who approved it.");
    d.field("publishTimestamp", &RevisionStatus::published_at, "When it was approved.");
    d.field("deployment", &RevisionStatus::is_deployment, "It is in a deployment repository.");
    d.field("conditions", &RevisionStatus::conditions, "What must be so, or is known.").list_type("map", {"type"});
    d.field("digest", &RevisionStatus::digest, "Of its content without Kptfile.status: sha256: and 64 hex digits.");
    d.field("ready", &RevisionStatus::ready, "Gates of the next step that are met, of all of that step: \"2/3\".");
    d.field("votes", &RevisionStatus::votes, "What people said about it, through /votes.").list_type("atomic");
    d.field("renderStatus", &RevisionStatus::render,
            "How the last rendering here ended, with the results of its functions: at most 50, long texts cut.");
    d.field("latest", &RevisionStatus::is_latest, "It is the highest published revision of its package.").always();
  }
  bool operator==(const RevisionStatus&) const = default;
};

struct ResourcesStatus {
  std::optional<RenderStatus> render{};
  std::int64_t files = 0;

  static void describe(auto& d) {
    d.doc("What is known of the files.");
    d.field("renderStatus", &ResourcesStatus::render, "How the last rendering ended.");
    d.field("files", &ResourcesStatus::files, "How many there are.").always();
  }
  bool operator==(const ResourcesStatus&) const = default;
};

}  // namespace slipway::delivery::package
