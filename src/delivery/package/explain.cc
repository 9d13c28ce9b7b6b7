#include "delivery/package/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "delivery/package/approval.h"
#include "delivery/package/auto_propose.h"
#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "delivery/package/readiness.h"
#include "delivery/package/repository_status.h"
#include "delivery/package/show.h"

namespace slipway::delivery::package {
namespace {

using control::Wait;
using json::Value;

Value reference(const kube::GroupVersionKind& kind, std::string_view ns, std::string_view name) {
  return json::object(
      {{"apiVersion", Value(kind.api_version())}, {"kind", Value(kind.kind)}, {"namespace", Value(ns)}, {"name", Value(name)}});
}

/// "variant:edge" is the PackageVariant edge.
Value object_of_source(std::string_view source, std::string_view ns) {
  const std::size_t colon = source.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view name = source.substr(colon + 1);
  const std::string_view what = source.substr(0, colon);
  if (what == "variant") return reference(kVariantKind, ns, name);
  if (what == "rollout") return reference(kRolloutKind, ns, name);
  if (what == "policy") return reference(kApprovalPolicyKind, ns, name);
  return {};
}

std::string sources_text(const std::vector<std::string>& sources) {
  return sources.empty() ? "the package asks for it" : fmt::format("asked for by {}", joined(sources, ", "));
}

/// The gate as a part of its revision.
Wait gate_wait(const ShownRevision& revision, const Unmet& gate) {
  return {.on = fmt::format("gate {}", gate.type),
          .reason = "GateUnmet",
          .message = sources_text(gate.sources),
          .since = {},
          .next = kube::reference_to(revision.object),
          .part = gate.type};
}

/// What the gate's condition says, who has to see to it, and which object that is about.
std::vector<Wait> condition_waits(const ShownRevision& revision, const Unmet& gate, const control::View& view) {
  const std::string_view ns = kube::ns(revision.object);
  const Condition* condition = find(revision.status.conditions, gate.type);
  Value next = object_of_condition(gate.type);
  if (!next.is_null()) next = next.with("namespace", ns);
  if (next.is_null() || view.find(next).is_null()) {
    next = {};
    for (const std::string& source : gate.sources) {
      const Value asks = object_of_source(source, ns);
      if (!asks.is_null() && !view.find(asks).is_null()) next = asks;
    }
  }
  const std::string who = gate.owner.empty() ? std::string("whoever knows it") : gate.owner;
  Wait made{.on = fmt::format("condition {} of {}", gate.type, who),
            .reason = gate.status ? gate.reason : std::string("NoCondition"),
            .message = {},
            .since = condition == nullptr ? std::nullopt : condition->since,
            .next = next,
            .part = {}};
  if (made.reason.empty()) made.reason = fmt::format("Is{}", json::enum_name(gate.status.value_or(Truth::Unknown)));
  made.message =
      gate.status
          ? fmt::format("it is {}{}{}", json::enum_name(*gate.status), gate.message.empty() ? "" : ": ", gate.message)
          : fmt::format("nobody has said anything yet; slipway pkg condition set {} {}=True", revision.name(), gate.type);
  return {made};
}

std::vector<Wait> draft_waits(const ShownRevision& revision) {
  const Value& annotation = revision.object["metadata"]["annotations"][kAutoLifecycle];
  const Condition* ready = find(revision.status.conditions, kReadyToPropose);
  if (ready != nullptr && ready->reason == kRejected) {
    return {{.on = "somebody who changes it",
             .reason = std::string(kRejected),
             .message = fmt::format("{}: push other content, or slipway pkg propose {}", ready->message, revision.name()),
             .since = {},
             .next = {},
             .part = {}}};
  }
  const bool is_automatic = is_auto_lifecycle(annotation.as_string());
  return {{.on = is_automatic ? "the controller that proposes" : "somebody who proposes it",
           .reason = is_automatic ? "SettlingBeforeProposal" : "NotProposed",
           .message = is_automatic ? std::string("all gates are met; it is proposed once its content has been still for 5 s")
                                   : fmt::format("all gates are met: slipway pkg propose {}", revision.name()),
           .since = {},
           .next = {},
           .part = {}}};
}

std::vector<Wait> proposal_waits(const ShownRevision& revision) {
  const Condition* ready = find(revision.status.conditions, kReadyToApprove);
  return {{.on = "an approval",
           .reason = "Proposed",
           .message = fmt::format("a person (slipway pkg approve {}), an ApprovalPolicy or a PackageRollout gives it",
                                  revision.name()),
           .since = ready == nullptr ? std::nullopt : ready->since,
           .next = {},
           .part = {}}};
}

/// What was decided, and the repository does not take.
std::vector<Wait> push_waits(const ShownRevision& revision) {
  const Condition* failing = find(revision.status.conditions, kNotPushed);
  if (failing == nullptr) return {};
  return {{.on = fmt::format("repository {}", revision.spec.repository),
           .reason = std::string(kNotPushed),
           .message = fmt::format("{}; it is tried again", failing->message),
           .since = {},
           .next = {},
           .part = {}}};
}

std::vector<Wait> explain_state(const ShownRevision& revision, const std::string& part, const control::View& view) {
  if (revision.lifecycle() == Lifecycle::Published) return {};
  if (revision.lifecycle() == Lifecycle::DeletionProposed) {
    return {{.on = "somebody who deletes or keeps it",
             .reason = "DeletionProposed",
             .message = fmt::format("slipway pkg delete {0}, or slipway pkg reject {0}", revision.name()),
             .since = {},
             .next = {},
             .part = {}}};
  }
  std::vector<Wait> out;
  for (const Unmet& one : unmet(gates_at(revision.spec.gates, revision.lifecycle()), revision.status.conditions, view.now())) {
    if (part.empty()) out.push_back(gate_wait(revision, one));
    if (one.type == part) return condition_waits(revision, one, view);
  }
  if (!part.empty()) return {};
  const Condition* ready =
      find(revision.status.conditions, revision.lifecycle() == Lifecycle::Draft ? kReadyToPropose : kReadyToApprove);
  const std::string_view why = ready == nullptr ? "" : std::string_view(ready->reason);
  const bool is_blocked = why == kKptfileUnreadable || why == kDrift;
  if (is_blocked || (out.empty() && ready != nullptr && ready->status != Truth::True)) {
    out.push_back({.on = why == kKptfileUnreadable ? "its Kptfile"
                         : why == kDrift
                             ? "a decision about the change in Git (annotation packages.slipway.dev/drift=theirs|ours)"
                             : "its rendering",
                   .reason = ready->reason.empty() ? "NotRendered" : ready->reason,
                   .message = ready->message,
                   .since = ready->since,
                   .next = {},
                   .part = {}});
  }
  if (!out.empty()) return out;
  return revision.lifecycle() == Lifecycle::Draft ? draft_waits(revision) : proposal_waits(revision);
}

std::vector<Wait> explain_revision(const ShownRevision& revision, const std::string& part, const control::View& view) {
  std::vector<Wait> out = part.empty() ? push_waits(revision) : std::vector<Wait>{};
  std::ranges::move(explain_state(revision, part, view), std::back_inserter(out));
  return out;
}

control::Explainer open_revision(const Value& object, const control::View& view) {
  auto revision = read_shown(object);
  if (!revision) {
    return [message = revision.error().message](const std::string&) {
      return std::vector<Wait>{
          {.on = "the server", .reason = "Unreadable", .message = message, .since = {}, .next = {}, .part = {}}};
    };
  }
  return [revision = std::move(*revision), &view](const std::string& part) { return explain_revision(revision, part, view); };
}

/// Conditions that say what keeps an object from being Ready.
std::vector<Wait> explain_conditions(const Value& object, const control::View& /*view*/) {
  std::vector<Wait> out;
  for (const Value& one : object["status"]["conditions"].items()) {
    const std::string_view type = one["type"].as_string();
    const std::string_view bad = type == "Stalled" ? "True" : "False";
    const bool is_bad = one["status"].as_string() == bad || (type == "Ready" && one["status"].as_string() != "True");
    if (!is_bad) continue;
    out.push_back({.on = fmt::format("{} {}", lower(kube::kind(object)), kube::name(object)),
                   .reason = one["reason"].str(),
                   .message = one["message"].str(),
                   .since = kube::time_of(one["lastTransitionTime"]),
                   .next = {},
                   .part = {}});
  }
  return out;
}

std::vector<Wait> explain_rollout(const Value& rollout, const control::View& view) {
  const Value& status = rollout["status"];
  const std::string phase = status["phase"].str();
  if (phase == "Completed" || phase == "Superseded" || phase == "BackedOut") return {};
  if (phase.empty()) return explain_conditions(rollout, view);
  const std::int64_t step = status["step"].as_int();
  const Value& percent = rollout["spec"]["steps"].item(static_cast<std::size_t>(step))["percent"];
  const std::string waits = rollout_waits(rollout);
  return {{.on = fmt::format("step {}{}", step + 1, percent.is_null() ? "" : fmt::format(" ({} %)", percent.as_int())),
           .reason = status["reason"].str().empty() ? phase : status["reason"].str(),
           .message = fmt::format("{} of {} approved, {} healthy, {} failed{}{}", status["approved"].as_int(),
                                  status["targets"].as_int(), status["healthy"].as_int(), status["failed"].as_int(),
                                  waits.empty() ? "" : "; ", waits),
           .since = kube::time_of(status["stepSince"]),
           .next = {},
           .part = {}}};
}

}  // namespace

json::Value object_of_condition(std::string_view type) {
  constexpr std::string_view kInjection = "config.injection.";
  const auto made = [](std::string_view api_version, std::string_view kind, std::string_view name) {
    const bool is_kind = !kind.empty() && kind[0] >= 'A' && kind[0] <= 'Z' && !name.empty();
    if (!is_kind) return Value();
    return json::object({{"apiVersion", Value(api_version)}, {"kind", Value(kind)}, {"name", Value(name)}});
  };
  if (type.starts_with(kInjection)) {
    const std::string_view rest = type.substr(kInjection.size());
    const std::size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return {};
    return made("v1", rest.substr(0, dot), rest.substr(dot + 1));
  }
  // GROUP/VERSION.Kind.name: the group has dots, the version none.
  const std::size_t slash = type.find('/');
  if (slash == std::string_view::npos) return {};
  const std::size_t version_end = type.find('.', slash);
  if (version_end == std::string_view::npos) return {};
  const std::size_t kind_end = type.find('.', version_end + 1);
  if (kind_end == std::string_view::npos) return {};
  return made(type.substr(0, version_end), type.substr(version_end + 1, kind_end - version_end - 1), type.substr(kind_end + 1));
}

std::vector<control::Wait> policy_waits(const ShownRevision& revision, const std::vector<Value>& policies,
                                        const PolicySight& sight) {
  const RevisionStatus& status = revision.status;
  // Authors are not shown: that they are not counted is the controller's to say.
  const ApproveView view{.lifecycle = revision.lifecycle(),
                         .has_published = sight.has_published,
                         .authors = {""},
                         .digest = status.digest,
                         .votes = status.votes,
                         .conditions = status.conditions};
  std::vector<Wait> out;
  for (const Value& policy : policies) {
    auto spec = json::decode<ApprovalPolicySpec>(policy["spec"], "spec", {.allow_unknown = true});
    if (!spec || !selects(*spec, revision.spec.repository, revision.object["metadata"]["labels"])) continue;
    const NamedPolicy named{.name = std::string(kube::name(policy)), .spec = *std::move(spec)};
    const ApproveDecision said = decide_approve({named}, view, sight.zones, sight.now);
    if (said.kind != ApproveDecision::Kind::Waits) continue;
    out.push_back(
        {.on = "an ApprovalPolicy", .reason = "PolicyWaits", .message = said.text, .since = {}, .next = {}, .part = {}});
  }
  return out;
}

std::vector<control::ExplainRow> explain_rows() {
  using control::ExplainRow;
  return {{.group = kRevisionKind.group, .kind = kRevisionKind.kind, .open = open_revision},
          ExplainRow::without_parts(kRepositoryKind, explain_conditions),
          ExplainRow::without_parts(kVariantKind, explain_conditions),
          ExplainRow::without_parts(kVariantSetKind, explain_conditions),
          ExplainRow::without_parts(kApprovalPolicyKind, explain_conditions),
          ExplainRow::without_parts(kRolloutKind, explain_rollout)};
}

}  // namespace slipway::delivery::package
