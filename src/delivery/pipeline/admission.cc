#include "delivery/pipeline/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "delivery/family/key_writer.h"
#include "delivery/family/protected_status.h"
#include "delivery/gate/window.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/check.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/promote.h"
#include "delivery/pipeline/protected.h"
#include "delivery/probe/signed_call.h"
#include "json/quoted.h"

namespace slipway::delivery::pipeline {
namespace {

using json::quoted;
using json::Value;

bool is_of(const kube::Object& object, const kube::GroupVersionKind& kind) {
  return kube::refers_to(object, kind.group, kind.kind);
}

template <class Spec>
std::vector<Cause> checked(const kube::Object& object, std::vector<Cause> (*rules)(const Spec& spec)) {
  const auto spec = json::decode<Spec>(object["spec"], "spec");
  return spec ? rules(*spec) : spec.error().causes;
}

std::vector<Cause> check_freeze(const FreezeSpec& freeze) {
  std::vector<Cause> causes;
  if (freeze.from && freeze.until && *freeze.from >= *freeze.until) {
    causes.push_back(field::invalid("spec.until", quoted(to_rfc3339(*freeze.until)),
                                    fmt::format("must be after spec.from, {}", to_rfc3339(*freeze.from))));
  }
  if (!freeze.window) return causes;
  if (const auto rule = gate::Recurrence::parse(freeze.window->rrule); !rule) {
    causes.push_back(field::invalid("spec.window.rrule", quoted(freeze.window->rrule), rule.error().message));
  }
  return causes;
}

std::vector<Cause> check_log_grows(const Value& entries, const Value& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i < entries.size() && entries.item(i) == before.item(i)) continue;
    return {field::forbidden(fmt::format("spec.entries[{}]", i), "what is in the log never changes")};
  }
  return {};
}

/// Looks the references of one object up.
class References {
 public:
  References(const kube::Object& object, const kube::FindObject& find)
      : spec_(object["spec"]), ns_(kube::ns(object)), find_(find) {}

  std::vector<Cause> run(const kube::Object& object) {
    if (is_of(object, kFreezeKind)) {
      check_freeze_names();
      return std::move(causes_);
    }
    const Value pipeline = find_pipeline("spec.pipeline", spec_["pipeline"].as_string());
    if (pipeline.is_null()) return std::move(causes_);
    const auto environments = names_in(pipeline["spec"]["environments"]);
    if (is_of(object, kHoldKind)) {
      check_environments(environments);
    } else if (!is_of(object, kReleaseKind) || !spec_["environment"].as_string().empty()) {
      check_environment("spec.environment", spec_["environment"].str(), environments);
    }
    if (!is_of(object, kHoldKind) && !is_of(object, kReleaseKind)) check_release();
    if (is_of(object, kApprovalKind) && causes_.empty()) check_gate(pipeline);
    return std::move(causes_);
  }

 private:
  /// As field.NotFound, with what there is.
  void missing(const std::string& field, std::string_view value, std::string_view what_is_there) {
    Cause cause = field::not_found(field, quoted(value));
    cause.message += fmt::format(": {}", what_is_there);
    causes_.push_back(std::move(cause));
  }

  static std::vector<std::string> names_in(const Value& list) {
    std::vector<std::string> names;
    for (const Value& one : list.items()) names.push_back(one["name"].str());
    return names;
  }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  Value find_pipeline(const std::string& field, std::string_view name) {
    Value found = find_(kPipelines, ns_, name);
    if (found.is_null()) missing(field, name, fmt::format("namespace {} has no such pipeline", quoted(ns_)));
    return found;
  }

  void check_environment(const std::string& field, const std::string& name, const std::vector<std::string>& known) {
    if (contains(known, name)) return;
    missing(field, name, fmt::format("the pipeline has {}", fmt::join(known, ", ")));
  }

  void check_environments(const std::vector<std::string>& known) {
    for (std::size_t i = 0; i < spec_["environments"].size(); ++i) {
      check_environment(fmt::format("spec.environments[{}]", i), spec_["environments"].item(i).str(), known);
    }
  }

  void check_release() {
    const std::string_view pipeline = spec_["pipeline"].as_string();
    const std::string_view name = spec_["release"].as_string();
    const Value release = find_(kReleases, ns_, name);
    if (release.is_null()) {
      missing("spec.release", name,
              fmt::format("`slipway pipeline status {} -n {}` shows the releases there are", pipeline, ns_));
    } else if (release["spec"]["pipeline"].as_string() != pipeline) {
      causes_.push_back(
          field::invalid("spec.release", quoted(name),
                         fmt::format("is a release of pipeline {}", quoted(release["spec"]["pipeline"].as_string()))));
    }
  }

  /// A name of an approval gate of the environment.
  void check_gate(const Value& pipeline) {
    const std::string gate = spec_["gate"].str();
    if (gate.empty()) return;
    for (const Value& environment : pipeline["spec"]["environments"].items()) {
      if (environment["name"] != spec_["environment"]) continue;
      std::vector<std::string> known;
      for (const Value& one : environment["gates"].items()) {
        if (one.has("approval")) known.push_back(one["name"].str());
      }
      if (contains(known, gate)) return;
      missing("spec.gate", gate,
              known.empty() ? std::string("the environment has no approval gates: leave it out to approve the promotion itself")
                            : fmt::format("the approval gates of the environment are {}", fmt::join(known, ", ")));
    }
  }

  /// Its environments must be somewhere in the pipelines that it names; without names they may come later.
  void check_freeze_names() {
    if (ns_ == kFreezesForAll) return;  // its pipelines may be of any namespace
    std::vector<std::string> known;
    for (std::size_t i = 0; i < spec_["pipelines"].size(); ++i) {
      const Value pipeline = find_pipeline(fmt::format("spec.pipelines[{}]", i), spec_["pipelines"].item(i).as_string());
      std::ranges::move(names_in(pipeline["spec"]["environments"]), std::back_inserter(known));
    }
    if (!spec_["pipelines"].empty() && causes_.empty()) check_environments(known);
  }

  const Value& spec_;
  std::string ns_;
  const kube::FindObject& find_;
  std::vector<Cause> causes_{};
};

bool is_unchanged(const kube::Object& object, const kube::Object& old) {
  return kube::is_deleting(object) ||
         (!old.is_null() && without_recorded_targets(object["spec"]) == without_recorded_targets(old["spec"]));
}

std::vector<Cause> check_pipeline(const kube::Object& object) {
  const auto spec = json::decode<PipelineSpec>(object["spec"], "spec");
  return spec ? check(*spec, kube::ns(object)) : spec.error().causes;
}

/// Adds the targets of these environments, of all where none is named.
void add_targets(const PipelineSpec& spec, const std::vector<std::string>& environments, std::string_view ns,
                 std::set<FrozenTarget>& targets) {
  for (const Environment& environment : spec.environments) {
    const bool is_meant = environments.empty() || std::ranges::find(environments, environment.name) != environments.end();
    for (const Target& target : environment.targets) {
      if (is_meant && targets.size() < kMaxFrozenTargets) targets.insert(frozen_target(target, ns));
    }
  }
}

Value list_of(const std::set<FrozenTarget>& targets) {
  json::ArrayBuilder list;
  for (const FrozenTarget& one : targets) list.add(json::encode(one));
  return list.build();
}

/// With the targets of the pipelines that it names, so that it binds by what they deliver.
kube::Object with_frozen_targets(const kube::Object& freeze, const kube::Object& old, const kube::FindObject& find) {
  const Value& spec = freeze["spec"];
  if (spec["pipelines"].empty() || is_unchanged(freeze, old)) return freeze;
  const auto read = json::decode<FreezeSpec>(spec, "spec", {.allow_unknown = true});
  if (!read) return freeze;  // it will be refused
  std::set<FrozenTarget> targets(read->targets.begin(), read->targets.end());
  for (const std::string& name : read->pipelines) {
    const kube::Object pipeline = find(kPipelines, kube::ns(freeze), name);
    const auto of = json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true});
    if (!pipeline.is_null() && of) add_targets(*of, read->environments, kube::ns(freeze), targets);
  }
  return freeze.with_path({"spec", "targets"}, list_of(targets));
}

kube::Object with_spec_member(const kube::Object& object, const char* name, const Value& value) {
  if (object["spec"][name] == value) return object;
  return value.is_null() ? object.without_path({"spec", name}) : object.with_path({"spec", name}, value);
}

/// With what it holds, as it was when the Hold was written: the pipeline may change meanwhile.
kube::Object with_held_targets(const kube::Object& hold, const kube::Object& old, const kube::FindObject& find) {
  const auto read = json::decode<HoldSpec>(hold["spec"], "spec", {.allow_unknown = true});
  if (!read) return hold;  // it will be refused
  const auto is_same = [&](const char* name) { return hold["spec"][name] == old["spec"][name]; };
  const kube::Object pipeline = find(kPipelines, kube::ns(hold), read->pipeline);
  const auto of = json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true});
  const bool is_known = !pipeline.is_null() && of.has_value();
  if (!old.is_null() && (!is_known || (is_same("pipeline") && is_same("environments")))) {
    return with_spec_member(with_spec_member(hold, "app", old["spec"]["app"]), "targets", old["spec"]["targets"]);
  }
  if (!is_known) return hold;  // check_references() refuses it
  std::set<FrozenTarget> targets;
  add_targets(*of, read->environments, kube::ns(hold), targets);
  const kube::Object with_app = with_spec_member(hold, "app", app_text(of->app));
  return with_spec_member(with_app, "targets", targets.empty() ? Value() : list_of(targets));
}

/// What was recorded stays while the Freeze names the same; users write none of it.
kube::Object stamp_freeze(const kube::Object& freeze, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return freeze;
  const auto is_same = [&](const char* name) { return freeze["spec"][name] == old["spec"][name]; };
  const bool names_same = !old.is_null() && is_same("pipelines") && is_same("environments") && is_same("clusterLabels");
  const Value recorded = names_same ? old["spec"]["recordedTargets"] : Value();
  return stamp_author(with_spec_member(freeze, "recordedTargets", recorded), old, asker);
}

std::vector<Cause> check_protected(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return check_protection(protections(), object, old, asker);
}

/// Approvals by signed calls count while this user may create them (hooks.cc).
kube::Object stamp_secret(const kube::Object& secret, const kube::Object& old, const kube::Asker& asker) {
  return record_key_writer(secret, old, asker, probe::kCallKey);
}

}  // namespace

std::vector<Cause> validate(const kube::Object& object, const kube::Object& old) {
  if (is_unchanged(object, old)) return {};
  if (is_of(object, kPipelineKind)) return check_pipeline(object);
  if (is_of(object, kGitopsClusterKind)) return checked<GitopsClusterSpec>(object, check);
  if (is_of(object, kFreezeKind)) return checked<FreezeSpec>(object, check_freeze);
  if (is_of(object, kDeliveryLogKind)) return check_log_grows(object["spec"]["entries"], old["spec"]["entries"]);
  return {};
}

kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return object;
  const bool is_same = !old.is_null() && object["spec"].without("by") == old["spec"].without("by");
  if (is_same) {
    const Value& before = old["spec"]["by"];
    return before.is_null() ? object.without_path({"spec", "by"}) : object.with_path({"spec", "by"}, before);
  }
  const Author author{.user = asker.user->name, .groups = asker.user->groups, .time = asker.now};
  return object.with_path({"spec", "by"}, json::encode(author));
}

std::vector<Cause> check_references(const kube::Object& object, const kube::Object& old, const kube::FindObject& find) {
  if (is_unchanged(object, old)) return {};
  return References(object, find).run(object);
}

std::vector<kube::AdmissionRow> admission_rows() {
  std::vector<kube::AdmissionRow> rows;
  for (const kube::GroupVersionKind& kind : {kPipelineKind, kGitopsClusterKind}) {
    rows.push_back({.group = kind.group,
                    .kind = kind.kind,
                    .mutate = {},
                    .validate = validate,
                    .mutate_for = stamp_identity,
                    .validate_for = check_protected,
                    .stamp_status = keep_status});
  }
  rows.push_back({.group = kDeliveryLogKind.group, .kind = kDeliveryLogKind.kind, .mutate = {}, .validate = validate});
  rows.push_back({.group = kReleaseKind.group,
                  .kind = kReleaseKind.kind,
                  .mutate = {},
                  .validate = {},
                  .validate_around = check_references});
  for (const kube::GroupVersionKind& kind : {kPromotionKind, kApprovalKind, kHoldKind, kFreezeKind}) {
    rows.push_back({.group = kind.group,
                    .kind = kind.kind,
                    .mutate = {},
                    .validate = validate,
                    .mutate_around = kind.kind == kFreezeKind.kind ? with_frozen_targets
                                     : kind.kind == kHoldKind.kind ? with_held_targets
                                                                   : nullptr,
                    .mutate_for = kind.kind == kFreezeKind.kind ? stamp_freeze : stamp_author,
                    .validate_around = check_references,
                    .stamp_status = keep_status});
  }
  rows.push_back({.group = "", .kind = "Secret", .mutate = {}, .validate = {}, .mutate_for = stamp_secret});
  return rows;
}

}  // namespace slipway::delivery::pipeline
