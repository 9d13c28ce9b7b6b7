#include "delivery/application/faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/admission.h"
#include "delivery/application/conditions.h"
#include "delivery/application/delivery_check.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kValid = "Valid";

bool is_error(const workflow::SubStepStatus& step) {
  return step.phase == workflow::kFailed &&
         (step.reason == workflow::kReasonExecute || step.reason == workflow::kReasonFailedAfterRetries ||
          step.reason == workflow::kReasonInput);
}

bool has_failed_step(const ApplicationStatus& status) {
  return status.workflow && std::ranges::any_of(status.workflow->steps, [](const workflow::StepStatus& step) {
           return is_error(step) || std::ranges::any_of(step.sub_steps, is_error);
         });
}

}  // namespace

void tell_faults(const kube::Object& application, const Lookup& lookup, KnownFaults& known, ApplicationStatus& status,
                 Time now) {
  const std::string key =
      fmt::format("{} {}", kube::generation(application), status.latest_revision ? status.latest_revision->name : "");
  if (known.key != key) known = {key, joined(as_texts(check_delivery(application, {}, lookup)), "; ")};
  if (known.text.empty()) return drop_condition(status, kValid);
  set_condition(status, kValid, false, "Refused", known.text, now);
}

void tell_faults_of_steps(const kube::Object& application, const Lookup& lookup, KnownFaults& known, ApplicationStatus& status,
                          Time now) {
  if (!has_failed_step(status)) return drop_condition(status, kValid);
  tell_faults(application, lookup, known, status, now);
}

}  // namespace slipway::delivery::application
