// Steps that an operator carries out: the step's `output` is applied, and its condition `workflow-progress` says how it goes.
#include <fmt/format.h>

#include "delivery/workflow/pass.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

constexpr const char* kContextAnnotation = "app.oam.dev/workflow-context";
constexpr const char* kProgress = "workflow-progress";
/// Of the components and variables in the annotation; beyond, the ConfigMap that `store` names has them.
constexpr std::size_t kMaxContextBytes = 65'536;

/// As the Application's spec has them; those of a WorkflowRun: none.
Value components_by_name(const kube::Object& owner) {
  json::ObjectBuilder components;
  for (const Value& component : owner["spec"]["components"].items())
    components.set(component["name"].str(), component.without("name"));
  return components.build();
}

void judge(const Value& object, StepOutcome& outcome) {
  SubStepStatus& status = outcome.status;
  const auto set = [&](const char* phase, const char* reason, std::string message) {
    status.phase = phase;
    status.reason = reason;
    status.message = std::move(message);
  };
  const Value& condition = kube::condition(object, kProgress);
  const Value& observed =
      condition.has("observedGeneration") ? condition["observedGeneration"] : object["status"]["observedGeneration"];
  const std::string message = condition["message"].str();
  if (condition.is_null() || observed.as_int() != kube::generation(object)) {
    set(kRunning, kReasonWait, fmt::format("waits for condition {} of generation {}", kProgress, kube::generation(object)));
  } else if (condition["reason"].as_string() == "Stopped") {
    set(kFailed, kReasonTerminate, message);
    outcome.terminates = true;
  } else if (condition["status"].as_string() == "False") {
    set(kFailed, kReasonAction, message);
    outcome.terminates = true;
  } else if (condition["status"].as_string() != "True" || condition["reason"].as_string() != "Succeeded") {
    set(kRunning, kReasonWait, message.empty() ? fmt::format("waits for condition {}", kProgress) : message);
  }
}

}  // namespace

Value PassRun::operator_context(const std::string& step) const {
  const Value& context = run_.setting.context;
  json::ObjectBuilder told;
  told.set("appName", context.has("appName") ? context["appName"] : Value(kube::name(run_.setting.owner)));
  told.set("namespace", kube::ns(run_.setting.owner));
  told.set("appRevision", context["appRevision"]);
  told.set("stepName", step);
  const Value components = components_by_name(run_.setting.owner);
  if (json::print(components).size() + json::print(store_.open_vars()).size() <= kMaxContextBytes) {
    told.set("components", components).set("vars", store_.open_vars());
  }
  if (status_.context_backend) {
    told.set("store", json::object({{"apiVersion", status_.context_backend->api_version},
                                    {"kind", status_.context_backend->kind},
                                    {"name", status_.context_backend->name},
                                    {"namespace", status_.context_backend->ns}}));
  }
  return told.build();
}

Task<> PassRun::run_operator_step(const Step& step, Value output, StepOutcome& outcome) {
  const Provider* apply = run_.providers.find("kube", "apply");
  if (apply == nullptr) {
    fail_step(step, outcome, kReasonExecute, "there is no provider kube");
    co_return;
  }
  output = output.with_path({"metadata", "annotations", kContextAnnotation}, json::print(operator_context(step.name)));
  if (kube::name(output).empty()) output = output.with_path({"metadata", "name"}, step.name);
  if (kube::ns(output).empty()) output = output.with_path({"metadata", "namespace"}, kube::ns(run_.setting.owner));
  NextCall call{.path = "output", .is_flat = false, .provider = apply, .params = json::object({{"value", output}})};
  Answer answer = co_await ask(step, call, Evaluation{}, outcome);
  if (answer.resource) {
    outcome.status.resource_ref = answer.resource;
    outcome.watched.push_back(*answer.resource);
  }
  if (answer.kind == Answer::Kind::Wait) {
    outcome.status.phase = kRunning;
    outcome.status.reason = kReasonWait;
    outcome.status.message = answer.message;
    co_return;
  }
  if (answer.kind != Answer::Kind::Done) {
    fail_step(step, outcome, kReasonExecute, fmt::format("function call error for output: {}", answer.message));
    co_return;
  }
  outcome.value = outcome.value.with("output", answer.returns["value"]);
  judge(answer.returns["value"], outcome);
}

}  // namespace slipway::delivery::workflow
