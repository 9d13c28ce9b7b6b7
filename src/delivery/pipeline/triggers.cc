#include "delivery/pipeline/triggers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

std::string object_name(const Object& object, const std::string& cluster) {
  return fmt::format("{} {}/{} in cluster {}", kube::kind(object), kube::ns(object), kube::name(object), cluster);
}

std::optional<Time> last_change(const Object& object) {
  return kube::time_of(kube::condition(object, "Ready")["lastTransitionTime"]);
}

/// A source that is followed, not named: a range, any release, a branch.
std::optional<Trigger> followed_version(const AppRef& app, const FirstTarget& target) {
  const std::string& wanted = target.values->specified.text;
  Trigger trigger{.object = fmt::format("{} {}/{} in cluster {}", app.kind, target.ns, app.name, target.cluster),
                  .last = target.values->running.time};
  const std::string source = target.related.empty() ? "" : " of " + target.related.back();
  if (wanted.starts_with("branch:")) {
    trigger.kind = "Branch";
    trigger.text = fmt::format("branch {}{}", wanted.substr(7), source);
    return trigger;
  }
  const std::string range = wanted.starts_with("semver:") ? wanted.substr(7) : wanted;
  const auto exact = Semver::parse(range);
  if (range.empty() || (exact && exact->precision == 3) || !Range::parse(range)) return std::nullopt;
  trigger.kind = "VersionRange";
  trigger.text = range + source;
  return trigger;
}

bool names_it(const Object& alert, const AppRef& app, const std::vector<FirstTarget>& targets, const std::string& cluster) {
  return std::ranges::any_of(alert["spec"]["eventSources"].items(), [&](const Value& source) {
    const std::string_view name = source["name"].as_string();
    const std::string_view ns = source["namespace"].as_string().empty() ? kube::ns(alert) : source["namespace"].as_string();
    const bool is_name = source["kind"].as_string() == app.kind && (name == "*" || name == app.name);
    return is_name && std::ranges::any_of(targets, [&](const FirstTarget& one) {
             return one.cluster == cluster && (ns == "*" || ns == one.ns);
           });
  });
}

void add_alert(std::vector<Trigger>& to, const Object& alert, const ClusterTriggers& in) {
  const std::string provider = alert["spec"]["providerRef"]["name"].str();
  to.push_back({.kind = "Alert",
                .object = object_name(alert, in.cluster),
                .text = fmt::format("tells provider {}{}", provider, alert["spec"]["suspend"].as_bool() ? "; suspended" : ""),
                .last = last_change(alert)});
  for (const Object& one : in.objects) {
    if (kube::kind(one) != "Provider" || kube::name(one) != provider || kube::ns(one) != kube::ns(alert)) continue;
    to.push_back({.kind = "Provider",
                  .object = object_name(one, in.cluster),
                  .text = fmt::format("of type {}, told by Alert {}", one["spec"]["type"].as_string(), kube::name(alert)),
                  .last = last_change(one)});
  }
}

void add_image_policy(std::vector<Trigger>& to, const Object& policy, const ClusterTriggers& in,
                      const std::vector<FirstTarget>& targets) {
  const Value& status = policy["status"];
  const Value& latest = status["latestRef"];
  const Image chosen = latest.is_null() ? Image::parse(status["latestImage"].as_string())
                                        : Image{.name = latest["name"].str(), .tag = latest["tag"].str()};
  const bool is_ours = std::ranges::any_of(targets, [&](const FirstTarget& target) {
    return target.cluster == in.cluster &&
           std::ranges::any_of(target.values->images, [&](const Image& image) { return image.name == chosen.name; });
  });
  if (!is_ours || chosen.name.empty()) return;
  to.push_back({.kind = "ImagePolicy",
                .object = object_name(policy, in.cluster),
                .text = fmt::format("chose {}", chosen.to_string()),
                .last = last_change(policy)});
}

/// "TIME ENVIRONMENT REVISION".
std::optional<Trigger> hook_trigger(std::string_view hook) {
  const std::vector<std::string_view> words = split(hook, ' ');
  if (words.size() < 2) return std::nullopt;
  const auto at = parse_rfc3339(words[0]);
  if (!at) return std::nullopt;
  return Trigger{.kind = "Hook",
                 .object = std::string(words[1]),
                 .text = words.size() > 2 ? fmt::format("told of {}", words[2]) : "called",
                 .last = *at};
}

}  // namespace

std::vector<Trigger> triggers_of(const AppRef& app, const std::vector<FirstTarget>& targets,
                                 const std::vector<ClusterTriggers>& clusters, std::string_view hook) {
  std::vector<Trigger> found;
  if (auto told = hook_trigger(hook)) found.push_back(std::move(*told));
  for (const FirstTarget& target : targets) {
    if (auto followed = followed_version(app, target)) found.push_back(std::move(*followed));
  }
  for (const ClusterTriggers& cluster : clusters) {
    for (const Object& object : cluster.objects) {
      const std::string_view kind = kube::kind(object);
      if (kind == "Alert" && names_it(object, app, targets, cluster.cluster)) add_alert(found, object, cluster);
      if (kind == "ImagePolicy") add_image_policy(found, object, cluster, targets);
    }
  }
  return found;
}

}  // namespace slipway::delivery::pipeline
