// The status of a Pipeline: what runs where, as Weave's clients know it (environments by name, waitingApproval, targets with
// clusterAppRef, ready, revision, error), with our fields beside: the four values of each target, its state, and how many
// targets of an environment run which version. Written by the view alone (view_controller.h), at most once a second; whoever
// promotes reads it as any client does. Above kMostTargetsShown targets of a pipeline only those are listed that are not
// settled at the environment's version; the counts are always of all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/pipeline/spec.h"
#include "delivery/pipeline/values.h"
#include "json/codec.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

inline constexpr std::size_t kMostTargetsShown = 200;

/// The application object of a target.
struct ClusterAppRef {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::optional<ClusterRef> cluster{};

  static void describe(auto& d) {
    d.doc("The application object of a target.");
    d.ignore_unknown();
    d.field("apiVersion", &ClusterAppRef::api_version, "The API version it was found in.");
    d.field("kind", &ClusterAppRef::kind, "Its kind.");
    d.field("name", &ClusterAppRef::name, "Its name.");
    d.field("clusterRef", &ClusterAppRef::cluster, "Its cluster; absent: the pipeline's own.");
  }
  bool operator==(const ClusterAppRef&) const = default;
};

struct VersionStatus {
  std::string text{};
  std::string digest{};
  std::optional<Time> time{};

  static void describe(auto& d) {
    d.doc("A version, the digest of its content where that is known, and since when.");
    d.ignore_unknown();
    d.field("version", &VersionStatus::text, "As the agent writes it.");
    d.field("digest", &VersionStatus::digest, "Of its content.");
    d.field("time", &VersionStatus::time, "Since when.");
  }
  bool operator==(const VersionStatus&) const = default;
};

struct TargetStatus {
  ClusterAppRef app{};
  std::string ns{};
  std::string chart{};     // its name, where the application is a release of one
  bool is_ready = false;   // at `revision`
  std::string revision{};  // that runs
  std::string error{};     // why it is not known what runs there
  State state = State::Absent;
  std::string text{};  // why, when not settled
  std::optional<Time> since{};
  VersionStatus specified{};
  VersionStatus attempted{};
  VersionStatus running{};
  std::vector<std::string> images{};  // "web:1.0.0@sha256:…"
  bool is_drifted = false;
  std::vector<std::string> related{};  // "HelmChart podinfo/podinfo-podinfo"

  static void describe(auto& d) {
    d.doc("One target: what is asked for, what was tried, what runs.");
    d.ignore_unknown();
    d.field("clusterAppRef", &TargetStatus::app, "The application object.");
    d.field("namespace", &TargetStatus::ns, "Where it is.");
    d.field("chart", &TargetStatus::chart, "Name of the chart that the application releases; absent for other applications.");
    d.field("ready", &TargetStatus::is_ready, "All pods of `revision` are ready, and nothing else is asked for.");
    d.field("revision", &TargetStatus::revision, "The version that runs.");
    d.field("error", &TargetStatus::error, "Why it is not known what runs.");
    d.field("state", &TargetStatus::state, "What the values below add up to.");
    d.field("message", &TargetStatus::text, "Why it is not settled.");
    d.field("since", &TargetStatus::since,
            "Since when it is in that state at `revision`: never before that version began to run.");
    d.field("specified", &TargetStatus::specified, "The version, or range, that is asked for.");
    d.field("attempted", &TargetStatus::attempted, "The version that was tried last.");
    d.field("running", &TargetStatus::running, "The version that runs.");
    d.field("images", &TargetStatus::images, "The images that run, with their digests.").list_type("atomic");
    d.field("drifted", &TargetStatus::is_drifted, "Objects are not as they were released.");
    d.field("related", &TargetStatus::related, "Flux objects around it: source, chart, owner.").list_type("atomic");
  }
  bool operator==(const TargetStatus&) const = default;
};

struct WaitingApproval {
  std::string revision{};

  static void describe(auto& d) {
    d.doc("A version that somebody has to approve.");
    d.ignore_unknown();
    d.field("revision", &WaitingApproval::revision, "The version.").required();
  }
  bool operator==(const WaitingApproval&) const = default;
};

/// The newest promotion into an environment, in short; copied from its object.
struct PromotionSummary {
  std::string name{};
  std::string release{};
  std::string version{};
  std::string phase{};
  std::string reason{};
  std::string text{};
  std::string pull_request{};  // URL
  std::optional<Time> since{};

  static void describe(auto& d) {
    d.doc("The newest promotion into the environment.");
    d.ignore_unknown();
    d.field("name", &PromotionSummary::name, "Of the Promotion.");
    d.field("release", &PromotionSummary::release, "Of the Release.");
    d.field("version", &PromotionSummary::version, "The version.");
    d.field("phase", &PromotionSummary::phase, "How far it is.");
    d.field("reason", &PromotionSummary::reason, "Why, as one CamelCase word.");
    d.field("message", &PromotionSummary::text, "Why, in words.");
    d.field("pullRequest", &PromotionSummary::pull_request, "Where it is proposed.");
    d.field("since", &PromotionSummary::since, "Since when.");
  }
  bool operator==(const PromotionSummary&) const = default;
};

struct EnvironmentStatus {
  std::optional<WaitingApproval> waiting_approval{};
  std::vector<TargetStatus> targets{};
  /// Absent unless all targets are settled at one version and one digest.
  std::optional<VersionStatus> version{};
  std::int64_t target_count = 0;
  std::int64_t ready_count = 0;
  std::map<std::string, std::int64_t> states{};    // targets by state: {"settled": 19, "unreachable": 1}
  std::map<std::string, std::int64_t> versions{};  // targets by the version that runs; "" where none is known
  std::string chart{};                             // that all targets release; empty: none, or several
  std::optional<PromotionSummary> promotion{};

  static void describe(auto& d) {
    d.doc("What runs in an environment.");
    d.ignore_unknown();
    d.field("waitingApproval", &EnvironmentStatus::waiting_approval, "What somebody has to approve.");
    d.field("targets", &EnvironmentStatus::targets, "Its targets, of many only those apart.").list_type("atomic");
    d.field("version", &EnvironmentStatus::version, "What all targets run, ready; absent while they differ.");
    d.field("targetCount", &EnvironmentStatus::target_count, "How many targets there are.");
    d.field("readyCount", &EnvironmentStatus::ready_count, "How many of them are ready.");
    d.field("states", &EnvironmentStatus::states, "How many targets are in each state.");
    d.field("versions", &EnvironmentStatus::versions, "How many targets run each version.");
    d.field("chart", &EnvironmentStatus::chart, "Name of the chart that all its targets release.");
    d.field("promotion", &EnvironmentStatus::promotion, "The newest promotion into it.");
  }
  bool operator==(const EnvironmentStatus&) const = default;
};

/// Something that is wrong around a pipeline and stops nothing: an annotation that leads nowhere, a target without one.
struct Problem {
  std::string kind{};    // DanglingEnvironment, NotATarget, MissingNamespace, NoAccess …
  std::string object{};  // "HelmRelease default/dev:podinfo/podinfo"
  std::string text{};

  static void describe(auto& d) {
    d.doc("Something that is wrong around the pipeline.");
    d.ignore_unknown();
    d.field("kind", &Problem::kind, "What kind of problem.").required();
    d.field("object", &Problem::object, "What it is about.");
    d.field("message", &Problem::text, "What is wrong, and what to do.");
  }
  bool operator==(const Problem&) const = default;
};

/// What makes a new version come into the first environments, and when it last did.
struct Trigger {
  std::string kind{};    // VersionRange, ImagePolicy, Alert, Provider, Hook
  std::string object{};  // which one, and in which cluster
  std::string text{};    // ">=6.0.0 of HelmRepository podinfo/podinfo"
  std::optional<Time> last{};

  static void describe(auto& d) {
    d.doc("What brings new versions, or tells of them.");
    d.ignore_unknown();
    d.field("kind", &Trigger::kind, "What kind of trigger.").required();
    d.field("object", &Trigger::object, "Which one.");
    d.field("message", &Trigger::text, "What it does.");
    d.field("last", &Trigger::last, "When it last did.");
  }
  bool operator==(const Trigger&) const = default;
};

/// lastTransitionTime moves only when the status changes; control::observed_status writes it.
struct PipelineCondition {
  std::string type{};
  std::string status{};
  std::optional<Time> last_transition_time{};
  std::string reason{};
  std::string message{};
  std::int64_t observed_generation = 0;

  static void describe(auto& d) {
    d.doc("A condition.");
    d.ignore_unknown();
    d.field("type", &PipelineCondition::type, "Which one.").required();
    d.field("status", &PipelineCondition::status, "True, False or Unknown.").required();
    d.field("lastTransitionTime", &PipelineCondition::last_transition_time, "When its status last changed.");
    d.field("reason", &PipelineCondition::reason, "Why, as one CamelCase word.");
    d.field("message", &PipelineCondition::message, "Why, in words.");
    d.field("observedGeneration", &PipelineCondition::observed_generation, "The generation that it speaks of.");
  }
  bool operator==(const PipelineCondition&) const = default;
};

struct PipelineStatus {
  std::int64_t observed_generation = -1;
  std::vector<PipelineCondition> conditions{};  // Ready, PromotionPending
  std::map<std::string, EnvironmentStatus> environments{};
  std::vector<Problem> problems{};
  std::vector<Trigger> triggers{};
  std::int64_t left_out = 0;  // settled targets that are not listed
  std::string line{};         // "dev 1.2.0 → staging 1.1.0 → prod 1.1.0", for kubectl's table

  static void describe(auto& d) {
    d.doc("What runs where.");
    d.ignore_unknown();
    d.field("observedGeneration", &PipelineStatus::observed_generation, "The generation that this is about.");
    d.field("conditions", &PipelineStatus::conditions, "Ready: all targets could be read. PromotionPending: why not further.")
        .list_type("map", {"type"});
    d.field("environments", &PipelineStatus::environments, "By name.");
    d.field("problems", &PipelineStatus::problems, "What is wrong and stops nothing.").list_type("atomic");
    d.field("triggers", &PipelineStatus::triggers, "What brings new versions.").list_type("atomic");
    d.field("targetsLeftOut", &PipelineStatus::left_out, "Settled targets that are not listed.");
    d.field("line", &PipelineStatus::line, "The version of each environment, in a line.");
  }
  bool operator==(const PipelineStatus&) const = default;
};

/// A release that an agent keeps in a connected cluster, of a pipeline or not.
struct ReleaseStatus {
  std::string ns{};
  std::string name{};
  std::string chart{};
  std::string version{};
  std::string digest{};
  bool is_ready = false;
  std::string pipeline{};  // "namespace/name", as annotated
  std::string environment{};

  static void describe(auto& d) {
    d.doc("A release in the cluster.");
    d.ignore_unknown();
    d.field("namespace", &ReleaseStatus::ns, "Namespace of the release's object.").required();
    d.field("name", &ReleaseStatus::name, "Name of the release's object.").required();
    d.field("chart", &ReleaseStatus::chart, "Name of the chart.");
    d.field("version", &ReleaseStatus::version, "Version of the chart that runs, as the agent says; absent: none yet.");
    d.field("digest", &ReleaseStatus::digest, "Digest of the chart, where the agent says it.");
    d.field("ready", &ReleaseStatus::is_ready, "The agent says that the release is ready.");
    d.field("pipeline", &ReleaseStatus::pipeline, "Pipeline that the release is annotated with, as namespace and name.");
    d.field("environment", &ReleaseStatus::environment, "Environment that the release is annotated with.");
  }
  bool operator==(const ReleaseStatus&) const = default;
};

/// Entries of GitopsClusterStatus::releases and problems.
inline constexpr std::size_t kMaxReleases = 500;
inline constexpr std::size_t kMaxClusterProblems = 100;

struct GitopsClusterStatus {
  std::vector<PipelineCondition> conditions{};  // Ready, ClusterConnectivity
  std::vector<ReleaseStatus> releases{};        // by namespace and name
  std::int64_t releases_left_out = 0;
  std::vector<Problem> problems{};

  static void describe(auto& d) {
    d.doc("Whether the cluster can be reached.");
    d.ignore_unknown();
    d.field("conditions", &GitopsClusterStatus::conditions,
            "Ready: there is a kubeconfig. ClusterConnectivity: the cluster answers.")
        .list_type("map", {"type"});
    d.field("releases", &GitopsClusterStatus::releases, "All Helm releases that Flux keeps in the cluster, the first 500.")
        .list_type("atomic");
    d.field("releasesLeftOut", &GitopsClusterStatus::releases_left_out, "Releases beyond those listed.");
    d.field("problems", &GitopsClusterStatus::problems,
            "Workloads of the cluster that are annotated with a Pipeline that does not exist, the first 100.")
        .list_type("atomic");
  }
  bool operator==(const GitopsClusterStatus&) const = default;
};

}  // namespace slipway::delivery::pipeline
