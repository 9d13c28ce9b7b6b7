// Promotions by themselves: their end, what is told while they go on, and their description.
#include <fmt/format.h>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/show.h"

namespace slipway::delivery::pipeline {
namespace {

using Rows = std::vector<std::vector<std::string>>;

ReadPromotion read_promotion(const kube::Object& promotion) {
  ReadPromotion read;
  read.object = promotion;
  if (auto spec = json::decode<PromotionSpec>(promotion["spec"], "spec", {.allow_unknown = true})) read.spec = std::move(*spec);
  if (auto status = json::decode<PromotionStatus>(promotion["status"], "status", {.allow_unknown = true})) {
    read.status = std::move(*status);
  }
  return read;
}

std::string phase_text(const PromotionStatus& status) {
  std::string text(json::enum_name(status.phase));
  if (!status.reason.empty()) text += fmt::format(" ({})", status.reason);
  if (!status.text.empty()) text += ": " + one_line(status.text);
  return text;
}

/// "1.2.0 into prod", or by the release's name where that is not at hand.
std::string aim_text(const ReadPromotion& one, const control::View& view) {
  const json::Value release = view.find(json::object({{"apiVersion", kReleaseKind.api_version()},
                                                      {"kind", kReleaseKind.kind},
                                                      {"namespace", kube::ns(one.object)},
                                                      {"name", one.spec.release}}));
  const std::string version = release["spec"]["version"].str();
  return fmt::format("{} {} {}", version.empty() ? one.spec.release : version,
                     one.spec.action == PromotionAction::Rollback ? "back into" : "into", one.spec.environment);
}

std::string gate_table(const PromotionStatus& status, Time now) {
  Rows rows = {{"GATE", "AT", "VERDICT", "TRIES", "SINCE", "MESSAGE"}};
  for (const GateRecord& gate : status.gates) {
    rows.push_back({one_line(gate.name), gate.at, gate.verdict.empty() ? "-" : gate.verdict, std::to_string(gate.tries),
                    age(gate.since, now), one_line(gate.text)});
  }
  return rows.size() == 1 ? "" : "\n" + aligned(rows);
}

}  // namespace

std::optional<Verdict> promotion_verdict(const kube::Object& promotion) {
  const PromotionStatus status = read_promotion(promotion).status;
  if (promotion["status"].is_null() || is_under_way(status)) return std::nullopt;
  return Verdict{.is_success = status.phase == Phase::Succeeded, .text = phase_text(status)};
}

std::vector<News> promotion_news(const kube::Object& before, const kube::Object& after) {
  const PromotionStatus was = read_promotion(before).status;
  const PromotionStatus now = read_promotion(after).status;
  const bool is_told = !before["status"].is_null() && was.phase == now.phase && was.reason == now.reason;
  if (after["status"].is_null() || is_told || !is_under_way(now)) return {};
  return {{.text = phase_text(now)}};
}

std::string promotion_summary(const kube::Object& promotion, const control::View& view) {
  const ReadPromotion one = read_promotion(promotion);
  return fmt::format("promotion/{}  {}  {}\n", one.name(), aim_text(one, view), phase_text(one.status));
}

std::optional<delivery::Hold> promotion_hold(const kube::Object& promotion) {
  const PromotionStatus status = read_promotion(promotion).status;
  if (status.phase != Phase::Waiting || status.reason != kApprovalMissing) return std::nullopt;
  return delivery::Hold{.text = status.text.empty() ? std::string("it waits for an approval") : one_line(status.text),
                        .action = "pipeline approve"};
}

std::string describe_promotion(const kube::Object& promotion, const control::View& view,
                               const std::vector<kube::Object>& events) {
  const ReadPromotion one = read_promotion(promotion);
  const PromotionStatus& status = one.status;
  Rows rows;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) rows.push_back({std::string(key) + ":", one_line(value)});
  };
  const auto add_time = [&](const char* key, const std::optional<Time>& time) {
    if (time) add(key, fmt::format("{} ago", age(time, view.now())));
  };
  add("Name", one.name());
  add("Namespace", std::string(kube::ns(promotion)));
  add("Kind", std::string(kube::kind(promotion)));
  add("Pipeline", one.spec.pipeline);
  add("Promotes", aim_text(one, view));
  add("Release", one.spec.release);
  add("Attempt", std::to_string(one.spec.attempt));
  add("By", one.spec.by ? one.spec.by->user : "the controller");
  add("Comment", one.spec.comment);
  add("Skips gates", one.spec.skips_gates ? "yes" : "");
  add("Phase", phase_text(status));
  add_time("Since", status.since);
  add("Strategy", status.strategy);
  add("Commit", status.commit);
  add("Pull request",
      status.pull_request.empty() ? "" : fmt::format("{} ({})", status.pull_request, status.pull_request_state));
  add_time("Began", status.started);
  add_time("Changed", status.change_in);
  add_time("Ended", status.ended);
  add("Lifted", status.is_lifted ? "yes: it may be tried again" : "");
  for (const Blocker& blocker : status.waits_for) add("Waits for", fmt::format("{}/{}", lower(blocker.kind), blocker.name));
  std::string out = aligned(rows) + gate_table(status, view.now());
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

}  // namespace slipway::delivery::pipeline
