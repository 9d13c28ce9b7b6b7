#include "delivery/package/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/package/explain.h"
#include "delivery/package/kind.h"
#include "delivery/package/readiness.h"
#include "delivery/package/render_result.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using Rows = std::vector<std::vector<std::string>>;

std::string dash(const std::string& text) { return text.empty() ? "-" : one_line(text); }

std::string lifecycle_text(const ShownRevision& revision) {
  std::string text(json::enum_name(revision.lifecycle()));
  if (revision.spec.revision > 0) text += fmt::format(" v{}", revision.spec.revision);
  if (revision.status.is_latest) text += ", the latest";
  return text;
}

std::string missing_lines(const ShownRevision& revision, Time now) {
  std::string text;
  if (is_published(revision.lifecycle())) return text;
  for (const Unmet& one : unmet(gates_at(revision.spec.gates, revision.lifecycle()), revision.status.conditions, now)) {
    text += fmt::format("  {}\n", one_line(one.text()));
  }
  return text;
}

std::string lock_text(const std::optional<Locator>& lock) {
  if (!lock || !lock->git) return "-";
  return fmt::format("{} {} at {} ({})", lock->git->repo, lock->git->directory, lock->git->ref,
                     lock->git->commit.substr(0, 12));
}

std::string task_text(const RevisionSpec& spec) {
  if (spec.tasks.empty()) return "init";
  const RevisionTask& task = spec.tasks.front();
  if (task.clone && task.clone->upstream.revision) return "cloned from " + task.clone->upstream.revision->name;
  if (task.clone && task.clone->upstream.git) return "cloned from " + task.clone->upstream.git->repo;
  if (task.edit && task.edit->source) return "copied from " + task.edit->source->name;
  if (task.upgrade) return fmt::format("{} upgraded to {}", task.upgrade->local.name, task.upgrade->new_upstream.name);
  return std::string(json::enum_name(task.type));
}

struct Waiting {
  std::string owner{};
  std::string what{};
  const ShownRevision* revision = nullptr;
  std::string age{};
  std::string message{};
};

std::vector<Waiting> waiting(const std::vector<ShownRevision>& revisions, Time now) {
  std::vector<Waiting> all;
  for (const ShownRevision& one : revisions) {
    if (is_published(one.lifecycle())) {
      if (one.lifecycle() == Lifecycle::DeletionProposed) all.push_back({"", "its deletion", &one, "-", ""});
      continue;
    }
    const auto missing = unmet(gates_at(one.spec.gates, one.lifecycle()), one.status.conditions, now);
    for (const Unmet& gate : missing) {
      const std::string said = !gate.status           ? "nobody has said anything yet"
                               : gate.message.empty() ? gate.reason
                                                      : gate.message;
      const Condition* condition = find(one.status.conditions, gate.type);
      all.push_back(
          {gate.owner, "gate " + gate.type, &one, age(condition == nullptr ? std::nullopt : condition->since, now), said});
    }
    if (missing.empty() && one.lifecycle() == Lifecycle::Proposed) all.push_back({"", "an approval", &one, "-", ""});
  }
  // What has an owner comes first.
  std::vector<Waiting> sorted;
  std::ranges::copy_if(all, std::back_inserter(sorted), [](const Waiting& one) { return !one.owner.empty(); });
  std::ranges::copy_if(all, std::back_inserter(sorted), [](const Waiting& one) { return one.owner.empty(); });
  return sorted;
}

}  // namespace

std::string revision_summary(const kube::Object& object, const control::View& view) {
  const auto revision = read_shown(object);
  if (!revision) return fmt::format("{}: {}\n", kube::name(object), revision.error().message);
  std::string text = fmt::format("{}: {}", revision->name(), lifecycle_text(*revision));
  if (!is_published(revision->lifecycle())) text += fmt::format(", {} gates met", revision->status.ready);
  return text + "\n" + missing_lines(*revision, view.now());
}

std::string condition_table(const ShownRevision& revision, Time now) {
  Rows rows{{"TYPE", "STATUS", "GATE", "REASON", "OWNER", "AGE", "MESSAGE"}};
  for (const Condition& one : revision.status.conditions) {
    const bool is_gate = find(revision.spec.gates, one.type) != nullptr;
    rows.push_back({one.type, std::string(json::enum_name(one.status)), is_gate ? "yes" : "-", dash(one.reason),
                    dash(one.owner), age(one.since, now), dash(one.message)});
  }
  for (const ReadinessGate& gate : revision.spec.gates) {
    if (find(revision.status.conditions, gate.type) != nullptr) continue;
    rows.push_back({gate.type, "-", "yes", "-", dash(gate.owner), "-", "nobody has said anything yet"});
  }
  return aligned(rows);
}

std::string describe_revision(const kube::Object& object, const control::View& view, const std::vector<kube::Object>& events) {
  const auto revision = read_shown(object);
  if (!revision) return revision_summary(object, view);
  const RevisionSpec& spec = revision->spec;
  const RevisionStatus& status = revision->status;
  Rows rows{{"Name:", revision->name()},
            {"Namespace:", dash(std::string(kube::ns(object)))},
            {"Repository:", spec.repository},
            {"Package:", spec.package_name},
            {"Workspace:", spec.workspace},
            {"Lifecycle:", lifecycle_text(*revision)},
            {"Task:", task_text(spec)},
            {"Upstream:", lock_text(status.upstream_lock)},
            {"Content:", lock_text(status.self_lock)},
            {"Digest:", dash(status.digest)},
            {"Gates met:", dash(status.ready)}};
  if (!status.published_by.empty()) {
    rows.push_back({"Approved:", fmt::format("by {}, {} ago", status.published_by, age(status.published_at, view.now()))});
  }
  std::string text = aligned(rows) + "\n" + condition_table(*revision, view.now());
  if (status.render && !status.render->result.items.empty()) {
    text += "\nPipeline:\n";
    for (const std::string& line : function_lines(status.render->result)) text += fmt::format("  {}\n", one_line(line));
  }
  if (!events.empty()) text += "\n" + events_table(events, view.now());
  return text;
}

std::string rollout_waits(const kube::Object& object) {
  const std::string text = kube::condition(object, "Progressing")["message"].str();
  return text.empty() ? object["status"]["message"].str() : text;
}

std::string rollout_summary(const kube::Object& object, const control::View& /*view*/) {
  const Value& status = object["status"];
  const std::string phase = status["phase"].str();
  if (phase.empty()) return fmt::format("{}: nothing has looked at it yet\n", kube::name(object));
  const std::int64_t step = status["step"].as_int();
  const Value& percent = object["spec"]["steps"].item(static_cast<std::size_t>(step))["percent"];
  std::string text =
      fmt::format("{}: {}, step {}{}: {} of {} approved, {} healthy, {} failed", kube::name(object), phase, step + 1,
                  percent.is_null() ? "" : fmt::format(" ({} %)", percent.as_int()), status["approved"].as_int(),
                  status["targets"].as_int(), status["healthy"].as_int(), status["failed"].as_int());
  if (const std::string waits = rollout_waits(object); !waits.empty()) text += "; " + one_line(waits);
  return text + "\n";
}

std::string inbox_table(const std::vector<ShownRevision>& revisions, const std::string& owner, Time now) {
  Rows rows{{"OWNER", "WAITS FOR", "REVISION", "LIFECYCLE", "AGE", "MESSAGE"}};
  for (const Waiting& one : waiting(revisions, now)) {
    if (!owner.empty() && one.owner != owner) continue;
    rows.push_back({dash(one.owner), one.what, one.revision->name(), std::string(json::enum_name(one.revision->lifecycle())),
                    one.age, dash(one.message)});
  }
  return rows.size() == 1 ? "" : aligned(rows);
}

}  // namespace slipway::delivery::package
