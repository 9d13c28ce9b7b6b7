// A revision as the log has it: what is not in Git. One object per revision; content is only named here, by its commit and
// digest. What Porch's clients see is made from it: the PackageRevision, the rows of PorchPackage, and from files the
// PackageRevisionResources.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "delivery/package/approval.h"
#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"
#include "delivery/package/git_note.h"
#include "delivery/package/intent.h"
#include "delivery/package/names.h"
#include "delivery/package/readiness.h"
#include "delivery/package/spec.h"
#include "delivery/package/status.h"
#include "kube/object.h"

namespace slipway::delivery::package {

/// Since when a condition that the server computes has its status.
struct ComputedSince {
  std::string type{};
  Truth status = Truth::Unknown;
  Time since{};

  static void describe(auto& d) {
    d.doc("A condition that the server computes.");
    d.field("type", &ComputedSince::type, "Its type.").required();
    d.field("status", &ComputedSince::status, "Its status.").required();
    d.field("since", &ComputedSince::since, "When it came to be so.").required();
  }
  bool operator==(const ComputedSince&) const = default;
};

struct RevisionRecord {
  std::string repository{};
  std::string path{};
  std::string workspace{};
  std::int64_t revision = 0;
  Lifecycle lifecycle = Lifecycle::Draft;
  std::vector<RevisionTask> tasks{};
  std::string upstream_name{};  // the revision that it was cloned from or upgraded to, else "-"; lists select by it
  Gates gates{};
  Conditions conditions{};
  std::optional<PackageMetadata> package_metadata{};
  bool is_deployment = false;
  Render render = Render::Nothing;
  std::string commit{};  // of its content
  std::string digest{};
  std::map<std::string, std::string> file_digests{};  // for scopes of conditions
  Time settled{};                                     // when content or gates last changed
  std::vector<std::string> authors{};                 // who wrote content or proposed it, sorted
  std::optional<Locator> upstream_lock{};
  std::optional<Locator> self_lock{};
  std::vector<Vote> votes{};
  std::optional<ApprovalRecord> approval{};
  std::vector<Intent> intents{};                 // still to be done to the repository, in order
  std::string exported{};                        // conditions_digest() of what the Kptfile in the repository says
  std::string render_error{};                    // why its rendering failed, or its Kptfile cannot be read
  std::string drift{};                           // how others changed it in the repository, not yet decided about
  std::map<std::string, std::string> outside{};  // what others changed on the branch: file digests, see outside_changes.h
  std::string not_pushed{};                      // why the repository does not take the first intent; it is tried again
  std::string rejected{};                        // verdict_subject() of the proposal that was sent back last; empty: none was
  std::int64_t generation = 0;                   // counts changes of content and spec from 1; 0 in records from before it
  std::vector<ComputedSince> computed{};
  std::optional<RenderStatus> render_status{};  // how the last rendering ended, shortened
  GitNotes notes{};                             // for the next commit of the draft
  json::Value owners{};  // metadata.ownerReferences; kept here, so that nothing is collected with its owner

  static void describe(auto& d) {
    d.doc("A revision, without its content.");
    d.field("repository", &RevisionRecord::repository, "The Repository.").required();
    d.field("packageName", &RevisionRecord::path, "The package's path.").required();
    d.field("workspaceName", &RevisionRecord::workspace, "Its workspace.").required();
    d.field("revision", &RevisionRecord::revision, "Its number.").always();
    d.field("lifecycle", &RevisionRecord::lifecycle, "Where it is.").always();
    d.field("tasks", &RevisionRecord::tasks, "How it came about.").list_type("atomic");
    d.field("upstreamName", &RevisionRecord::upstream_name, "The revision that it was cloned from or upgraded to, else -.");
    d.field("readinessGates", &RevisionRecord::gates, "Its gates.").list_type("map", {"conditionType"});
    d.field("conditions", &RevisionRecord::conditions, "Its conditions.").list_type("map", {"type"});
    d.field("packageMetadata", &RevisionRecord::package_metadata, "metadata of its Kptfile.");
    d.field("deployment", &RevisionRecord::is_deployment, "It is in a deployment repository.");
    d.field("render", &RevisionRecord::render, "How its rendering ended.");
    d.field("commit", &RevisionRecord::commit, "The commit of its content.");
    d.field("digest", &RevisionRecord::digest, "The digest of its content.");
    d.field("files", &RevisionRecord::file_digests, "Of each file.");
    d.field("settled", &RevisionRecord::settled, "When content or gates last changed.").micro_time();
    d.field("authors", &RevisionRecord::authors, "Who wrote its content or proposed it.").list_type("set");
    d.field("upstreamLock", &RevisionRecord::upstream_lock, "The upstream that its content came from.");
    d.field("selfLock", &RevisionRecord::self_lock, "Where its own content is.");
    d.field("votes", &RevisionRecord::votes, "What people said about it.").list_type("atomic");
    d.field("approval", &RevisionRecord::approval, "What it was approved with.");
    d.field("intents", &RevisionRecord::intents, "What is still to be done to the repository, in order.").list_type("atomic");
    d.field("exported", &RevisionRecord::exported, "Which conditions its Kptfile in the repository has.");
    d.field("renderError", &RevisionRecord::render_error, "Why its rendering failed, or its Kptfile cannot be read.");
    d.field("drift", &RevisionRecord::drift, "What somebody else has done to it in the repository.");
    d.field("outside", &RevisionRecord::outside, "Files that somebody else has changed on the branch, with their digests.");
    d.field("notPushed", &RevisionRecord::not_pushed, "Why the repository does not take what was decided.");
    d.field("rejected", &RevisionRecord::rejected, "The content and gates with which it was last sent back to Draft.");
    d.field("generation", &RevisionRecord::generation, "Counts changes of content and spec.");
    d.field("computed", &RevisionRecord::computed, "Since when the computed conditions are so.").list_type("map", {"type"});
    d.field("renderStatus", &RevisionRecord::render_status, "How the last rendering ended, shortened.");
    d.field("notes", &RevisionRecord::notes, "What the next commit says in its trailers.");
    d.field("owners", &RevisionRecord::owners, "metadata.ownerReferences of the revision.");
  }
  bool operator==(const RevisionRecord&) const = default;

  /// It was approved, and the remote has not taken it yet.
  bool is_publishing() const { return !intents.empty() && intents.back().kind == IntentKind::Approve; }
  RevisionKey key() const { return {{repository, path}, workspace}; }
};

/// metadata.generation of its revision.
inline std::int64_t generation_of(const RevisionRecord& record) { return std::max<std::int64_t>(record.generation, 1); }
/// `record` as it follows `was` (null: it is new) in the log: its generation, and since when computed conditions are so.
RevisionRecord stamped(RevisionRecord record, const RevisionRecord* was, Time now);

/// What a verdict about a proposal is about: its content and gates.
std::string verdict_subject(const RevisionRecord& record);
/// Whether it was sent back to Draft, and is as it was then.
bool is_rejected(const RevisionRecord& record);
/// The spec of its PackageRevision.
RevisionSpec spec_of(const RevisionRecord& record);
/// As Porch shows it: metadata as stored, with the name that it has and the label of the latest; conditions with what the
/// server computes at their end. A publication that the remote has not taken yet is still the proposal that it was.
kube::Object revision_object(const RevisionRecord& record, const json::Value& metadata, bool is_latest, const Now& now);
/// The same without its status.
kube::Object unjudged_revision_object(const RevisionRecord& record, const json::Value& metadata, bool is_latest);
/// `files` with the conditions written into the Kptfile are the caller's; metadata is the revision's.
kube::Object resources_object(const RevisionRecord& record, const json::Value& metadata, const Files& files,
                              const std::optional<RenderStatus>& render);
/// The packages of these revisions, by name.
std::vector<kube::Object> package_objects(std::span<const RevisionRecord> records, std::string_view ns);

/// The number of the newest published revision of the package; 0: none.
std::int64_t latest_revision(std::span<const RevisionRecord> records, const PackageKey& package);

}  // namespace slipway::delivery::package
