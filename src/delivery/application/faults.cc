#include "delivery/application/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/compute_pool.h"
#include "base/text.h"
#include "delivery/application/admission.h"
#include "delivery/application/conditions.h"
#include "delivery/application/delivery_check.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kValid = "Valid";
constexpr Duration kMaxSearch = std::chrono::seconds{1};

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

/// As admission looks for faults.
Task<std::vector<Cause>> find_faults(Env& env, kube::Object application, Lookup lookup) {
  const Steady deadline = env.clock.steady() + kMaxSearch;
  const auto check = std::make_shared<DeliveryCheck>(application, kube::Object());
  while (check->read(lookup)) {
    if (co_await compute_until(env, std::string(kube::ns(application)), [check] { check->compute(); }, deadline)) continue;
    check->cancel();
    break;
  }
  co_return check->causes();
}

}  // namespace

Task<> tell_faults(Env& env, const kube::Object& application, Lookup lookup, KnownFaults& known, ApplicationStatus& status) {
  const std::string key =
      fmt::format("{} {}", kube::generation(application), status.latest_revision ? status.latest_revision->name : "");
  if (known.key != key) {
    const std::vector<Cause> faults = co_await find_faults(env, application, std::move(lookup));
    known = {key, joined(as_texts(faults), "; ")};
  }
  if (known.text.empty()) co_return drop_condition(status, kValid);
  set_condition(status, kValid, false, "Refused", known.text, env.clock.now());
}

Task<> tell_faults_of_steps(Env& env, const kube::Object& application, Lookup lookup, KnownFaults& known,
                            ApplicationStatus& status) {
  if (!has_failed_step(status)) co_return drop_condition(status, kValid);
  co_await tell_faults(env, application, std::move(lookup), known, status);
}

}  // namespace slipway::delivery::application
