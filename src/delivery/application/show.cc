#include "delivery/application/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/family/text.h"

namespace slipway::delivery::application {
namespace {

bool is_current(const kube::Object& application) {
  return application["status"]["observedGeneration"].as_int() == kube::generation(application);
}

/// Steps and sub-steps with their indentation.
std::vector<std::pair<std::string, Value>> steps_of(const kube::Object& application) {
  std::vector<std::pair<std::string, Value>> all;
  for (const Value& step : application["status"]["workflow"]["steps"].items()) {
    all.emplace_back("", step);
    for (const Value& sub : step["subSteps"].items()) all.emplace_back("  ", sub);
  }
  return all;
}

std::string text_of(const Value& step) {
  std::string text = step["phase"].str();
  if (const auto reason = step["reason"].as_string(); !reason.empty()) text += fmt::format(" ({})", reason);
  if (const auto message = step["message"].as_string(); !message.empty()) text += ": " + one_line(std::string(message));
  return text;
}

std::string place_of(const Value& service) {
  const std::string cluster = service["cluster"].as_string().empty() ? kHub : service["cluster"].str();
  return fmt::format("{}/{}", cluster, service["namespace"].as_string());
}

std::string health_of(const Value& service) {
  std::string text = service["healthy"].as_bool() ? "healthy" : "unhealthy";
  if (const auto message = service["message"].as_string(); !message.empty()) text += " " + one_line(std::string(message));
  return text;
}

std::string tables(const kube::Object& application) {
  std::vector<std::vector<std::string>> steps = {{"STEP", "TYPE", "PHASE"}};
  for (const auto& [indent, step] : steps_of(application)) {
    steps.push_back({indent + step["name"].str(), step["type"].str(), text_of(step)});
  }
  std::vector<std::vector<std::string>> services = {{"COMPONENT", "PLACE", "HEALTH", "TRAITS"}};
  for (const Value& service : application["status"]["services"].items()) {
    std::string traits;
    for (const Value& trait : service["traits"].items()) {
      const char* mark = trait["pending"].as_bool() ? " (pending)" : trait["healthy"].as_bool() ? "" : " (unhealthy)";
      traits += (traits.empty() ? "" : ", ") + trait["type"].str() + mark;
    }
    services.push_back({service["name"].str(), place_of(service), health_of(service), traits});
  }
  std::string out;
  if (steps.size() > 1) out += aligned(steps);
  if (services.size() > 1) out += (out.empty() ? "" : "\n") + aligned(services);
  return out;
}

std::string failure_of(const kube::Object& application) {
  const Value& ready = kube::condition(application, "Ready");
  if (ready["status"].as_string() == "False") return ready["message"].str();
  for (const auto& [indent, step] : steps_of(application)) {
    if (step["phase"].as_string() == "failed") {
      return fmt::format("step {}: {}", step["name"].as_string(), step["message"].as_string());
    }
  }
  return application["status"]["workflow"]["message"].str();
}

/// What a step waits for, with the object to look at next.
control::Wait wait_of(const Value& step, const kube::Object& application) {
  control::Wait wait{.on = fmt::format("step \"{}\"", step["name"].as_string()),
                     .reason = step["reason"].as_string().empty() ? step["phase"].str() : step["reason"].str(),
                     .message = step["message"].str(),
                     .since = kube::time_of(step["firstExecuteTime"]),
                     .next = {},
                     .part = ""};
  const Value& made = step["resourceRef"];
  const bool is_here = made["cluster"].as_string().empty() || made["cluster"].as_string() == kHub;
  if (made.is_object() && is_here) wait.next = made;
  if (step["phase"].as_string() == "suspending") {
    wait.message = fmt::format("waits for a person: `slipway workflow resume app/{} -n {}` goes on", kube::name(application),
                               kube::ns(application));
  }
  return wait;
}

std::vector<control::Wait> explain(const kube::Object& application, const control::View&) {
  std::vector<control::Wait> waits;
  const Value& status = application["status"];
  if (kube::label(application, kLabelPause) == "true") {
    waits.push_back({.on = "nothing",
                     .reason = "Paused",
                     .message = fmt::format("the label {} stops all work on it", kLabelPause),
                     .since = {},
                     .next = {},
                     .part = ""});
    return waits;
  }
  if (const Value& parsed = kube::condition(application, "Parsed"); parsed["status"].as_string() == "False") {
    waits.push_back({.on = "its spec",
                     .reason = parsed["reason"].str(),
                     .message = parsed["message"].str(),
                     .since = kube::time_of(parsed["lastTransitionTime"]),
                     .next = {},
                     .part = ""});
    return waits;
  }
  for (const auto& [indent, step] : steps_of(application)) {
    const auto phase = step["phase"].as_string();
    const bool is_open = phase == "running" || phase == "suspending" || phase == "pending" || phase == "failed";
    if (is_open && step["type"].as_string() != "step-group") waits.push_back(wait_of(step, application));
  }
  if (!waits.empty()) return waits;
  for (const Value& service : status["services"].items()) {
    if (service["healthy"].as_bool()) continue;
    control::Wait wait{.on = fmt::format("component \"{}\" in {}", service["name"].as_string(), place_of(service)),
                       .reason = "Unhealthy",
                       .message = service["message"].str(),
                       .since = {},
                       .next = {},
                       .part = ""};
    if (service["cluster"].as_string().empty()) {
      wait.next = json::object({{"apiVersion", service["workloadDefinition"]["apiVersion"]},
                                {"kind", service["workloadDefinition"]["kind"]},
                                {"namespace", service["namespace"]},
                                {"name", service["name"]}});
    }
    waits.push_back(std::move(wait));
  }
  return waits;
}

}  // namespace

std::optional<Verdict> verdict(const kube::Object& application) {
  if (!is_current(application)) return std::nullopt;
  const auto phase = application["status"]["status"].as_string();
  if (phase == "running") return Verdict{true, "running"};
  if (phase == "workflowFailed" || phase == "workflowTerminated") {
    return Verdict{false, fmt::format("{}: {}", phase, failure_of(application))};
  }
  if (kube::condition(application, "Parsed")["status"].as_string() == "False") {
    return Verdict{false, fmt::format("{}: {}", phase, failure_of(application))};
  }
  return std::nullopt;
}

std::vector<News> news(const kube::Object& before, const kube::Object& after) {
  std::vector<News> told;
  const auto earlier = steps_of(before);
  for (const auto& [indent, step] : steps_of(after)) {
    const auto known = std::ranges::find_if(earlier, [&](const auto& one) { return one.second["name"] == step["name"]; });
    const std::string text = text_of(step);
    if (known == earlier.end() || text_of(known->second) != text) told.push_back({.part = step["name"].str(), .text = text});
  }
  if (before["status"]["status"] != after["status"]["status"] && !after["status"]["status"].as_string().empty()) {
    told.push_back({.part = "", .text = after["status"]["status"].str()});
  }
  return told;
}

std::string summary(const kube::Object& application, const control::View& view) {
  const Value& status = application["status"];
  const std::string phase = status["status"].as_string().empty() ? "starting" : status["status"].str();
  const std::string line =
      fmt::format("application {}/{}: {}, revision {}, age {}\n", kube::ns(application), kube::name(application), phase,
                  status["latestRevision"]["name"].as_string().empty() ? "-" : status["latestRevision"]["name"].as_string(),
                  age(kube::creation_time(application), view.now()));
  return line + tables(application);
}

std::string describe(const kube::Object& application, const control::View& view, const std::vector<kube::Object>& events) {
  std::string out = summary(application, view);
  std::vector<std::vector<std::string>> conditions = {{"CONDITION", "STATUS", "REASON", "MESSAGE"}};
  for (const Value& one : application["status"]["conditions"].items()) {
    conditions.push_back({one["type"].str(), one["status"].str(), one["reason"].str(), one_line(one["message"].str())});
  }
  if (conditions.size() > 1) out += "\n" + aligned(conditions);
  std::vector<std::vector<std::string>> objects = {{"OBJECT", "NAMESPACE", "CLUSTER"}};
  for (const Value& one : application["status"]["appliedResources"].items()) {
    objects.push_back({fmt::format("{}/{}", one["kind"].as_string(), one["name"].as_string()), one["namespace"].str(),
                       one["cluster"].as_string().empty() ? kHub : one["cluster"].str()});
  }
  if (objects.size() > 1) out += "\n" + aligned(objects);
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

bool has_part(const kube::Object& application, const std::string& step) {
  const auto steps = steps_of(application);
  return std::ranges::any_of(steps, [&](const auto& one) { return one.second["name"].as_string() == step; });
}

std::vector<control::ExplainRow> explain_rows() {
  return {control::ExplainRow::without_parts(kApplicationKind.group, kApplicationKind.kind, explain)};
}

}  // namespace slipway::delivery::application
