// Event and Lease.
#include <fmt/format.h>

#include <array>

#include "json/text.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

void validate_event(const Object& object, const Object&, std::vector<Cause>& causes) {
  const Value& about = object["involvedObject"]["namespace"];
  // Events about cluster-scoped objects lie in "default".
  const bool is_cluster_scoped = about.as_string().empty();
  if (is_cluster_scoped ? kube::ns(object) == "default" || kube::ns(object) == "kube-system"
                        : about.as_string() == kube::ns(object))
    return;
  causes.push_back(
      field::invalid("involvedObject.namespace", json::print(Value(about.as_string())), "does not match event.namespace"));
}

void validate_lease(const Object& object, const Object&, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.has("leaseDurationSeconds") && spec["leaseDurationSeconds"].as_int() <= 0) {
    causes.push_back(
        field::invalid("spec.leaseDurationSeconds", json::print(spec["leaseDurationSeconds"]), "must be greater than 0"));
  }
  if (spec["leaseTransitions"].as_int() < 0) {
    causes.push_back(
        field::invalid("spec.leaseTransitions", json::print(spec["leaseTransitions"]), "must be greater than or equal to 0"));
  }
}

}  // namespace

std::span<const Strategy> record_strategies() {
  static constexpr std::array kRows{Strategy{.group = "", .kind = "Event", .validate = validate_event},
                                    Strategy{.group = "coordination.k8s.io", .kind = "Lease", .validate = validate_lease}};
  return kRows;
}

}  // namespace slipway::server
