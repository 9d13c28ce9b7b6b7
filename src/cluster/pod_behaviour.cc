#include "cluster/pod_behaviour.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "cluster/names.h"
#include "json/text.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kPrefix = "slipway.dev/";
constexpr std::string_view kSteerable[] = {kRunTime,   kExitCode,      kReadyAfter, kStartAfter,
                                           kStopAfter, kMissingImages, kNodeLoss};
constexpr std::int64_t kOomCode = 137;

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Annotations and from when on each holds.
struct Annotations {
  Value values;
  std::map<std::string, Time> since{};

  std::string_view text(std::string_view key) const { return values[key].as_string(); }
  Time since_of(std::string_view key) const {
    const auto found = since.find(std::string(key));
    return found == since.end() ? Time::min() : found->second;
  }
};

/// nullopt when absent; a fault goes to `error`.
std::optional<BehaviourSpan> read_span(const Annotations& from, std::string_view key, std::string& error) {
  const std::string_view text = from.text(key);
  if (text.empty()) return std::nullopt;
  const auto duration = parse_duration(text);
  if (duration && *duration >= Duration{0}) return BehaviourSpan{*duration, from.since_of(key)};
  const char* wanted = key == kReadyAfter ? "neither \"never\" nor" : "not";
  error = fmt::format("annotation {}: {} a duration such as 12.5s: {}", key, wanted, text);
  return std::nullopt;
}

std::vector<SimulatedExit> read_exits(std::string_view codes, std::string& error) {
  std::vector<SimulatedExit> exits;
  if (codes.empty()) return exits;
  for (const std::string_view item : split(codes, ',')) {
    const auto code = item == "oom" ? kOomCode : parse_whole(item);
    if (!code || *code < 0 || *code > 255) {
      error = fmt::format("annotation {}: neither \"oom\" nor an exit code from 0 to 255: {}", kExitCode, item);
    } else {
      exits.push_back({*code, item == "oom"});
    }
  }
  return exits;
}

PodBehaviour read_behaviour(const Annotations& from) {
  PodBehaviour read;
  read.run_time = read_span(from, kRunTime, read.error);
  read.node_loss = read_span(from, kNodeLoss, read.error);
  read.start_after = read_span(from, kStartAfter, read.error).value_or(BehaviourSpan{}).length;
  read.stop_after = read_span(from, kStopAfter, read.error).value_or(BehaviourSpan{}).length;
  if (from.text(kReadyAfter) == "never") {
    read.ready_after.reset();
  } else {
    read.ready_after = read_span(from, kReadyAfter, read.error).value_or(BehaviourSpan{});
  }
  read.exits = read_exits(from.text(kExitCode), read.error);
  read.attempt = parse_whole(from.text(kAttempt)).value_or(0);
  read.missing_images = std::string(from.text(kMissingImages));
  return read;
}

/// One entry; what is wrong with it is `error`.
std::optional<PodRule> parse_rule(const kube::Object& config_map, std::string_view text, std::string& error) {
  const auto parsed = json::parse_yaml(text);
  PodRule rule;
  rule.ns = kube::ns(config_map);
  rule.at = kube::creation_time(config_map).value_or(Time::min());
  rule.annotations = Value::empty_object();
  if (!parsed || !parsed->is_object()) {
    error = parsed ? "not a mapping with selector, from and what changes" : parsed.error().message;
    return std::nullopt;
  }
  auto selector = kube::LabelSelector::parse((*parsed)["selector"].as_string());
  if (!selector || selector->matches_everything()) error = "selector: not a label selector such as app=web,version=v2";
  if (selector) rule.selector = std::move(*selector);
  if (const std::string_view from = (*parsed)["from"].as_string(); !from.empty()) {
    const auto age = parse_duration(from);
    const auto time = parse_rfc3339(from);
    if (age) rule.age = *age;
    if (time) rule.at = *time;
    if (!age && !time)
      error = fmt::format("from: neither a duration such as 5m nor a time such as 2026-01-02T03:04:05Z: {}", from);
  }
  for (const auto [key, value] : parsed->members()) {
    if (key == "selector" || key == "from") continue;
    const std::string name = std::string(kPrefix).append(key);
    if (std::ranges::find(kSteerable, name) == std::end(kSteerable)) {
      error = fmt::format("{}: no behaviour of a simulated pod", key);
      continue;
    }
    rule.annotations = rule.annotations.with(name, value.is_number() ? value.number_text() : value.str());
  }
  if (const std::string fault = read_behaviour({rule.annotations}).error; !fault.empty()) error = fault;
  return error.empty() ? std::optional(std::move(rule)) : std::nullopt;
}

}  // namespace

SimulatedExit PodBehaviour::exit(std::int64_t restarts) const {
  if (exits.empty()) return {};
  const auto at = static_cast<std::size_t>(std::max<std::int64_t>(attempt + restarts, 0));
  return exits[std::min(at, exits.size() - 1)];
}

bool PodBehaviour::is_missing(std::string_view image) const {
  const auto images = split(missing_images, ',');
  return !missing_images.empty() && std::ranges::find(images, image) != images.end();
}

Result<std::vector<PodRule>> parse_pod_rules(const kube::Object& config_map) {
  std::vector<PodRule> rules;
  std::vector<Cause> causes;
  if (kube::label(config_map, kPodScript) != "true") return rules;
  for (const auto [key, text] : config_map["data"].members()) {
    std::string error;
    if (auto rule = parse_rule(config_map, text.as_string(), error)) rules.push_back(std::move(*rule));
    if (!error.empty()) causes.push_back({"FieldValueInvalid", error, fmt::format("data[{}]", key)});
  }
  if (causes.empty()) return rules;
  return fail(kube::invalid({"", "v1", "ConfigMap"}, kube::name(config_map), std::move(causes)));
}

std::vector<Cause> pod_script_causes(const kube::Object& config_map) {
  const auto rules = parse_pod_rules(config_map);
  return rules ? std::vector<Cause>{} : rules.error().causes;
}

std::vector<PodSegment> behaviour_of(const kube::Object& pod, const std::vector<PodRule>& rules, const Now& now) {
  const Time created = kube::creation_time(pod).value_or(Time::min());
  std::multimap<Time, const PodRule*> due;
  for (const PodRule& rule : rules) {
    if (rule.ns != kube::ns(pod) || !rule.selector.matches(pod["metadata"]["labels"])) continue;
    due.emplace(rule.age ? now.present(created) + *rule.age : now.present(rule.at), &rule);
  }
  Annotations all{pod["metadata"]["annotations"]};
  std::vector<PodSegment> segments{{Time::min(), read_behaviour(all)}};
  for (const auto& [from, rule] : due) {
    for (const auto [key, value] : rule->annotations.members()) {
      all.values = all.values.with(key, value);
      all.since[std::string(key)] = from;
    }
    segments.push_back({from, read_behaviour(all)});
  }
  return segments;
}

}  // namespace slipway::cluster
