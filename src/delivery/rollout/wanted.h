// What a rollout of each kind comes to: which workload takes the place of which, and under what plan. A RolloutTrait refers to
// workloads that are there. The others name revisions, whose workloads the rollout makes (pass_make.cc): a Rollout names
// ControllerRevisions, whose `data` is the workload; an AppRollout names revisions of an application, whose rendered objects
// stand in a ConfigMap of the revision's name (a JSON list per component, the workload first; `<component>.gz` is gzip).
// A kind that takes turns by size has a workload per revision, `<component>-<revision without the application's name>` or named
// as the ControllerRevision; a kind that is updated in place has the component's name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/family/handover.h"
#include "delivery/rollout/spec.h"
#include "delivery/rollout/status.h"
#include "delivery/rollout/workload_cache.h"

namespace slipway::delivery::rollout {

/// A component of a revision, as it was recorded.
struct Revision {
  std::string component;
  json::Value workload;
  std::vector<json::Value> others{};      // its Services and so on
  std::vector<json::Value> owners{};      // owner references for what is made of it: it goes when these have gone
  bool is_as_rendered = true;             // false: a user has written the content (delivery/family/rendered_mark.h)
  std::vector<kube::UserInfo> authors{};  // of the content; empty: nothing is recorded
  std::string holdings_kind{};            // kHoldingsKind (delivery/family/handover.h)
};
/// `component` may be empty when there is one only. Invalid when it has not been rendered or has no workload.
Result<Revision> read_rendered(const kube::Object& config_map, const std::string& component);
Result<Revision> read_recorded(const kube::Object& controller_revision, const std::string& component);

struct Wanted {
  ObjectReference target;
  std::vector<ObjectReference> sources;  // oldest first
  RolloutPlan plan;
  std::string target_name;  // status.lastTargetRevision
  std::string source_name;
  json::Value application{};  // of a revision of one: what it belongs to, an owner reference
  // Of revisions only.
  json::Value workload{};                     // the target under its name; null: it is there, or how it was is not known
  std::vector<json::Value> others{};          // are made before it
  std::vector<json::Value> scalers{};         // are made at the end: what has a scaleTargetRef
  std::vector<json::Value> source_scalers{};  // are away meanwhile
  std::optional<std::int64_t> size{};         // that the revision declares
  std::string component{};
  std::string app_name{};  // of the application whose revision it is; empty: no application's
  std::string app_uid{};
  std::string holdings_kind{};            // as Revision has it
  bool is_as_rendered = true;             // false: what is applied stays in the namespace (Revision::is_as_rendered)
  std::vector<kube::UserInfo> authors{};  // who had a say in what is applied
  bool is_gone = false;                   // the revision: its record has been deleted
};

/// What was read from a spec; it holds as long as the generation does.
struct SpecRead {
  std::int64_t generation = -1;
  bool is_sound = false;        // it has no fault
  std::optional<Wanted> wants;  // of a RolloutTrait, whose spec says all
};

struct WantedTools {
  client::Client& client;  // learns which kinds are served
  client::Client& author;  // reads what the spec names
  WorkloadCache& workloads;
  ActsAs acts_as;
  std::map<std::string, Revision>& read;  // by name: they never change
  SpecRead& spec;                         // of this rollout, from the look before
};
/// Invalid when the spec does not fit; NotFound when a revision is not there (yet).
Task<Result<Wanted>> find_wanted(WantedTools tools, kube::Object rollout, RolloutStatus status);

}  // namespace slipway::delivery::rollout
