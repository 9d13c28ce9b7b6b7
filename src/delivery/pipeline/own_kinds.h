// Our own kinds, one per right, so that RBAC says who may do what: Release (a version as the first environment settled at it;
// never changes), Promotion (that a release is to get into an environment, and how that goes), Approval (what a person said),
// Hold (nothing is promoted into these environments), Freeze (nor while a window is open), DeliveryLog (what happened, kept
// when the rest is gone). All live in the namespace of their Pipeline. `by` is written by admission alone: who asked, as the
// API server knows them; an object without it (no webhook on a foreign cluster) counts for no rule that asks who.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/gate/log.h"
#include "delivery/gate/metric.h"
#include "delivery/gate/window.h"
#include "json/codec.h"

namespace slipway::delivery::pipeline {

/// Who asks through the process that is the cluster itself, as `slipway … --data-dir` does; no user can be called that
/// there.
inline constexpr std::string_view kLocalUser = "local";

struct Author {
  std::string user{};
  std::vector<std::string> groups{};
  std::optional<Time> time{};

  static void describe(auto& d) {
    d.doc("Who asked, and when; set by the server.");
    d.field("user", &Author::user, "The user.");
    d.field("groups", &Author::groups, "The user's groups.").list_type("atomic");
    d.field("time", &Author::time, "When.");
  }
  bool operator==(const Author&) const = default;
};

/// Name: PIPELINE-HASH, over the pipeline's uid and what the spec says of the content.
struct ReleaseSpec {
  std::string pipeline{};
  std::string version{};  // without build metadata where there is a digest
  std::string digest{};
  std::vector<std::string> images{};       // sorted, "web:1.0.0@sha256:…"
  std::string commit{};                    // of the source, where known
  std::string author{};                    // who wrote the change, as whoever announced it says
  std::optional<Time> artifact_created{};  // when the artifact was made, where known: lead times begin there
  std::string environment{};               // that it was first seen in, or "" when it was announced
  std::map<std::string, std::string> notes{};

  static void describe(auto& d) {
    d.doc("A version of the application as it is promoted. It never changes.");
    d.field("pipeline", &ReleaseSpec::pipeline, "The pipeline.").required().min_length(1);
    d.field("version", &ReleaseSpec::version, "The version, as it is written into environments.").required().min_length(1);
    d.field("digest", &ReleaseSpec::digest, "Of its content.");
    d.field("images", &ReleaseSpec::images, "The images that ran.").list_type("atomic");
    d.field("commit", &ReleaseSpec::commit, "Of its source.");
    d.field("author", &ReleaseSpec::author, "Who wrote it: does not count for approval gates with byAuthor false.");
    d.field("artifactCreated", &ReleaseSpec::artifact_created, "When the artifact was made.");
    d.field("environment", &ReleaseSpec::environment, "Where it was first seen; absent: it was announced.");
    d.field("notes", &ReleaseSpec::notes, "Whatever who announced it said.");
  }
  bool operator==(const ReleaseSpec&) const = default;
};

enum class PromotionAction : std::uint8_t {
  Promote,
  Rollback,
  Observe,  // it is there already, brought by others: nothing is changed, the gates decide whether it goes on
};
inline auto describe_enum(PromotionAction) {
  return json::enum_names<PromotionAction>(
      {{PromotionAction::Promote, "promote"}, {PromotionAction::Rollback, "rollback"}, {PromotionAction::Observe, "observe"}});
}

/// Name: promotion_name(). Created by the controller, or by a person who promotes or rolls back by hand (the same name then).
struct PromotionSpec {
  std::string pipeline{};
  std::string environment{};
  std::string release{};  // name of the Release
  std::int64_t attempt = 1;
  PromotionAction action = PromotionAction::Promote;
  std::string comment{};
  /// It is to go on though gates of the environment failed or are not decided. Never past a person's no, or a freeze.
  bool skips_gates = false;
  std::optional<Author> by{};

  static void describe(auto& d) {
    d.doc("A release is to get into an environment.");
    d.field("pipeline", &PromotionSpec::pipeline, "The pipeline.").required().min_length(1);
    d.field("environment", &PromotionSpec::environment, "Where to.").required().min_length(1);
    d.field("release", &PromotionSpec::release, "Name of the Release.").required().min_length(1);
    d.field("attempt", &PromotionSpec::attempt, "Counts promotions of the release into the environment.")
        .minimum(1)
        .with_default();
    d.field("action", &PromotionSpec::action, "On to a newer release, back to an older one, or what is there already.")
        .with_default();
    d.field("comment", &PromotionSpec::comment, "Why.").max_length(1024);
    d.field("skipGates", &PromotionSpec::skips_gates, "Gates are not asked; approvals, holds and freezes count.");
    d.field("by", &PromotionSpec::by, "Who asked for it; absent: the controller.");
  }
};

enum class Phase : std::uint8_t {
  Waiting,     // for gates, an approval, a hold or freeze to end, or the environment to be reachable
  Running,     // the change is being made: committed, proposed, told
  Settling,    // the change is in; the targets are not all there yet
  Succeeded,   // all targets were seen at the release, ready
  Rejected,    // a gate failed, the agent or a person went back, a person said no: remembered until lifted
  Superseded,  // a newer release came before it began
};
inline auto describe_enum(Phase) {
  return json::enum_names<Phase>({{Phase::Waiting, "Waiting"},
                                  {Phase::Running, "Running"},
                                  {Phase::Settling, "Settling"},
                                  {Phase::Succeeded, "Succeeded"},
                                  {Phase::Rejected, "Rejected"},
                                  {Phase::Superseded, "Superseded"}});
}

/// A gate of the environment in this promotion, between two questions.
struct GateRecord {
  std::string name{};
  std::string at{};  // before: it gets in; after: it leaves; soak: the environment's soak time
  std::optional<Time> since{};
  std::optional<Time> next{};  // when it is asked again
  std::int64_t tries = 0;
  std::string verdict{};
  std::string text{};
  std::vector<gate::Sample> samples{};

  static void describe(auto& d) {
    d.doc("How a gate stands.");
    d.ignore_unknown();
    d.field("name", &GateRecord::name, "Of the gate.").required();
    d.field("at", &GateRecord::at, "When it is asked.").required();
    d.field("since", &GateRecord::since, "First asked.");
    d.field("next", &GateRecord::next, "When it is asked again.");
    d.field("tries", &GateRecord::tries, "Questions so far.");
    d.field("verdict", &GateRecord::verdict, "Pass, Wait, Fail, Unknown or NoData.");
    d.field("message", &GateRecord::text, "Why.");
    d.field("samples", &GateRecord::samples, "Of a metric, oldest first.").list_type("atomic");
  }
};

/// An object of the pipeline's namespace that a promotion waits for: a Hold, a Freeze, a Promotion that runs.
struct Blocker {
  std::string kind{};
  std::string name{};

  static void describe(auto& d) {
    d.doc("An object that it waits for.");
    d.ignore_unknown();
    d.field("kind", &Blocker::kind, "Its kind.").required();
    d.field("name", &Blocker::name, "Its name.").required();
  }
  bool operator==(const Blocker&) const = default;
};

/// Reason of a promotion that waits for people.
inline constexpr std::string_view kApprovalMissing = "ApprovalMissing";

struct PromotionStatus {
  Phase phase = Phase::Waiting;
  std::string reason{};  // a row of the table cause → outcome: TargetNotReady, GateFailed, RolledBackByAgent …
  std::string text{};
  std::optional<Time> since{};      // of phase and reason
  std::optional<Time> started{};    // when Running began
  std::optional<Time> change_in{};  // when the change was in: pushed or merged
  std::optional<Time> ended{};
  std::string strategy{};      // commit, pull-request, notification, none
  std::string commit{};        // that made the change
  std::string pull_request{};  // URL
  std::string pull_request_state{};
  std::int64_t tries = 0;            // of the change, without success; resets when one succeeds
  std::vector<Blocker> waits_for{};  // where the reason is another object: `why` goes on there
  std::vector<GateRecord> gates{};
  std::vector<gate::LogEntry> verdicts{};
  bool is_notified = false;
  bool is_lifted = false;          // rejected, and then lifted by a person: it may be tried again
  std::string lifted_by{};         // the Approval that lifted it; none: the environment got there by itself
  std::optional<Time> arrived{};   // when all targets were first seen ready at the release
  std::optional<Time> next_try{};  // of a change that failed
  std::string ending{};            // why the change is being withdrawn; the phase follows once that is done
  bool is_marked_frozen = false;   // the pull request has a failing commit status, for a freeze

  static void describe(auto& d) {
    d.doc("How a promotion goes.");
    d.ignore_unknown();
    d.field("phase", &PromotionStatus::phase, "How far it is.");
    d.field("reason", &PromotionStatus::reason, "Why, as one CamelCase word.");
    d.field("message", &PromotionStatus::text, "Why, in words, and what to do.");
    d.field("since", &PromotionStatus::since, "Since when.");
    d.field("started", &PromotionStatus::started, "When the change was begun.");
    d.field("changed", &PromotionStatus::change_in, "When the change was in.");
    d.field("ended", &PromotionStatus::ended, "When it ended.");
    d.field("strategy", &PromotionStatus::strategy, "How the change is made.");
    d.field("commit", &PromotionStatus::commit, "The commit that made it.");
    d.field("pullRequest", &PromotionStatus::pull_request, "Where it is proposed.");
    d.field("pullRequestState", &PromotionStatus::pull_request_state, "open, merged or closed.");
    d.field("tries", &PromotionStatus::tries, "Failed tries in a row.");
    d.field("waitsFor", &PromotionStatus::waits_for, "Objects that it waits for.").list_type("atomic");
    d.field("gates", &PromotionStatus::gates, "How its gates stand.").list_type("atomic");
    d.field("verdicts", &PromotionStatus::verdicts, "What gates said, the newest last.").list_type("atomic");
    d.field("notified", &PromotionStatus::is_notified, "The event was recorded.");
    d.field("lifted", &PromotionStatus::is_lifted, "The rejection was lifted; the release may be tried again.");
    d.field("liftedBy", &PromotionStatus::lifted_by, "The Approval that lifted it; absent: it got there by itself.");
    d.field("arrived", &PromotionStatus::arrived, "When all targets were first seen ready at the release.");
    d.field("nextTry", &PromotionStatus::next_try, "When a change that failed is tried again.");
    d.field("ending", &PromotionStatus::ending, "Why the change is being withdrawn.");
    d.field("markedFrozen", &PromotionStatus::is_marked_frozen, "The pull request has a failing commit status for a freeze.");
  }
};

/// What a person said of a release on its way into an environment. Immutable; deleting it takes it back.
struct ApprovalSpec {
  std::string pipeline{};
  std::string environment{};
  std::string release{};
  std::string gate{};  // name of the approval gate; empty: of `manual`, and of all approval gates
  std::string decision = "approve";
  std::string comment{};
  std::optional<Author> by{};

  static void describe(auto& d) {
    d.doc("What a person said of a release on its way into an environment.");
    d.field("pipeline", &ApprovalSpec::pipeline, "The pipeline.").required().min_length(1);
    d.field("environment", &ApprovalSpec::environment, "The environment.").required().min_length(1);
    d.field("release", &ApprovalSpec::release, "Name of the Release.").required().min_length(1);
    d.field("gate", &ApprovalSpec::gate, "The gate it is about; absent: all of the environment.");
    d.field("decision", &ApprovalSpec::decision, "What was said; `lift` takes a rejection away.")
        .one_of({"approve", "reject", "lift"})
        .with_default();
    d.field("comment", &ApprovalSpec::comment, "Why.").max_length(1024);
    d.field("by", &ApprovalSpec::by, "Who said it; set by the server.");
  }
};

/// What a pipeline delivers into, as a Freeze or a Hold binds it.
struct FrozenTarget {
  std::string ns{};
  std::string cluster{};  // "NAMESPACE/NAME" of the GitopsCluster; empty: the pipeline's own cluster

  static void describe(auto& d) {
    d.doc("A namespace of a cluster.");
    d.field("namespace", &FrozenTarget::ns, "The namespace.").required().min_length(1);
    d.field("cluster", &FrozenTarget::cluster, "NAMESPACE/NAME of the GitopsCluster; absent: the pipeline's own cluster.");
  }
  auto operator<=>(const FrozenTarget&) const = default;
};

inline constexpr std::size_t kMaxFrozenTargets = 1000;

/// Stops new promotions into these environments until the Hold is deleted or ends. Running promotions continue. Admission
/// records the targets, so neither renaming an environment nor using another pipeline of the namespace bypasses the Hold.
struct HoldSpec {
  std::string pipeline{};
  std::vector<std::string> environments{};  // none: all; that is a pause
  std::string app{};                        // "KIND/NAME" of what the pipeline delivers
  std::vector<FrozenTarget> targets{};      // of the environments, when it was written
  std::string comment{};
  std::optional<Time> until{};
  std::optional<Author> by{};

  static void describe(auto& d) {
    d.doc("Nothing is promoted into these environments.");
    d.field("pipeline", &HoldSpec::pipeline, "The pipeline.").required().min_length(1);
    d.field("environments", &HoldSpec::environments, "Which; none: all.").list_type("set");
    d.field("app", &HoldSpec::app, "KIND/NAME of what the pipeline delivers; set by the server.");
    d.field("targets", &HoldSpec::targets,
            "Targets of the environments; set by the server. Every pipeline of the namespace that delivers `app` into one is "
            "held. "
            "At most 1000.")
        .list_type("atomic")
        .max_items(kMaxFrozenTargets);
    d.field("comment", &HoldSpec::comment, "Why.").max_length(1024);
    d.field("until", &HoldSpec::until, "When it ends by itself.");
    d.field("by", &HoldSpec::by, "Who asked for it; set by the server.");
  }
};

/// Nothing is promoted while it is in force: within its window, or always when it has none. One that names pipelines or
/// environments binds the targets they deliver into, so a rename does not bypass it: admission records the targets of
/// `pipelines` in `targets`, and the promotion controller records those of everything that it binds by name in
/// `recordedTargets`. In the namespace vela-system it binds the pipelines of all namespaces.
struct FreezeSpec {
  std::vector<std::string> pipelines{};     // none: all of the namespace
  std::vector<std::string> environments{};  // none: all
  std::vector<FrozenTarget> targets{};      // of the named pipelines; every pipeline that delivers into one is bound
  std::vector<FrozenTarget> recorded{};     // that were bound by a name; every pipeline that delivers into one is bound
  std::map<std::string, std::string> cluster_labels{};  // environments with a target in such a cluster; none: any
  std::optional<gate::WindowGate> window{};             // its `freeze` is true whatever is written
  std::optional<Time> from{};
  std::optional<Time> until{};
  std::string comment{};
  std::optional<Author> by{};

  static void describe(auto& d) {
    d.doc("Nothing is promoted while it is in force.");
    d.field("pipelines", &FreezeSpec::pipelines, "Which; none: all of the namespace.").list_type("set");
    d.field("environments", &FreezeSpec::environments, "Which; none: all.").list_type("set");
    d.field("targets", &FreezeSpec::targets,
            "Promotions into these are bound whatever their pipeline is called. Filled in with the targets of `pipelines`; at "
            "most "
            "1000.")
        .list_type("atomic")
        .max_items(kMaxFrozenTargets);
    d.field(
         "recordedTargets", &FreezeSpec::recorded,
         "Targets of the environments that it binds by name; set by the server. Promotions into these are bound whatever their "
         "pipeline and environment are called. At most 1000; reset when pipelines, environments or clusterLabels change.")
        .list_type("atomic")
        .max_items(kMaxFrozenTargets);
    d.field("clusterLabels", &FreezeSpec::cluster_labels, "Only environments with a target in such a cluster.");
    d.field("window", &FreezeSpec::window, "When it is in force, again and again.");
    d.field("from", &FreezeSpec::from, "From when on it is in force.");
    d.field("until", &FreezeSpec::until, "Until when.");
    d.field("comment", &FreezeSpec::comment, "Why.").max_length(1024);
    d.field("by", &FreezeSpec::by, "Who asked for it; set by the server.");
  }
};

/// The spec of a Freeze (or of any other kind) without `recordedTargets`: what is equal but for those says the same.
json::Value without_recorded_targets(const json::Value& spec);

/// One thing that happened or was decided. `hash` covers it and the hash before.
struct DeliveryEntry {
  Time at{};
  std::string
      what{};  // observed, departed, released, promoted, succeeded, rejected, superseded, approved, refused, lifted, held …
  std::string environment{};
  std::string release{};
  std::string version{};
  std::string digest{};
  std::string before{};  // the version that was there
  std::string by{};
  std::string text{};
  std::string key{};                       // of what it tells, so that it is told once: "Promotion/NAME/Succeeded"
  std::optional<Time> artifact_created{};  // of `released`: lead times are known when the Release is gone
  std::string hash{};

  static void describe(auto& d) {
    d.doc("Something that happened, or was decided.");
    d.ignore_unknown();
    d.field("at", &DeliveryEntry::at, "When.").required();
    d.field("what", &DeliveryEntry::what, "What.").required();
    d.field("environment", &DeliveryEntry::environment, "Where.");
    d.field("release", &DeliveryEntry::release, "Of which Release.");
    d.field("version", &DeliveryEntry::version, "Which version.");
    d.field("digest", &DeliveryEntry::digest, "Of its content.");
    d.field("before", &DeliveryEntry::before, "The version that was there.");
    d.field("by", &DeliveryEntry::by, "Who.");
    d.field("text", &DeliveryEntry::text, "Why.");
    d.field("key", &DeliveryEntry::key, "Of what it tells.");
    d.field("artifactCreated", &DeliveryEntry::artifact_created, "Of a release: when its artifact was made.");
    d.field("hash", &DeliveryEntry::hash, "SHA-256 over the entry and the hash before it.").required();
  }
  bool operator==(const DeliveryEntry&) const = default;
};

/// A segment of a pipeline's log, at most 64 KiB. Name: PIPELINE-UID8-NUMBER. It has no owner: it outlives the pipeline.
struct DeliveryLogSpec {
  std::string pipeline{};
  std::string pipeline_uid{};
  std::int64_t segment = 0;
  std::string previous{};  // the last hash of the segment before
  std::vector<DeliveryEntry> entries{};

  static void describe(auto& d) {
    d.doc("What happened in a pipeline, in order; each entry is chained to the one before.");
    d.field("pipeline", &DeliveryLogSpec::pipeline, "The pipeline.").required();
    d.field("pipelineUID", &DeliveryLogSpec::pipeline_uid, "Its uid.").required();
    d.field("segment", &DeliveryLogSpec::segment, "From 0.").required();
    d.field("previous", &DeliveryLogSpec::previous, "The last hash of the segment before.");
    d.field("entries", &DeliveryLogSpec::entries, "Oldest first.").list_type("atomic");
  }
};

/// "PIPELINE-HASH", a DNS label of at most 63 characters, the same for the same content, but for one that comes again after
/// releases went (retention.h).
std::string release_name(std::string_view pipeline, std::string_view pipeline_uid, const ReleaseSpec& release,
                         std::int64_t prunings = 0);
/// "PIPELINE-ENVIRONMENT-HASH" over the pipeline's uid, environment, release and attempt.
std::string promotion_name(std::string_view pipeline, std::string_view pipeline_uid, std::string_view environment,
                           std::string_view release, std::int64_t attempt);

}  // namespace slipway::delivery::pipeline
