#include "delivery/pipeline/next_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/choose.h"
#include "delivery/pipeline/show.h"
#include "delivery/pipeline/version.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

/// What runs on the listed targets.
std::set<std::string> images_of(const EnvironmentStatus& status) {
  std::set<std::string> images;
  for (const TargetStatus& one : status.targets) images.insert(one.images.begin(), one.images.end());
  return images;
}

/// Nothing where the environments before differ or have not settled.
std::optional<VersionStatus> version_before(const Scene& scene, const std::string& environment) {
  std::optional<VersionStatus> found;
  for (const std::string& name : scene.before(environment)) {
    const EnvironmentStatus status = scene.status_of(name);
    if (!status.version) return std::nullopt;
    const bool is_other =
        found && order(found->text, status.version->text, found->digest, status.version->digest) != Order::Same;
    if (is_other) return std::nullopt;
    found = status.version;
  }
  return found;
}

bool runs(const EnvironmentStatus& status, const VersionStatus& version) {
  return status.version && order(status.version->text, version.text, status.version->digest, version.digest) == Order::Same;
}

Change change_of(const Scene& scene, const std::string& environment) {
  const EnvironmentStatus there = scene.status_of(environment);
  Change change{.environment = environment, .from = versions_text(there)};
  const std::optional<VersionStatus> wanted = version_before(scene, environment);
  if (!wanted) {
    change.is_settled = false;
    for (const std::string& name : scene.before(environment)) {
      change.to += fmt::format("{}{}", change.to.empty() ? "" : "; ", versions_text(scene.status_of(name)));
    }
    return change;
  }
  change.to = wanted->text;
  std::set<std::string> after;
  if (const auto* release = scene.release_of(*wanted)) {
    change.release = release->name();
    after.insert(release->spec.images.begin(), release->spec.images.end());
  }
  if (after.empty()) after = images_of(scene.status_of(scene.before(environment).front()));
  const std::set<std::string> before = images_of(there);
  std::ranges::set_difference(after, before, std::back_inserter(change.images_added));
  std::ranges::set_difference(before, after, std::back_inserter(change.images_removed));
  return change;
}

void add_leaves(const json::Value& value, const std::string& path, std::map<std::string, std::string>& leaves) {
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, member] : value.members()) add_leaves(member, below(std::string(name)), leaves);
  } else if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_leaves(value.item(i), fmt::format("{}[{}]", path, i), leaves);
  } else if (!value.is_null()) {
    leaves[path] = json::print(value);
  }
}

}  // namespace

Result<Change> next_change(const Scene& scene, const std::string& environment) {
  if (!environment.empty()) {
    SLIPWAY_TRY(found, environment_of(scene, environment, "to"));
    if (scene.before(found->name).empty()) {
      return fail(Reason::BadRequest,
                  fmt::format("pipeline/{}: nothing comes before {}: new versions get in there from outside", scene.name(),
                              environment));
    }
    return change_of(scene, environment);
  }
  for (const Environment& one : scene.spec.environments) {
    if (scene.before(one.name).empty()) continue;
    const std::optional<VersionStatus> wanted = version_before(scene, one.name);
    if (!wanted || !runs(scene.status_of(one.name), *wanted)) return change_of(scene, one.name);
  }
  return fail(Reason::NotFound, fmt::format("pipeline/{}: every environment runs what the one before it runs", scene.name()));
}

std::map<std::string, std::pair<std::string, std::string>> differing(const json::Value& from, const json::Value& to) {
  std::map<std::string, std::string> before;
  std::map<std::string, std::string> after;
  add_leaves(from, "", before);
  add_leaves(to, "", after);
  std::map<std::string, std::pair<std::string, std::string>> out;
  for (const auto& [path, text] : before) {
    const auto other = after.find(path);
    if (other == after.end() || other->second != text) out[path] = {text, other == after.end() ? "" : other->second};
  }
  for (const auto& [path, text] : after) {
    if (!before.contains(path)) out[path] = {"", text};
  }
  return out;
}

std::string print(const Scene& scene, const Change& change) {
  const std::string before = joined(scene.before(change.environment), ", ");
  std::string out = fmt::format("{} → {}\n", before, change.environment);
  if (!change.is_settled) {
    return out + fmt::format("{} runs {}; {} has not settled at one version: {}\n", change.environment, change.from, before,
                             change.to);
  }
  if (change.from == change.to) return out + fmt::format("nothing: {} runs {} already\n", change.environment, change.to);
  out += fmt::format("- version {}\n+ version {}{}\n", change.from, change.to,
                     change.release.empty() ? "" : fmt::format(" (release {})", change.release));
  for (const std::string& one : change.images_removed) out += fmt::format("- image {}\n", one_line(one));
  for (const std::string& one : change.images_added) out += fmt::format("+ image {}\n", one_line(one));
  return out;
}

}  // namespace slipway::delivery::pipeline
