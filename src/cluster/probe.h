// Probes of a container (startup, readiness, liveness) as a pure state machine over one run of it, after the kubelet's prober:
// when which is due, what their answers make of the container. Doing them is process_probes.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

enum class ProbeKind : std::uint8_t { Startup, Readiness, Liveness };
/// "Startup", "Readiness", "Liveness".
std::string_view to_string(ProbeKind kind);

/// One probe of a container's spec, with the API's defaults.
struct ProbeSpec {
  ProbeKind kind = ProbeKind::Readiness;
  json::Value action;  // the probe: httpGet, tcpSocket or exec is in it
  Duration initial_delay{0};
  Duration period = std::chrono::seconds{10};
  Duration timeout = std::chrono::seconds{1};
  std::int64_t success_threshold = 1;
  std::int64_t failure_threshold = 3;
  std::optional<Duration> grace{};  // of a restart by this probe; nullopt: the pod's
};
std::vector<ProbeSpec> probes_of(const json::Value& container);

class ContainerProbes {
 public:
  /// `running_for`: how long this run has lasted. `status`: the container's in the pod; what it says of the same run
  /// (`is_same_run`) stands until the probes say otherwise, so that a pod does not lose its readiness when Slipway restarts.
  ContainerProbes(const json::Value& container, Steady now, Duration running_for, const json::Value& status, bool is_same_run);

  /// Which are to be done now; each counts as under way until record(). `is_ending`: the pod is being deleted, readiness only.
  std::vector<std::size_t> take_due(Steady now, bool is_ending);
  /// When one is due next; nullopt: none, or only after an answer.
  std::optional<Steady> next() const;
  const ProbeSpec& spec(std::size_t index) const { return probes_[index].spec; }
  void record(std::size_t index, bool is_success);

  bool is_started() const;
  bool is_ready() const;
  /// The probe by which the container is to be restarted; null while there is none.
  const ProbeSpec* failed() const;

 private:
  struct Probe {
    ProbeSpec spec;
    Steady due;
    bool is_under_way = false;
    bool result = false;
    bool last_answer = false;
    std::int64_t streak = 0;  // of last_answer
  };
  bool may_run(const Probe& probe) const;

  std::vector<Probe> probes_;
  std::optional<std::size_t> failed_;
};

}  // namespace slipway::cluster
