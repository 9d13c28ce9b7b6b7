// What calls are made of: signatures, limits, events. The paths are in hooks.cc.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/hooks.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr std::size_t kMostRevisionBytes = 253;
constexpr std::size_t kMostPipelines = 10'000;

std::string_view group_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

std::unexpected<Status> refuse(std::string field, std::string message) {
  Status status;
  status.reason = Reason::Invalid;
  status.message = field + ": " + message;
  status.causes = {{"FieldValueInvalid", std::move(message), std::move(field)}};
  return fail(std::move(status));
}

/// notification-controller takes the group off the keys of metadata; events that come by other ways have it.
std::string revision_in(const Value& metadata) {
  for (const auto& [key, value] : metadata.members()) {
    if ((key == "revision" || key.ends_with("/revision")) && !value.as_string().empty()) return value.str();
  }
  return "";
}

bool is_last(const PipelineSpec& spec, std::size_t index) {
  const std::string& name = spec.environments[index].name;
  for (std::size_t i = 0; i < spec.environments.size(); ++i) {
    const auto& before = spec.environments[i].depends_on;
    if (before ? std::ranges::find(*before, name) != before->end() : i == index + 1) return false;
  }
  return true;
}

Result<void> check_object(const PipelineSpec& spec, const Environment& environment, const Value& object) {
  if (!object.is_object()) return refuse("involvedObject", "an event names the object that it is about");
  if (object["kind"].as_string() != spec.app.kind) {
    return refuse("involvedObject.kind", fmt::format("{} is not the pipeline's {}", object["kind"].as_string(), spec.app.kind));
  }
  if (object["name"].as_string() != spec.app.name) {
    return refuse("involvedObject.name", fmt::format("{} is not the pipeline's {}", object["name"].as_string(), spec.app.name));
  }
  const std::string_view given = object["apiVersion"].as_string();
  if (given.empty() || (!spec.app.api_version.empty() && group_of(given) != group_of(spec.app.api_version))) {
    return refuse("involvedObject.apiVersion",
                  fmt::format("{} is not of the group of {}", given.empty() ? "nothing" : given, spec.app.api_version));
  }
  const std::string_view ns = object["namespace"].as_string();
  if (std::ranges::none_of(environment.targets, [&](const Target& target) { return target.ns == ns; })) {
    return refuse("involvedObject.namespace", fmt::format("{} is no target of environment {}", ns, environment.name));
  }
  return {};
}

}  // namespace

bool HookMemory::admit(const std::string& pipeline, Steady now) {
  if (calls_.size() > kMostPipelines) {
    std::erase_if(calls_, [&](const auto& one) { return one.second.empty() || one.second.back() + kCallWindow <= now; });
  }
  std::deque<Steady>& calls = calls_[pipeline];
  // A moment in the future is of another world, whose clock was another (tests).
  while (!calls.empty() && (calls.front() + kCallWindow <= now || calls.front() > now)) calls.pop_front();
  if (calls.size() >= kCallsPerWindow) return false;
  calls.push_back(now);
  return true;
}

std::string secret_of(const PipelineSpec& spec, std::string_view environment) {
  const auto named_by = [](const std::optional<Promotion>& promotion) -> std::string {
    if (!promotion || !promotion->strategy || !promotion->strategy->secret) return "";
    return promotion->strategy->secret->name;
  };
  for (const Environment& one : spec.environments) {
    if (one.name != environment) continue;
    if (std::string own = named_by(one.promotion); !own.empty()) return own;
  }
  return named_by(spec.promotion);
}

Result<std::string> event_revision(const PipelineSpec& spec, std::string_view environment, const Value& event) {
  const auto at = std::ranges::find(spec.environments, environment, &Environment::name);
  if (at == spec.environments.end()) return refuse("path", fmt::format("the pipeline has no environment {}", environment));
  if (at->targets.empty()) return refuse("path", fmt::format("environment {} has no target", environment));
  if (is_last(spec, static_cast<std::size_t>(at - spec.environments.begin()))) {
    return refuse("path", fmt::format("{} is a last environment: nothing is promoted from it", environment));
  }
  SLIPWAY_TRY_VOID(check_object(spec, *at, event["involvedObject"]));
  const std::string revision = revision_in(event["metadata"]);
  if (revision.empty()) return refuse("metadata.revision", "an event says which revision it is about");
  const bool is_plain = std::ranges::all_of(revision, [](char c) { return c > ' ' && c < 127; });
  if (revision.size() > kMostRevisionBytes || !is_plain) return refuse("metadata.revision", "it is no revision");
  return revision;
}

}  // namespace slipway::delivery::pipeline
