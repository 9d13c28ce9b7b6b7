#include "oracle_status.h"

#include <algorithm>

#include "kube/object.h"
#include "oracle_normalise.h"

namespace slipway::oracle_test {

namespace {

constexpr const char* kEnds[] = {"running",    "succeeded",          "workflowFailed", "failed", "workflowTerminated",
                                 "terminated", "workflowSuspending", "suspending"};

/// The members, those that are null or empty text left out.
Value picked(const Value& from, std::initializer_list<std::string_view> names) {
  json::ObjectBuilder made;
  for (const std::string_view name : names) {
    const Value value =
        name == "message" && from[name].is_string() ? Value(normalised_text(from[name].as_string())) : from[name];
    if (!value.is_null() && !(value.is_string() && value.as_string().empty())) made.set(name, value);
  }
  return made.build();
}

Value step_of(const Value& step) { return picked(step, {"name", "type", "phase", "reason"}); }

Value service_of(const Value& service) {
  json::ArrayBuilder traits;
  for (const Value& trait : service["traits"].items()) traits.add(picked(trait, {"type", "healthy", "message"}));
  return picked(service, {"name", "namespace", "cluster", "healthy", "message"}).with("traits", traits.build());
}

bool is_application(const Value& target) { return kube::kind(target) == "Application"; }

}  // namespace

std::string phase_of(const Value& target) { return target["status"]["status"].str(); }

Value steps_of(const Value& target) {
  const Value& status = is_application(target) ? target["status"]["workflow"] : target["status"];
  json::ArrayBuilder steps;
  for (const Value& step : status["steps"].items()) {
    steps.add(step_of(step));
    for (const Value& sub : step["subSteps"].items()) steps.add(step_of(sub));
  }
  return steps.build();
}

Value services_of(const Value& target) {
  json::ArrayBuilder services;
  for (const Value& service : target["status"]["services"].items()) services.add(service_of(service));
  return services.build();
}

Value expected_steps(const Value& line) {
  json::ArrayBuilder steps;
  for (const Value& step : line["steps"].items()) steps.add(step_of(step));
  return steps.build();
}

Value expected_services(const Value& line) {
  json::ArrayBuilder services;
  for (const Value& service : line["services"].items()) services.add(service_of(service));
  return services.build();
}

const Value& conditions_of(const Value& target) { return target["status"]["conditions"]; }

Value digest_of(const Value& target) {
  json::ArrayBuilder conditions;
  for (const Value& condition : conditions_of(target).items()) conditions.add(picked(condition, {"type", "status", "reason"}));
  return json::object({{"phase", phase_of(target)},
                       {"steps", steps_of(target)},
                       {"services", services_of(target)},
                       {"conditions", conditions.build()}});
}

Duration rest_of(const std::string& phase) {
  const bool is_end = std::ranges::find(kEnds, phase) != std::ranges::end(kEnds);
  return is_end ? Duration(std::chrono::seconds{20}) : Duration(std::chrono::minutes{5});
}

}  // namespace slipway::oracle_test
