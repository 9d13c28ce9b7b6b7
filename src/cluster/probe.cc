#include "cluster/probe.h"

#include <algorithm>

namespace slipway::cluster {

namespace {

using json::Value;

Duration seconds_of(const Value& field, Duration absent) {
  return field.is_null() ? absent : seconds_saturating(field.as_int());
}

ProbeSpec probe_of(ProbeKind kind, const Value& probe) {
  ProbeSpec spec{kind, probe};
  spec.initial_delay = seconds_of(probe["initialDelaySeconds"], spec.initial_delay);
  spec.period = std::max<Duration>(seconds_of(probe["periodSeconds"], spec.period), std::chrono::seconds{1});
  spec.timeout = seconds_of(probe["timeoutSeconds"], spec.timeout);
  spec.success_threshold = std::max<std::int64_t>(probe["successThreshold"].as_int(1), 1);
  spec.failure_threshold = std::max<std::int64_t>(probe["failureThreshold"].as_int(3), 1);
  if (const Value& grace = probe["terminationGracePeriodSeconds"]; !grace.is_null()) spec.grace = seconds_of(grace, {});
  return spec;
}

}  // namespace

std::string_view to_string(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::Startup:
      return "Startup";
    case ProbeKind::Readiness:
      return "Readiness";
    case ProbeKind::Liveness:
      return "Liveness";
  }
  return "";
}

std::vector<ProbeSpec> probes_of(const json::Value& container) {
  std::vector<ProbeSpec> probes;
  for (const auto& [kind, field] : {std::pair{ProbeKind::Startup, "startupProbe"},
                                    {ProbeKind::Readiness, "readinessProbe"},
                                    {ProbeKind::Liveness, "livenessProbe"}}) {
    if (const Value& probe = container[field]; !probe.is_null()) probes.push_back(probe_of(kind, probe));
  }
  return probes;
}

ContainerProbes::ContainerProbes(const json::Value& container, Steady now, Duration running_for, const json::Value& status,
                                 bool is_same_run) {
  for (ProbeSpec& spec : probes_of(container)) {
    Probe probe{std::move(spec), now};
    probe.due = now + std::max(probe.spec.initial_delay - running_for, Duration{0});
    switch (probe.spec.kind) {
      case ProbeKind::Startup:
        probe.result = is_same_run && status["started"].as_bool();
        break;
      case ProbeKind::Readiness:
        probe.result = is_same_run && status["ready"].as_bool();
        break;
      case ProbeKind::Liveness:
        probe.result = true;
        break;
    }
    probes_.push_back(std::move(probe));
  }
}

/// Until it has started only its startup probe runs; after that all but that.
bool ContainerProbes::may_run(const Probe& probe) const {
  return !probe.is_under_way && !failed_ && (probe.spec.kind == ProbeKind::Startup) != is_started();
}

std::vector<std::size_t> ContainerProbes::take_due(Steady now, bool is_ending) {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    Probe& probe = probes_[i];
    const bool is_wanted = !is_ending || probe.spec.kind == ProbeKind::Readiness;
    if (!is_wanted || !may_run(probe) || probe.due > now) continue;
    probe.is_under_way = true;
    probe.due = now + probe.spec.period;
    due.push_back(i);
  }
  return due;
}

std::optional<Steady> ContainerProbes::next() const {
  std::optional<Steady> next;
  for (const Probe& probe : probes_) {
    if (may_run(probe)) next = std::min(next.value_or(probe.due), probe.due);
  }
  return next;
}

void ContainerProbes::record(std::size_t index, bool is_success) {
  Probe& probe = probes_[index];
  probe.is_under_way = false;
  probe.streak = probe.last_answer == is_success ? probe.streak + 1 : 1;
  probe.last_answer = is_success;
  if (probe.streak < (is_success ? probe.spec.success_threshold : probe.spec.failure_threshold)) return;
  probe.result = is_success;
  if (!is_success && probe.spec.kind != ProbeKind::Readiness) failed_ = index;
}

bool ContainerProbes::is_started() const {
  return std::ranges::all_of(probes_, [](const Probe& probe) { return probe.spec.kind != ProbeKind::Startup || probe.result; });
}

bool ContainerProbes::is_ready() const {
  const auto is_good = [](const Probe& probe) { return probe.spec.kind != ProbeKind::Readiness || probe.result; };
  return is_started() && std::ranges::all_of(probes_, is_good);
}

const ProbeSpec* ContainerProbes::failed() const { return failed_ ? &probes_[*failed_].spec : nullptr; }

}  // namespace slipway::cluster
