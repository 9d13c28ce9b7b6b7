#include "plane/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/family/text.h"
#include "json/text.h"

namespace slipway::plane {
namespace {

using delivery::Verdict;
using kube::Object;

const kube::GroupVersionKind kPodKind{"", "v1", "Pod"};
const kube::GroupVersionKind kJobKind{"batch", "v1", "Job"};

bool is_kind(const Object& object, const kube::GroupVersionKind& kind) {
  return kube::kind(object) == kind.kind && object["apiVersion"].as_string() == kind.api_version();
}

std::optional<Verdict> verdict_of_pod(const Object& pod) {
  const std::string phase = pod["status"]["phase"].str();
  if (phase == "Succeeded") return Verdict{true, phase};
  if (phase == "Failed") return Verdict{false, phase};
  if (pod["spec"]["restartPolicy"].as_string() == "Always" && kube::is_true(pod, "Ready")) return Verdict{true, "Ready"};
  return std::nullopt;
}

}  // namespace

std::string title(const Object& object) {
  std::string kind(kube::kind(object));
  std::ranges::transform(kind, kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return fmt::format("{}/{}", kind, kube::name(object));
}

bool has_end(const kube::GroupVersionKind& kind, Families of) {
  const delivery::KindRow* row = find_row(kind.group, kind.kind, of);
  return (row != nullptr && row->verdict) || kind == kJobKind || kind == kPodKind;
}

std::optional<Verdict> verdict(const Object& object, Families of) {
  if (is_kind(object, kPodKind)) return verdict_of_pod(object);
  if (const delivery::KindRow* row = find_row(object, of); row != nullptr && row->verdict) return row->verdict(object);
  for (const auto* type : {"Complete", "Failed"}) {
    if (kube::is_true(object, type)) return delivery::ended_by(kube::condition(object, type));
  }
  return std::nullopt;
}

bool waits_for_person(const Object& object, Families of) {
  const delivery::KindRow* row = find_row(object, of);
  return row != nullptr && row->hold && row->hold(object).has_value();
}

std::vector<delivery::News> news(const Object& before, const Object& after, Families of) {
  if (const delivery::KindRow* row = find_row(after, of)) {
    return row->news ? row->news(before, after) : std::vector<delivery::News>{};
  }
  if (!is_kind(after, kPodKind) || verdict(after, of)) return {};
  const json::Value& phase = after["status"]["phase"];
  if (phase.is_null() || phase == before["status"]["phase"]) return {};
  return {{.part = "", .text = phase.str()}};
}

std::string summary(const Object& object, const control::View& view, Families of) {
  if (const delivery::KindRow* row = find_row(object, of); row != nullptr && row->summary) return row->summary(object, view);
  const auto end = verdict(object, of);
  const std::string phase = is_kind(object, kPodKind) ? object["status"]["phase"].str() : "";
  return fmt::format("{}: {}\n", title(object), end ? end->text : phase.empty() ? "under way" : phase);
}

std::string description(const Object& object, std::vector<Object> events, const control::View& view, Families of) {
  events = delivery::events_about(std::move(events), object);
  const delivery::KindRow* row = find_row(object, of);
  if (row != nullptr && row->describe) return row->describe(object, view, events);
  std::string text = json::print_yaml(object.without_path({"metadata", "managedFields"}));
  if (!events.empty()) text += "\n" + delivery::events_table(events, view.now());
  return text;
}

Answer why(const Object& object, const std::string& part, const control::View& view, Families of) {
  const delivery::KindRow* row = find_row(object, of);
  Answer answer;
  answer.is_unknown_part = !part.empty() && row != nullptr && row->has_part && !row->has_part(object, part);
  const auto explanations = control::explain(explain_rows(of), object, part, view);
  answer.text = explanations.empty() ? fmt::format("{}{}{} waits for nothing.\n", title(object), part.empty() ? "" : "/", part)
                                     : control::print(explanations, view.now());
  return answer;
}

}  // namespace slipway::plane
