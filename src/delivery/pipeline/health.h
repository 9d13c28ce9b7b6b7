// Whether an object does what its kind is for, judged from the object alone: healthy, on its way, or not. Rows by group and
// kind; a kind without a row is judged as kstatus does (sigs.k8s.io/cli-utils): by observedGeneration and the conditions
// Stalled, Reconciling and Ready. An object whose controller has not seen its newest generation is on its way, whatever its
// status says.
#pragma once

#include <cstdint>
#include <string>

#include "json/codec.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

enum class Health : std::uint8_t { Healthy, Progressing, Unhealthy };

inline auto describe_enum(Health) {
  return json::enum_names<Health>(
      {{Health::Healthy, "healthy"}, {Health::Progressing, "progressing"}, {Health::Unhealthy, "unhealthy"}});
}

struct HealthVerdict {
  Health health = Health::Healthy;
  std::string text{};  // why; empty when healthy
};

HealthVerdict health_of(const kube::Object& object);

/// Whether the status is about the newest generation; true for kinds that count none.
bool is_observed(const kube::Object& object);

/// The group in an object's apiVersion; "" for the core group.
std::string_view group_of(const kube::Object& object);

}  // namespace slipway::delivery::pipeline
