// The status of an Application, as a described struct: field names and words are KubeVela's (core.oam.dev/v1beta1 AppStatus).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/workflow/run_status.h"
#include "json/codec.h"

namespace slipway::delivery::application {

/// lastTransitionTime moves only when the status changes.
struct AppCondition {
  std::string type;
  std::string status;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message{};

  static void describe(auto& d) {
    d.doc(
        "A condition: Parsed, Revision, Policy, Render, Workflow, Ready, Progressing, PlanApplied, StateKeep, "
        "Contested, DefinitionChanged, Deleting.");
    d.field("type", &AppCondition::type, "Which one.").required();
    d.field("status", &AppCondition::status, "True, False or Unknown.").required();
    d.field("lastTransitionTime", &AppCondition::last_transition_time, "When its status last changed.");
    d.field("reason", &AppCondition::reason, "Available, ReconcileSuccess, ReconcileError, Deleting, …").always();
    d.field("message", &AppCondition::message, "Why, in words.");
    d.ignore_unknown();
  }
};

struct WorkloadKind {
  std::string api_version;
  std::string kind;

  static void describe(auto& d) {
    d.doc("Kind of a workload.");
    d.field("apiVersion", &WorkloadKind::api_version, "API version.").always();
    d.field("kind", &WorkloadKind::kind, "Kind.").always();
  }
  bool operator==(const WorkloadKind&) const = default;
};

/// In the order of dispatch stages. A pending trait is neither healthy nor counted.
struct TraitStatus {
  std::string type;
  bool is_healthy = false;
  bool is_pending = false;
  std::string message{};
  std::map<std::string, std::string> details{};

  static void describe(auto& d) {
    d.doc("How a trait stands.");
    d.field("type", &TraitStatus::type, "Type of the trait.").always();
    d.field("healthy", &TraitStatus::is_healthy, "Its health policy holds.").always();
    d.field("pending", &TraitStatus::is_pending, "It waits for the workload's health before it is rendered.");
    d.field("message", &TraitStatus::message, "What its definition says of it.");
    d.field("details", &TraitStatus::details, "Values that its definition tells.");
    d.ignore_unknown();
  }
  bool operator==(const TraitStatus&) const = default;
};

/// One entry per name, namespace and cluster. An empty cluster is a hub that no step named, "local" one that was named.
struct ServiceStatus {
  std::string name;
  std::string ns;
  std::string cluster;
  WorkloadKind workload{};
  bool is_healthy = false;
  bool is_workload_healthy = false;
  std::string message{};
  std::map<std::string, std::string> details{};
  std::vector<TraitStatus> traits{};

  /// Its cluster does not answer: what was seen there may be so or not.
  void become_unknown(const std::string& why) {
    is_healthy = is_workload_healthy = false;
    message = "unknown: " + why;
  }
  bool is_unknown() const { return message.starts_with("unknown: "); }

  static void describe(auto& d) {
    d.doc("How a component stands in one namespace of one cluster.");
    d.field("name", &ServiceStatus::name, "Name of the component.").always();
    d.field("namespace", &ServiceStatus::ns, "Namespace it was delivered to.");
    d.field("cluster", &ServiceStatus::cluster, "Cluster it was delivered to; absent: the hub.");
    d.field("workloadDefinition", &ServiceStatus::workload, "Kind of its workload.").always();
    d.field("healthy", &ServiceStatus::is_healthy, "Its workload and its traits are healthy.").always();
    d.field("workloadHealthy", &ServiceStatus::is_workload_healthy, "Its workload is healthy.");
    d.field("message", &ServiceStatus::message, "What its definition says of it.");
    d.field("details", &ServiceStatus::details, "Values that its definition tells.");
    d.field("traits", &ServiceStatus::traits, "Its traits.").list_type("atomic");
    d.ignore_unknown();
  }
  bool operator==(const ServiceStatus&) const = default;
};

struct AppliedResource {
  std::string cluster;
  std::string api_version;
  std::string kind;
  std::string name;
  std::string ns;
  std::string creator;

  static void describe(auto& d) {
    d.doc("An object that the application made.");
    d.field("cluster", &AppliedResource::cluster, "Its cluster; absent: the hub.");
    d.field("apiVersion", &AppliedResource::api_version, "API version of the object.");
    d.field("kind", &AppliedResource::kind, "Kind of the object.");
    d.field("name", &AppliedResource::name, "Name of the object.");
    d.field("namespace", &AppliedResource::ns, "Namespace of the object.");
    d.field("creator", &AppliedResource::creator, "`workflow` or `policy`.");
    d.ignore_unknown();
  }
  auto operator<=>(const AppliedResource&) const = default;
};

/// `revision` counts from 1 and is never used again.
struct LatestRevision {
  std::string name;
  std::int64_t revision = 0;
  std::string hash;

  static void describe(auto& d) {
    d.doc("The newest ApplicationRevision.");
    d.field("name", &LatestRevision::name, "Its name.").always();
    d.field("revision", &LatestRevision::revision, "Its number.").always();
    d.field("revisionHash", &LatestRevision::hash, "Digest of what it holds.");
  }
};

/// A policy of scope Application, as it was applied last.
struct AppliedPolicy {
  std::string name;
  std::string type;
  bool is_applied = false;
  std::string message{};
  std::string source{};

  static void describe(auto& d) {
    d.doc("A policy that may change the application before it is rendered.");
    d.field("name", &AppliedPolicy::name, "Name of the policy.").always();
    d.field("type", &AppliedPolicy::type, "Its type.").always();
    d.field("applied", &AppliedPolicy::is_applied, "It has changed the application, or could have.").always();
    d.field("message", &AppliedPolicy::message, "Why it was not applied.");
    d.field("source", &AppliedPolicy::source, "\"global\": the application does not name it.");
    d.ignore_unknown();
  }
  bool operator==(const AppliedPolicy&) const = default;
};

/// Written once per reconcile; `workflow` may be written by users, too (suspend, terminated, or null to restart).
struct ApplicationStatus {
  std::vector<AppCondition> conditions;
  std::int64_t observed_generation = 0;
  std::string phase;
  std::optional<LatestRevision> latest_revision;
  std::vector<ServiceStatus> services;
  std::vector<AppliedResource> applied;
  std::optional<workflow::RunStatus> workflow;
  std::optional<Time> restart_at;
  std::vector<AppliedPolicy> policies;
  std::string policies_config_map;
  std::string rolled_back_to;

  static void describe(auto& d) {
    d.doc("How the application stands.");
    d.field("conditions", &ApplicationStatus::conditions, "Conditions, in the order of the work.").list_type("atomic");
    d.field("observedGeneration", &ApplicationStatus::observed_generation, "The generation of the spec this status is about.");
    d.field("status", &ApplicationStatus::phase,
            "Phase: starting, rendering, generatingPolicy, runningWorkflow, workflowSuspending, workflowTerminated, "
            "workflowFailed, running, unhealthy or deleting.");
    d.field("latestRevision", &ApplicationStatus::latest_revision, "The newest revision.").map_type("atomic");
    d.field("services", &ApplicationStatus::services, "The components where they were delivered.").list_type("atomic");
    d.field("appliedResources", &ApplicationStatus::applied, "What the application made.").list_type("atomic");
    d.field("workflow", &ApplicationStatus::workflow, "How the workflow stands.");
    d.field("workflowRestartScheduledAt", &ApplicationStatus::restart_at, "When the workflow is to start again.");
    d.field("appliedApplicationPolicies", &ApplicationStatus::policies, "Policies of scope Application.").list_type("atomic");
    d.field("applicationPoliciesConfigMap", &ApplicationStatus::policies_config_map,
            "ConfigMap that says what those policies made.");
    d.field("rolledBackTo", &ApplicationStatus::rolled_back_to,
            "The revision that serves: a step of type rollback has applied its objects again. They are kept so until the spec "
            "changes.");
    d.ignore_unknown();
  }
};

}  // namespace slipway::delivery::application
