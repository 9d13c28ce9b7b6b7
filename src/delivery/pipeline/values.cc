#include "delivery/pipeline/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "delivery/pipeline/health.h"
#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/version.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

constexpr std::string_view kRestartedAt = "kubectl.kubernetes.io/restartedAt";

const KindRow* const kKindRows[] = {&kHelmRelease, &kKustomization, &kDeployment, &kStatefulSet, &kDaemonSet};

const KindRow* find_exact(std::string_view group, std::string_view kind) {
  const auto row =
      std::ranges::find_if(kKindRows, [&](const KindRow* one) { return one->group == group && one->kind == kind; });
  return row == std::end(kKindRows) ? nullptr : *row;
}

void date(Version& version, const Version& last, Time now) {
  if (version.text.empty() || version.time) return;
  version.time = version.text == last.text && version.digest == last.digest && last.time ? last.time : now;
}

/// What is shown while there is no newer look: the last one, under its own state.
Values kept(const Memory& memory, State state, std::string text) {
  Values values = memory.last;
  values.state = state;
  values.text = std::move(text);
  return values;
}

}  // namespace

Value without_restarts(const Value& pods) {
  Value kept = pods.without_path({"metadata", "annotations", kRestartedAt});
  if (kept["metadata"]["annotations"].empty()) kept = kept.without_path({"metadata", "annotations"});
  return kept["metadata"].empty() ? kept.without("metadata") : kept;
}

bool is_readable(std::string_view group, std::string_view kind) { return find_exact(group, kind) != nullptr; }

const KindRow* find_row(const Object& object) {
  if (const KindRow* exact = find_exact(group_of(object), kube::kind(object))) return exact;
  if (!pod_template(object)["spec"]["containers"].empty()) return &kAnyWorkload;
  return object["spec"]["components"].is_array() ? &kAnyApplication : nullptr;
}

Reading read(const Look& look, Memory memory, Time now) {
  if (look.access == Access::Stale) return {kept(memory, State::Stale, "it was last seen too long ago"), memory};
  if (look.access == Access::Unreachable) return {kept(memory, State::Unreachable, "its cluster does not answer"), memory};
  if (look.access == Access::Forbidden) return {Values{.state = State::Forbidden, .text = "you may not see it"}, memory};
  if (look.object.is_null()) return {Values{.state = State::Absent, .text = "there is no such object"}, {}};
  const KindRow* row = find_row(look.object);
  if (row == nullptr) return {Values{.state = State::Absent, .text = "nothing is known of its kind"}, {}};
  Values values = row->read(look, memory);
  const Value& spec = look.object["spec"];
  if (kube::is_deleting(look.object)) {
    values.state = State::Progressing;
    values.text = "it is being deleted";
  } else if (spec["suspend"].as_bool() || spec["paused"].as_bool()) {
    values.state = State::Suspended;
    values.text = "its agent does not look at it";
  }
  date(values.specified, memory.last.specified, now);
  date(values.attempted, memory.last.attempted, now);
  date(values.running, memory.last.running, now);
  if (!values.images.empty()) values.images_time = values.images == memory.last.images ? memory.last.images_time : now;
  memory.last = values;
  return {std::move(values), std::move(memory)};
}

Source source_of(const Look& look, std::string_view kind, std::string_view ns, std::string_view name) {
  const auto found = std::ranges::find_if(look.others, [&](const Object& one) {
    return kube::kind(one) == kind && kube::name(one) == name && kube::ns(one) == ns;
  });
  if (found == look.others.end()) return {};
  Source source{.object = *found, .wanted = "*"};
  const Value& ref = source.object["spec"]["ref"];
  for (const char* key : {"commit", "digest", "name", "semver", "tag", "branch"}) {
    if (ref[key].as_string().empty()) continue;
    source.wanted = fmt::format("{}:{}", key, ref[key].as_string());
    break;
  }
  if (const Value& version = source.object["spec"]["version"]; version.is_string()) source.wanted = version.str();
  source.revision = source.object["status"]["artifact"]["revision"].str();
  source.digest = digest_in(source.revision);
  const HealthVerdict health = health_of(source.object);
  const Value& fetch = kube::condition(source.object, "FetchFailed");
  const bool is_fetch_failed = kube::is_true(source.object, "FetchFailed");
  source.is_failed = is_fetch_failed || health.health == Health::Unhealthy;
  source.text =
      is_fetch_failed ? fmt::format("{}: {}", fetch["reason"].as_string(), fetch["message"].as_string()) : health.text;
  return source;
}

bool is_at_work(const Object& object) {
  if (kube::is_true(object, "Stalled")) return false;
  return kube::is_true(object, "Reconciling") || kube::condition(object, "Ready")["status"].as_string() == "Unknown";
}

Readiness readiness_of(const std::vector<Object>& made) {
  Readiness worst{.is_ready = !made.empty()};
  for (const Object& one : made) {
    const HealthVerdict verdict = health_of(one);
    if (verdict.health == Health::Healthy || worst.is_broken) continue;
    worst = {.is_broken = verdict.health == Health::Unhealthy,
             .text = fmt::format("{} {}: {}", kube::kind(one), kube::name(one), verdict.text)};
  }
  return worst;
}

std::string content_of(const std::vector<Object>& made) {
  std::set<std::string> lines;
  for (const Object& one : made) {
    const Value content = is_rolled(one) ? without_restarts(pod_template(one)) : one["spec"];
    lines.insert(fmt::format("{}/{}/{} {}", kube::kind(one), kube::ns(one), kube::name(one), json::print(content)));
  }
  // As many digits as a std::string holds without the heap.
  return sha256_hex(fmt::format("{}", fmt::join(lines, "\n"))).substr(0, 15);
}

const Rendering* find_rendering(const Memory& memory, std::string_view release) {
  const auto found = std::ranges::find(memory.renderings, release, &Rendering::release);
  return found == memory.renderings.end() ? nullptr : &*found;
}

void learn(Memory& memory, Rendering rendering) {
  auto& all = memory.renderings;
  if (const Rendering* known = find_rendering(memory, rendering.release); known != nullptr && *known == rendering) return;
  std::erase_if(all, [&](const Rendering& one) { return one.release == rendering.release; });
  all.push_back(std::move(rendering));
  if (all.size() > kMostRenderings) all.erase(all.begin());
}

}  // namespace slipway::delivery::pipeline
