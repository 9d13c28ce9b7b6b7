#include <fmt/format.h>

#include <algorithm>

#include "delivery/gate/window.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promote_world.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr Duration kProtectionPause = std::chrono::minutes{1};

bool names(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

/// "Hold maintenance by ann: databases move".
std::string told(std::string_view kind, const std::string& name, const std::optional<Author>& by, const std::string& comment) {
  std::string text = fmt::format("{} {}", kind, name);
  if (by && !by->user.empty()) text += fmt::format(" by {}", by->user);
  if (!comment.empty()) text += fmt::format(": {}", comment);
  return text;
}

std::string with_end(std::string text, const std::optional<Time>& ends) {
  return ends ? fmt::format("{}; until {}", text, to_rfc3339(*ends)) : text;
}

std::optional<Time> earlier(std::optional<Time> a, std::optional<Time> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

gate::WindowGate as_freeze(gate::WindowGate window) {
  window.is_freeze = true;
  return window;
}

}  // namespace

FrozenTarget frozen_target(const Target& target, std::string_view ns) {
  if (!target.cluster) return {.ns = target.ns};
  return {.ns = target.ns,
          .cluster = fmt::format("{}/{}", target.cluster->ns.empty() ? ns : target.cluster->ns, target.cluster->name)};
}

std::string app_text(const AppRef& app) { return fmt::format("{}/{}", app.kind, app.name); }

bool is_named(const FreezeSpec& freeze, const std::string& pipeline, const std::string& environment) {
  const bool binds_names = freeze.targets.empty() || !freeze.pipelines.empty();
  return binds_names && names(freeze.pipelines, pipeline) && names(freeze.environments, environment);
}

bool is_in_labelled_cluster(const FreezeSpec& freeze, const std::map<std::string, std::string>& labels) {
  return std::ranges::all_of(freeze.cluster_labels, [&](const auto& wanted) {
    const auto label = labels.find(wanted.first);
    return label != labels.end() && label->second == wanted.second;
  });
}

bool PromotionWorld::delivers_into(const Environment& environment, const std::vector<FrozenTarget>& frozen) const {
  return std::ranges::any_of(environment.targets, [&](const Target& target) {
    return std::ranges::find(frozen, frozen_target(target, input.ns)) != frozen.end();
  });
}

bool PromotionWorld::is_about(const FreezeSpec& freeze, std::size_t environment) const {
  const Environment& one = input.spec.environments[environment];
  const bool is_bound =
      is_named(freeze, input.pipeline, one.name) || delivers_into(one, freeze.targets) || delivers_into(one, freeze.recorded);
  if (!is_bound || freeze.cluster_labels.empty()) return is_bound;
  const auto clusters = input.cluster_labels.find(one.name);
  if (clusters == input.cluster_labels.end()) return false;
  return std::ranges::any_of(clusters->second, [&](const auto& labels) { return is_in_labelled_cluster(freeze, labels); });
}

bool PromotionWorld::is_held_by(const HoldSpec& hold, std::size_t environment) const {
  const Environment& one = input.spec.environments[environment];
  if (hold.pipeline == input.pipeline && names(hold.environments, one.name)) return true;
  return hold.app == app_text(input.spec.app) && delivers_into(one, hold.targets);
}

std::optional<Standstill> PromotionWorld::freeze_in_force(const Known<FreezeSpec>& freeze) const {
  const FreezeSpec& spec = freeze.spec;
  if ((spec.from && now() < *spec.from) || (spec.until && now() >= *spec.until)) return std::nullopt;
  Standstill found{.cause = PromotionCause::Frozen,
                   .text = told(kFreezeKind.kind, freeze.name, spec.by, spec.comment),
                   .blockers = {{kFreezeKind.kind, freeze.name}},
                   .ends = spec.until};
  if (spec.window) {
    const Zone* at = zone(spec.window->time_zone);
    if (at == nullptr) {
      found.text += fmt::format("; its time zone {} is not known here, so it counts as in force", spec.window->time_zone);
      return found;
    }
    const gate::WindowView view = gate::look(as_freeze(*spec.window), *at, now());
    if (view.verdict.kind == gate::Verdict::Kind::Pass) return std::nullopt;
    if (view.verdict.kind == gate::Verdict::Kind::Unknown) found.text += "; " + view.verdict.text;
    found.ends = earlier(found.ends, view.changes);
  }
  found.text = with_end(std::move(found.text), found.ends);
  return found;
}

std::optional<Standstill> PromotionWorld::standstill(std::size_t environment) const {
  if (input.spec.is_suspended) {
    return Standstill{.cause = PromotionCause::Suspended,
                      .text = "spec.suspend of the pipeline is true",
                      .blockers = {{kPipelineKind.kind, input.pipeline}}};
  }
  const std::string& name = input.spec.environments[environment].name;
  for (const Known<HoldSpec>& hold : input.holds) {
    const bool is_over = hold.spec.until && now() >= *hold.spec.until;
    if (is_over || !is_held_by(hold.spec, environment)) continue;
    return Standstill{.cause = PromotionCause::Held,
                      .text = with_end(told(kHoldKind.kind, hold.name, hold.spec.by, hold.spec.comment), hold.spec.until),
                      .blockers = {{kHoldKind.kind, hold.name}},
                      .ends = hold.spec.until};
  }
  for (const Known<FreezeSpec>& freeze : input.freezes) {
    if (!is_about(freeze.spec, environment)) continue;
    if (auto found = freeze_in_force(freeze)) return found;
  }
  if (const auto found = input.protected_elsewhere.find(name); found != input.protected_elsewhere.end()) {
    return Standstill{.cause = PromotionCause::ProtectedElsewhere, .text = found->second};
  }
  return std::nullopt;
}

std::optional<Time> PromotionWorld::standstill_changes(std::size_t environment) const {
  std::optional<Time> next;
  const auto at = [&](const std::optional<Time>& time) {
    if (time && *time > now()) next = earlier(next, time);
  };
  for (const Known<HoldSpec>& hold : input.holds) {
    if (is_held_by(hold.spec, environment)) at(hold.spec.until);
  }
  // No watch tells of rights, nor of the other pipeline.
  if (input.protected_elsewhere.contains(input.spec.environments[environment].name)) at(now() + kProtectionPause);
  for (const Known<FreezeSpec>& freeze : input.freezes) {
    if (!is_about(freeze.spec, environment)) continue;
    at(freeze.spec.from);
    at(freeze.spec.until);
    const Zone* where = freeze.spec.window ? zone(freeze.spec.window->time_zone) : nullptr;
    if (where != nullptr) at(gate::look(as_freeze(*freeze.spec.window), *where, now()).changes);
  }
  return next;
}

}  // namespace slipway::delivery::pipeline
