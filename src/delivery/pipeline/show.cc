#include "delivery/pipeline/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"

namespace slipway::delivery::pipeline {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const PipelineCondition* find_condition(const PipelineStatus& status, std::string_view type) {
  const auto at = std::ranges::find(status.conditions, type, &PipelineCondition::type);
  return at == status.conditions.end() ? nullptr : &*at;
}

std::string application_text(const PipelineSpec& spec) { return fmt::format("{} {}", spec.app.kind, spec.app.name); }

/// Without a status: the environments, so that a pipeline which was just made is told from an empty one.
std::string line_of(const PipelineSpec& spec, const PipelineStatus& status) {
  if (!status.line.empty()) return one_line(status.line);
  std::string line;
  for (const Environment& one : spec.environments) line += fmt::format("{}{} -", line.empty() ? "" : " → ", one.name);
  return line;
}

std::string promotion_text(const EnvironmentStatus& status, Time now) {
  if (!status.promotion || status.promotion->phase == "Succeeded") return "-";
  const PromotionSummary& one = *status.promotion;
  std::string text = fmt::format("{} {}", or_dash(one.version), one.phase);
  if (!one.reason.empty()) text += " " + one.reason;
  if (one.since) text += " " + age(one.since, now);
  return one_line(text);
}

std::string by_text(const std::optional<Author>& by) { return by && !by->user.empty() ? " by " + one_line(by->user) : ""; }

std::string because(const std::string& comment) { return comment.empty() ? "" : ": " + one_line(comment); }

std::string environments_text(const std::vector<std::string>& list) {
  return list.empty() ? "all environments" : joined(list, ", ");
}

/// What keeps promotions back, a line each.
std::string standstill_lines(const Scene& scene) {
  std::string out;
  if (scene.spec.is_suspended) out += "Suspended: spec.suspend is true, nothing is promoted\n";
  std::vector<std::string> told;
  for (const Environment& environment : scene.spec.environments) {
    for (const Read<HoldSpec>* one : scene.holds_on(environment.name)) {
      if (std::ranges::find(told, one->name()) != told.end()) continue;
      told.push_back(one->name());
      out += fmt::format("Held: {} (hold {}{}{}){}\n", environments_text(one->spec.environments), one->name(),
                         by_text(one->spec.by), one->spec.until ? ", until " + to_rfc3339(*one->spec.until) : "",
                         because(one->spec.comment));
    }
    for (const Read<FreezeSpec>* one : scene.freezes_on(environment.name)) {
      if (std::ranges::find(told, one->name()) != told.end()) continue;
      told.push_back(one->name());
      out += fmt::format("{}: {} (freeze {}{}{}){}\n", one->spec.window ? "Frozen at times" : "Frozen",
                         environments_text(one->spec.environments), one->name(), by_text(one->spec.by),
                         one->spec.until ? ", until " + to_rfc3339(*one->spec.until) : "", because(one->spec.comment));
    }
  }
  return out;
}

std::string release_table(const Scene& scene) {
  constexpr std::size_t kMost = 5;
  if (scene.releases.empty()) return "";
  Rows rows = {{"RELEASE", "VERSION", "SEEN IN", "AGE"}};
  for (std::size_t i = 0; i < std::min(kMost, scene.releases.size()); ++i) {
    const Read<ReleaseSpec>& one = scene.releases[i];
    rows.push_back({one.name(), or_dash(one.spec.version), or_dash(one.spec.environment), age(one.created(), scene.now())});
  }
  std::string out = "\n" + aligned(rows);
  if (scene.releases.size() > kMost) out += fmt::format("and {} older ones\n", scene.releases.size() - kMost);
  return out;
}

std::string trigger_table(const PipelineStatus& status, Time now) {
  if (status.triggers.empty()) return "";
  Rows rows = {{"TRIGGER", "OBJECT", "LAST", "WHAT"}};
  for (const Trigger& one : status.triggers) {
    rows.push_back({or_dash(one.kind), or_dash(one.object), age(one.last, now), or_dash(one.text)});
  }
  return "\n" + aligned(rows);
}

/// A target as the spec names it, before it was looked at.
TargetStatus not_looked_at(const AppRef& app, const Target& target) {
  TargetStatus made;
  made.app = {.api_version = app.api_version, .kind = app.kind, .name = app.name, .cluster = target.cluster};
  made.ns = target.ns;
  made.text = "not looked at yet";
  return made;
}

std::vector<std::string> target_row(const std::string& environment, const TargetStatus& one, bool is_known, const Scene& scene,
                                    Width width) {
  const std::string status = !one.error.empty() ? one.error : one.text;
  std::vector<std::string> row = {environment,
                                  cluster_text(one.app.cluster, scene.ns()),
                                  or_dash(one.ns),
                                  or_dash(one.app.name),
                                  !is_known      ? "Unknown"
                                  : one.is_ready ? "True"
                                                 : "False",
                                  or_dash(one.revision),
                                  is_known ? std::string(json::enum_name(one.state)) : "-",
                                  age(one.since, scene.now())};
  if (width == Width::wide) {
    for (const std::string& value :
         {one.specified.text, one.attempted.text, joined(one.images, ","), joined(one.related, ", ")}) {
      row.push_back(or_dash(value));
    }
  }
  row.push_back(or_dash(status));
  return row;
}

}  // namespace

std::string cluster_text(const std::optional<ClusterRef>& cluster, std::string_view home_ns) {
  if (!cluster) return "-";
  if (cluster->ns.empty() || cluster->ns == home_ns) return cluster->name;
  return fmt::format("{}/{}", cluster->ns, cluster->name);
}

std::string versions_text(const EnvironmentStatus& status) {
  if (status.version) return or_dash(status.version->text);
  std::string text;
  for (const auto& [version, count] : status.versions) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", version.empty() ? "unknown" : version, count);
  }
  return or_dash(text);
}

std::string list_table(const std::vector<kube::Object>& pipelines, Namespaces namespaces, Time now) {
  Rows rows = {{"NAME", "APPLICATION", "VERSIONS", "READY", "PENDING", "AGE"}};
  if (namespaces == Namespaces::several) rows.front().insert(rows.front().begin(), "NAMESPACE");
  for (const kube::Object& one : pipelines) {
    const Scene scene = Scene::of(one, {}, now);
    const PipelineCondition* ready = find_condition(scene.status, "Ready");
    const PipelineCondition* pending = find_condition(scene.status, "PromotionPending");
    const bool is_pending = pending != nullptr && pending->status == "True";
    rows.push_back({scene.name(), application_text(scene.spec), line_of(scene.spec, scene.status),
                    ready == nullptr ? "Unknown" : ready->status, is_pending ? or_dash(pending->message) : "-",
                    age(kube::creation_time(one), now)});
    if (namespaces == Namespaces::several) rows.back().insert(rows.back().begin(), scene.ns());
  }
  return aligned(rows);
}

std::string overview(const Scene& scene) {
  std::string out =
      fmt::format("pipeline/{}  {}  {}\n", scene.name(), application_text(scene.spec), line_of(scene.spec, scene.status));
  if (const PipelineCondition* ready = find_condition(scene.status, "Ready"); ready != nullptr && ready->status != "True") {
    out += fmt::format("Not ready: {}: {}\n", ready->reason, one_line(ready->message));
  }
  if (const PipelineCondition* pending = find_condition(scene.status, "PromotionPending");
      pending != nullptr && pending->status == "True") {
    out += fmt::format("Pending: {}: {}\n", pending->reason, one_line(pending->message));
  }
  out += standstill_lines(scene);
  Rows rows = {{"ENVIRONMENT", "VERSION", "READY", "TARGETS", "PROMOTION"}};
  for (const Environment& one : scene.spec.environments) {
    const EnvironmentStatus there = scene.status_of(one.name);
    std::string states;
    for (const auto& [state, count] : there.states) states += fmt::format("{}{} {}", states.empty() ? "" : ", ", count, state);
    rows.push_back({one.name, versions_text(there), fmt::format("{}/{}", there.ready_count, one.targets.size()),
                    or_dash(states), promotion_text(there, scene.now())});
  }
  out += "\n" + aligned(rows);
  if (!scene.status.problems.empty()) {
    out += fmt::format("\n{} problem{}: slipway pipeline status {} --problems\n", scene.status.problems.size(),
                       scene.status.problems.size() == 1 ? "" : "s", scene.name());
  }
  return out + release_table(scene);
}

std::string target_table(const Scene& scene, Width width) {
  Rows rows = {{"ENVIRONMENT", "CLUSTER", "NAMESPACE", "NAME", "READY", "VERSION", "STATE", "AGE"}};
  if (width == Width::wide) {
    for (const char* title : {"SPECIFIED", "ATTEMPTED", "IMAGES", "RELATED"}) rows.front().emplace_back(title);
  }
  rows.front().emplace_back("STATUS");
  for (const Environment& environment : scene.spec.environments) {
    const EnvironmentStatus there = scene.status_of(environment.name);
    for (const TargetStatus& one : there.targets) rows.push_back(target_row(environment.name, one, true, scene, width));
    if (there.target_count > 0) continue;
    for (const Target& one : environment.targets) {
      rows.push_back(target_row(environment.name, not_looked_at(scene.spec.app, one), false, scene, width));
    }
  }
  std::string out = aligned(rows);
  if (scene.status.left_out > 0) out += fmt::format("and {} settled targets that are not listed\n", scene.status.left_out);
  return out;
}

std::string problem_table(const PipelineStatus& status) {
  if (status.problems.empty()) return "no problems\n";
  Rows rows = {{"PROBLEM", "OBJECT", "MESSAGE"}};
  for (const Problem& one : status.problems) rows.push_back({or_dash(one.kind), or_dash(one.object), or_dash(one.text)});
  return aligned(rows);
}

std::string pipeline_summary(const kube::Object& pipeline, const control::View& view) {
  return overview(Scene::of(pipeline, {}, view.now()));
}

std::string describe_pipeline(const kube::Object& pipeline, const control::View& view,
                              const std::vector<kube::Object>& events) {
  const Scene scene = Scene::of(pipeline, {}, view.now());
  std::string out = aligned({{"Name:", scene.name()},
                             {"Namespace:", scene.ns()},
                             {"Kind:", std::string(kube::kind(pipeline))},
                             {"Application:", application_text(scene.spec)},
                             {"Created:", age(kube::creation_time(pipeline), view.now()) + " ago"}});
  out += "\n" + overview(scene) + "\n" + target_table(scene, Width::wide) + trigger_table(scene.status, view.now());
  if (!scene.status.problems.empty()) out += "\n" + problem_table(scene.status);
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

}  // namespace slipway::delivery::pipeline
