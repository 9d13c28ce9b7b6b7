#include "delivery/application/template_programs.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "delivery/probe/secret.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

constexpr std::size_t kMaxToldBytes = 1'000;

/// How kustomize is to merge lists of Applications: by these keys instead of whole.
Value list_by(const char* key, Value items) {
  return json::object({{"type", "array"},
                       {"x-kubernetes-patch-strategy", "merge"},
                       {"x-kubernetes-patch-merge-key", key},
                       {"items", std::move(items)}});
}

Value object_of(Value properties) { return json::object({{"type", "object"}, {"properties", std::move(properties)}}); }

Value application_schema() {
  const Value anything = json::object({{"type", "object"}});
  const Value component = object_of(json::object({{"traits", list_by("type", anything)}}));
  const Value step = object_of(json::object({{"subSteps", list_by("name", anything)}}));
  const Value spec = object_of(json::object({{"components", list_by("name", component)},
                                             {"policies", list_by("name", anything)},
                                             {"workflow", object_of(json::object({{"steps", list_by("name", step)}}))}}));
  const Value kind =
      json::object({{"group", kApplicationKind.group}, {"version", kApplicationKind.version}, {"kind", kApplicationKind.kind}});
  const Value application =
      object_of(json::object({{"spec", spec}})).with("x-kubernetes-group-version-kind", json::array({kind}));
  return json::object({{"definitions", json::object({{"application", application}})}});
}

Value kustomization(const TemplateOrder& order) {
  const std::string base = order.path.empty() ? "../source" : "../source/" + order.path;
  Value made =
      json::object({{"resources", json::array({Value(base)})}, {"openapi", json::object({{"path", "application.json"}})}});
  if (order.parameters.is_null()) return made;
  const Value target =
      json::object({{"group", kApplicationKind.group}, {"version", kApplicationKind.version}, {"kind", kApplicationKind.kind}});
  return made.with("patches", json::array({json::object({{"path", "patch.yaml"}, {"target", target}})}));
}

Value patch_object(const TemplateOrder& order) {
  return order.parameters.with("apiVersion", kApplicationKind.api_version())
      .with("kind", kApplicationKind.kind)
      .with("metadata", json::object({{"name", order.application}}));
}

}  // namespace

ProgramCall helm_call(const TemplateOrder& order, const SourceFiles& source) {
  ProgramCall call{.name = "helm",
                   .arguments = {"template", order.application, "chart", "--namespace", order.ns, "--values", "values.yaml"},
                   .files = program_files(source, order.path, "chart")};
  call.files["values.yaml"] = {json::print(order.parameters.is_null() ? Value::empty_object() : order.parameters)};
  call.tenant = order.ns;
  call.timeout = order.timeout;
  return call;
}

ProgramCall kustomize_call(const TemplateOrder& order, const SourceFiles& source, const std::string& program) {
  ProgramCall call{.name = program,
                   .arguments = {program == "kustomize" ? "build" : "kustomize", "overlay"},
                   .files = program_files(source, "", "source")};
  call.files["overlay/kustomization.yaml"] = {json::print(kustomization(order))};
  call.files["overlay/application.json"] = {json::print(application_schema())};
  if (!order.parameters.is_null()) call.files["overlay/patch.yaml"] = {json::print(patch_object(order))};
  call.tenant = order.ns;
  call.timeout = order.timeout;
  return call;
}

Result<std::string> kustomize_program(Programs& programs) {
  for (const char* name : {"kustomize", "kubectl"}) {
    if (programs.find(name)) return name;
  }
  return fail(Reason::NotFound, "neither kustomize nor kubectl is in the PATH of Slipway: install one of them");
}

Task<Result<std::string>> rendered_by(Programs& programs, ProgramCall call) {
  const std::string name = call.name;
  auto end = co_await programs.run(std::move(call));
  if (!end && end.error().reason == Reason::NotFound) {
    co_return fail(Reason::NotFound, fmt::format("{}: install {} where Slipway runs", end.error().message, name));
  }
  SLIPWAY_CO_TRY_VOID(end);
  if (end->code == 0) co_return std::move(end->output);
  co_return fail(Reason::Invalid,
                 fmt::format("{} ended with {}: {}", name, end->code, probe::shortened(end->error, kMaxToldBytes)));
}

}  // namespace slipway::delivery::application
