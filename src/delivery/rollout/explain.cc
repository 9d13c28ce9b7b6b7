#include "delivery/rollout/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "delivery/rollout/behind.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/show.h"
#include "delivery/rollout/subject.h"
#include "delivery/rollout/workload.h"
#include "delivery/rollout/workload_view.h"

namespace slipway::delivery::rollout {
namespace {

// status.h has the struct of the same name that is on the wire.
using WaitReason = control::Wait;
using wave::Rolling;

/// The workload that an id (set_id) means, in the rollout's namespace; null for a kind without a row.
json::Value reference_of(const kube::Object& rollout, const std::string& id) {
  const std::string name = id.substr(std::min(id.rfind('/') + 1, id.size()));
  for (const WorkloadRow& row : workload_rows()) {
    if (set_id(row.kind, name) != id) continue;
    return json::object(
        {{"apiVersion", row.kind.api_version()}, {"kind", row.kind.kind}, {"namespace", kube::ns(rollout)}, {"name", name}});
  }
  return {};
}

/// What a wait of the status means and what to do about it.
class ExplainReader {
 public:
  ExplainReader(const kube::Object& rollout, const RolloutStatus& status, const control::View& view)
      : rollout_(rollout), status_(status), view_(view) {
    if (auto subject = read_subject(rollout)) {
      if (auto plan = read_plan(subject->plan, wave::Shape::Pair)) plan_ = std::move(*plan);
    }
  }

  WaitReason read(const Wait& wait) const {
    const auto about = [&](const char* prefix) { return wait.on.starts_with(prefix); };
    if (about("pods of ")) return pods(wait);
    if (about("owner of ")) return made(wait, "OwnedByOther", wait.text, reference_of(rollout_, wait.on.substr(9)));
    if (about("gate ")) return gate(wait);
    if (about("partition ")) return made(wait, "PartitionReached", command("promote", "let the next batch run"));
    if (wait.on == "pause") return made(wait, "Paused", command("resume", "let it go on"));
    if (wait.on == "traffic" || wait.on == "weight") return made(wait, "TrafficNotShifted", wait.text);
    if (wait.on == "application") return made(wait, "ApplicationDelivers", wait.text);
    if (wait.on == "owner") return made(wait, "OwnedByOther", wait.text);
    if (wait.on == "drain") return made(wait, "Draining", wait.text, source());
    if (wait.on == "target" || wait.on == "sources") return made(wait, "WorkloadMissing", wait.text);
    if (wait.on == "old pods") return made(wait, "OldPodsLeft", wait.text, source());
    if (!wait.on.contains(' ')) return made(wait, wait.on, wait.text);
    return made(wait, "Waiting", wait.text);
  }

  /// A gate that failed is the cause of a failure.
  std::vector<WaitReason> failed_gates() const {
    std::vector<WaitReason> out;
    for (const wave::GateRecord& gate : status_.gates) {
      if (gate.state == "Failed") out.push_back({"gate " + gate.key, "GateFailed", gate.text, gate.ended, {}, {}});
    }
    return out;
  }

 private:
  static WaitReason made(const Wait& wait, std::string reason, std::string message, json::Value next = {}) {
    return {wait.on, std::move(reason), std::move(message), wait.since, std::move(next), {}};
  }

  std::string command(const char* verb, const char* what) const {
    return fmt::format("{}: slipway rollout {} {}/{}", what, verb, lower(kube::kind(rollout_)), kube::name(rollout_));
  }

  /// The status is behind in what only counts pods: what the workload says itself by now is no cause any more.
  WaitReason pods(const Wait& wait) const {
    const json::Value reference = reference_of(rollout_, wait.on.substr(8));
    const kube::Object live = reference.is_null() ? kube::Object() : view_.find(reference);
    const json::Value& counts = live["status"];
    const std::int64_t size = live["spec"]["replicas"].as_int();
    const bool is_ready = !live.is_null() && size > 0 && counts["observedGeneration"].as_int() == kube::generation(live) &&
                          counts["readyReplicas"].as_int() >= size && counts["updatedReplicas"].as_int() >= size;
    if (!is_ready) return made(wait, "PodsNotReady", wait.text, reference);
    const std::string ready = fmt::format("{} of {} pods are ready by now", counts["readyReplicas"].as_int(), size);
    if (const auto weight = weight_ahead(); weight && status_.target && wait.on == "pods of " + status_.target->id) {
      const Wait traffic{.on = "traffic", .text = "", .since = std::nullopt};
      return made(
          traffic, "TrafficNotShifted",
          fmt::format("{}; {} % of the traffic goes to them next, and what the router says is recorded within {} seconds",
                      ready, *weight, std::chrono::ceil<std::chrono::seconds>(kHoldPause).count()));
    }
    return made(wait, "StatusBehind", ready + "; what follows is recorded within a minute", reference);
  }

  /// The weight that follows the pods of the present batch; nullopt: none does, or it is recorded already.
  std::optional<std::int64_t> weight_ahead() const {
    const auto index = static_cast<std::size_t>(std::max<std::int64_t>(status_.current_batch, 0));
    if (!plan_.settings.has_traffic || status_.rolling != Rolling::RollingInBatches || index >= status_.goals.size()) {
      return std::nullopt;
    }
    const std::int64_t whole = status_.target_size;
    std::int64_t weight = whole <= 0 ? 100 : (200 * status_.goals[index] + whole) / (2 * whole);
    const auto& batches = plan_.settings.batches;
    if (index < batches.size() && batches[index].weight) weight = *batches[index].weight;
    return status_.weight == weight ? std::nullopt : std::optional(weight);
  }

  WaitReason gate(const Wait& wait) const {
    const std::string name = wait.on.substr(5);
    for (const wave::GateRecord& record : status_.gates) {
      if (record.state != "Asked" || !record.key.ends_with("/" + name)) continue;
      const gate::GateSpec* spec = plan_.find_gate(record.key);
      if (spec == nullptr) break;
      const std::string text = record.text.empty() ? wait.text : record.text;
      if (spec->approval) {
        const std::string how = command("approve", "say yes or no");
        return made(wait, "ApprovalPending", text.empty() ? how : fmt::format("{}; {}", text, how));
      }
      return made(wait, spec->metric ? "MetricPending" : spec->window ? "OutsideWindow" : "WebhookPending", text);
    }
    return made(wait, "GatePending", wait.text);
  }

  json::Value source() const {
    return status_.sources.empty() ? json::Value() : reference_of(rollout_, status_.sources.front().id);
  }

  const kube::Object& rollout_;
  const RolloutStatus& status_;
  const control::View& view_;
  PlanSettings plan_{};
};

std::string batch_text(std::int64_t batch) { return fmt::format("batch {}", batch); }

WaitReason to_batch(const kube::Object& rollout, const RolloutStatus& status, std::string message) {
  const bool is_over = status.position().is_end() || status.rolling == Rolling::Failing;
  return {batch_text(status.current_batch),
          is_over ? "BatchRolloutFailed" : std::string(wave::condition_type(status.position())),
          std::move(message),
          status.batch_started,
          kube::reference_to(rollout),
          std::to_string(status.current_batch)};
}

std::vector<WaitReason> causes_of_failure(const RolloutStatus& status, const ExplainReader& reader) {
  std::vector<WaitReason> out = reader.failed_gates();
  if (out.empty()) out.push_back({"the rollout", "RolloutFailed", status.failure, {}, {}, {}});
  return out;
}

std::vector<WaitReason> waits_of(const RolloutStatus& status, const ExplainReader& reader) {
  std::vector<WaitReason> out;
  for (const Wait& wait : status.waits) out.push_back(reader.read(wait));
  return out;
}

/// What the whole waits for: its batch, where it is in one.
std::vector<WaitReason> explain_whole(const kube::Object& rollout, const RolloutStatus& status, const ExplainReader& reader) {
  const bool is_over = status.rolling == Rolling::Failed || status.rolling == Rolling::Succeeded;
  // What the spec asks for next waits before its attempt begins.
  if (is_over && !status.waits.empty()) return waits_of(status, reader);
  if (status.attempt == 0 && status.waits.empty() && !is_over) {
    return {{"the rollout controller", "Pending", "it has not taken the rollout up yet", kube::creation_time(rollout), {}, {}}};
  }
  if (status.rolling == Rolling::Succeeded) return {};
  const bool has_begun = !status.goals.empty();
  if (status.rolling == Rolling::Failed) {
    if (has_begun) return {to_batch(rollout, status, status.failure)};
    return causes_of_failure(status, reader);
  }
  if (status.rolling == Rolling::RollingInBatches) return {to_batch(rollout, status, "")};
  return waits_of(status, reader);
}

std::vector<WaitReason> explain_batch(const kube::Object& rollout, const RolloutStatus& status, const ExplainReader& reader,
                                      const std::string& part) {
  std::int64_t batch = -1;
  std::from_chars(part.data(), part.data() + part.size(), batch);
  if (!has_part(rollout, part)) {
    return {{batch_text(batch), "NoSuchBatch", fmt::format("{} has no such batch", kube::name(rollout)), {}, {}, {}}};
  }
  if (batch < status.current_batch || status.rolling == Rolling::Succeeded) return {};
  if (batch > status.current_batch)
    return {to_batch(rollout, status, fmt::format("{} comes first", batch_text(status.current_batch)))};
  if (status.position().is_end() || status.rolling == Rolling::Failing) return causes_of_failure(status, reader);
  return waits_of(status, reader);
}

control::Explainer open(const json::Value& rollout, const control::View& view) {
  return [rollout, &view](const std::string& part) {
    const RolloutStatus status = read_status(rollout);
    const ExplainReader reader(rollout, status, view);
    return part.empty() ? explain_whole(rollout, status, reader) : explain_batch(rollout, status, reader, part);
  };
}

}  // namespace

std::vector<control::ExplainRow> explain_rows() {
  std::vector<control::ExplainRow> rows;
  for (const kube::GroupVersionKind& kind : {kTraitKind, kRolloutKind, kAppRolloutKind}) {
    rows.push_back({.group = kind.group, .kind = kind.kind, .open = open});
  }
  return rows;
}

}  // namespace slipway::delivery::rollout
