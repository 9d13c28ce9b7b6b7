#include "delivery/package/cluster_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using State = SyncReport::State;
using Find = SyncRow::Find;

/// By the name of its CustomResourceDefinition.
kube::Resource defined_as(std::string_view name, std::string_view version) {
  const std::size_t dot = name.find('.');
  return {std::string(name.substr(dot + 1)), std::string(version), std::string(name.substr(0, dot))};
}

const kube::Resource kKustomizations = defined_as("kustomizations.kustomize.toolkit.fluxcd.io", "v1");
const kube::Resource kGitRepositories = defined_as("gitrepositories.source.toolkit.fluxcd.io", "v1");
const kube::Resource kArgoApplications = defined_as("applications.argoproj.io", "v1alpha1");

std::string plain_folder(std::string_view folder) {
  while (folder.starts_with("./")) folder.remove_prefix(2);
  while (folder.starts_with('/')) folder.remove_prefix(1);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return folder == "." ? "" : std::string(folder);
}

std::string title(const kube::Object& object) {
  return fmt::format("{} {}", kube::kind(object), kube::key_of(object).to_string());
}

Value condition(const kube::Object& object, std::string_view type) {
  for (const Value& one : object["status"]["conditions"].items()) {
    if (one["type"].as_string() == type) return one;
  }
  return {};
}
bool is_true(const Value& condition) { return condition["status"].as_string() == "True"; }

std::string first_error(const Value& part) {
  const std::string text = part["errors"].item(0)["errorMessage"].str();
  const std::int64_t count =
      std::max<std::int64_t>(part["errorSummary"]["totalCount"].as_int(), static_cast<std::int64_t>(part["errors"].size()));
  if (count == 0) return "";
  return text.empty() ? fmt::format("{} errors", count) : text;
}

/// Config Sync says of three parts which commit they are about: source, rendering and sync.
std::vector<SyncReport> read_root_sync(const kube::Object& object, const Find&) {
  const Value& git = object["spec"]["git"];
  const Value& status = object["status"];
  SyncReport report{.object = title(object),
                    .url = git["repo"].str(),
                    .branch = git["branch"].str(),
                    .folder = plain_folder(git["dir"].as_string()),
                    .commit = status["sync"]["commit"].str()};
  for (const char* part : {"source", "rendering", "sync"}) {
    const std::string error = first_error(status[part]);
    if (error.empty()) continue;
    report.state = State::Failed;
    report.text = error;
    report.commit = status[part]["commit"].str();
    return {report};
  }
  if (const Value stalled = condition(object, "Stalled"); is_true(stalled)) {
    report.state = State::Failed;
    report.text = stalled["message"].str();
    return {report};
  }
  const bool is_behind = status["source"]["commit"].is_string() && status["source"]["commit"] != status["sync"]["commit"];
  const bool is_current = kube::generation(object) == status["observedGeneration"].as_int(kube::generation(object));
  const bool is_done = !report.commit.empty() && is_current && !is_true(condition(object, "Syncing"));
  // A newer commit that is seen and not applied yet takes nothing away from the one that is.
  if (is_done || (is_behind && !report.commit.empty() && is_current)) report.state = State::Healthy;
  return {report};
}

/// "main@sha1:0123…", and of older versions "main/0123…".
std::string commit_of(std::string_view revision) {
  const std::size_t mark = revision.find_last_of(":/");
  return std::string(mark == std::string_view::npos ? revision : revision.substr(mark + 1));
}

std::vector<SyncReport> read_kustomization(const kube::Object& object, const Find& find) {
  const Value& spec = object["spec"];
  const Value& ref = spec["sourceRef"];
  if (ref["kind"].as_string() != "GitRepository") return {};
  const std::string ns = ref["namespace"].as_string().empty() ? std::string(kube::ns(object)) : ref["namespace"].str();
  const kube::Object source = find(kGitRepositories, {ns, ref["name"].str()});
  if (source.is_null()) return {};
  SyncReport report{.object = title(object),
                    .url = source["spec"]["url"].str(),
                    .branch = source["spec"]["ref"]["branch"].str(),
                    .folder = plain_folder(spec["path"].as_string()),
                    .commit = commit_of(object["status"]["lastAppliedRevision"].as_string())};
  const Value ready = condition(object, "Ready");
  const std::string_view reason = ready["reason"].as_string();
  if (is_true(ready)) {
    report.state = State::Healthy;
    return {report};
  }
  const bool is_waiting = reason.empty() || reason == "Progressing" || reason == "ProgressingWithRetry" ||
                          reason == "ArtifactFailed" || reason == "DependencyNotReady";
  if (is_waiting) {
    report.state = report.commit.empty() ? State::Syncing : State::Synced;
    return {report};
  }
  report.commit = commit_of(object["status"]["lastAttemptedRevision"].as_string());
  report.state = State::Failed;
  report.text = ready["message"].str();
  return {report};
}

State state_of_application(const kube::Object& object, std::string& text) {
  const std::string_view health = object["status"]["health"]["status"].as_string();
  const std::string_view phase = object["status"]["operationState"]["phase"].as_string();
  if (phase == "Failed" || phase == "Error") {
    text = object["status"]["operationState"]["message"].str();
    return State::Failed;
  }
  if (health == "Degraded") {
    text = fmt::format("health is Degraded{}{}", object["status"]["health"]["message"].as_string().empty() ? "" : ": ",
                       object["status"]["health"]["message"].as_string());
    return State::Failed;
  }
  if (object["status"]["sync"]["status"].as_string() != "Synced") return State::Syncing;
  return health == "Healthy" ? State::Healthy : State::Synced;
}

std::vector<SyncReport> read_application(const kube::Object& object, const Find&) {
  std::vector<SyncReport> reports;
  const Value& spec = object["spec"];
  const bool is_many = spec["sources"].is_array();
  const Value sources = is_many ? spec["sources"] : json::array({spec["source"]});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Value& source = sources.item(i);
    if (!source["repoURL"].is_string()) continue;
    const std::string_view target = source["targetRevision"].as_string();
    SyncReport report{.object = title(object),
                      .url = source["repoURL"].str(),
                      .branch = target == "HEAD" ? "" : std::string(target),
                      .folder = plain_folder(source["path"].as_string())};
    const auto of = [&](const Value& status) { return is_many ? status["revisions"].item(i).str() : status["revision"].str(); };
    report.state = state_of_application(object, report.text);
    const std::string_view phase = object["status"]["operationState"]["phase"].as_string();
    const bool is_operation = report.state == State::Failed && (phase == "Failed" || phase == "Error");
    report.commit = of(is_operation ? object["status"]["operationState"]["syncResult"] : object["status"]["sync"]);
    reports.push_back(std::move(report));
  }
  return reports;
}

const std::array<SyncRow, 3>& rows() {
  static const std::array<SyncRow, 3> all{
      {{.resource = kRootSyncs, .read = read_root_sync},
       {.resource = kKustomizations, .also = {kGitRepositories}, .read = read_kustomization},
       {.resource = kArgoApplications, .read = read_application}}};
  return all;
}

}  // namespace

std::span<const SyncRow> sync_rows() { return rows(); }

std::string plain_url(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  if (url.ends_with(".git")) url.remove_suffix(4);
  if (url.starts_with("file://")) url.remove_prefix(7);
  return std::string(url);
}

bool is_about(const SyncReport& report, const SyncPlace& place) {
  if (plain_url(report.url) != plain_url(place.url)) return false;
  if (!report.branch.empty() && report.branch != place.branch) return false;
  return report.folder.empty() || place.path == report.folder || place.path.starts_with(report.folder + "/");
}

SyncView look(const std::vector<SyncReport>& reports, const SyncPlace& place, const std::string& commit,
              const Ancestry& ancestry) {
  SyncView view{.state = State::Healthy};
  std::string failed;
  for (const SyncReport& one : reports) {
    if (!is_about(one, place)) continue;
    view.is_reported = true;
    const std::string who = one.cluster.empty() ? one.object : fmt::format("{} in {}", one.object, one.cluster);
    const bool has_commit = one.commit == commit || ancestry.contains({one.commit, commit});
    if (!has_commit && !one.commit.empty()) view.unknown.push_back(one.commit);
    if (has_commit && one.state == State::Failed) {
      if (failed.empty()) failed = fmt::format("{}: {}", who, one.text);
      continue;
    }
    const State state = has_commit ? one.state : State::Syncing;
    if (state >= view.state) continue;
    view.state = state;
    view.text = state == State::Synced ? fmt::format("{} has it, and is not healthy yet", who)
                                       : fmt::format("{} does not report it", who);
  }
  if (!failed.empty()) {
    view.state = State::Failed;
    view.text = failed;
  } else if (!view.is_reported) {
    view.state = State::Syncing;
    view.text = "no cluster reports what it has of this repository";
  }
  return view;
}

}  // namespace slipway::delivery::package
