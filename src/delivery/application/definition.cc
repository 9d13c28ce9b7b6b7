#include "delivery/application/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/application/terraform_template.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {

namespace {

using workflow::TemplatePtr;

constexpr std::array kKinds = {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy,
                               DefinitionKind::WorkflowStep};

std::optional<DefinitionKind> definition_kind(std::string_view kind) {
  for (DefinitionKind one : kKinds) {
    if (kind_of(one) == kind) return one;
  }
  return std::nullopt;
}

Status invalid_definition(const Definition& definition, std::string_view place, const std::string& why) {
  Status status;
  status.reason = Reason::Invalid;
  status.message = fmt::format("{} {}: {}: {}", kind_of(definition.kind), definition.name, place, why);
  status.name = definition.name;
  status.kind = std::string(kind_of(definition.kind));
  return status;
}

Result<std::optional<Stage>> stage_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "PreDispatch") return Stage::PreDispatch;
  if (text == "DefaultDispatch") return Stage::DefaultDispatch;
  if (text == "PostDispatch") return Stage::PostDispatch;
  return fail(Reason::Invalid, fmt::format("\"{}\" is none of PreDispatch, DefaultDispatch, PostDispatch", text));
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> out;
  for (const Value& one : list.items()) out.push_back(one.str());
  return out;
}

void read_workload(const Value& spec, Definition& out) {
  const Value& workload = spec["workload"];
  if (workload["type"].as_string() == "autodetects.core.oam.dev") return;
  out.workload_api_version = workload["definition"]["apiVersion"].str();
  out.workload_kind = workload["definition"]["kind"].str();
}

Result<void> read_trait(const Value& spec, Definition& out) {
  auto stage = stage_of(spec["stage"].str());
  if (!stage) return fail(invalid_definition(out, "spec.stage", stage.error().message));
  out.stage = stage->value_or(Stage::DefaultDispatch);
  out.workload_ref_path = spec["workloadRefPath"].str();
  out.manages_workload = spec["manageWorkload"].as_bool();
  out.is_control_plane_only = spec["controlPlaneOnly"].as_bool();
  out.applies_to = texts(spec["appliesToWorkloads"]);
  out.conflicts_with = texts(spec["conflictsWith"]);
  return {};
}

/// Where the template stands: spec.schematic.cue.template, in the oldest definitions spec.extension.template.
std::string template_text(const Value& definition) {
  const Value& spec = definition["spec"];
  if (is_terraform(definition)) return terraform_template(definition);
  std::string text = spec["schematic"]["cue"]["template"].str();
  return text.empty() ? spec["extension"]["template"].str() : text;
}

constexpr std::size_t kMaxParameterDepth = 8;

void collect_immutable(const cue::Cursor& value, std::vector<std::string>& path, Definition& out) {
  if (path.size() >= kMaxParameterDepth) return;
  for (const cue::FieldCursor& one : value.fields(true)) {
    path.push_back(one.name);
    const auto is_marker = [](const std::string& line) { return trimmed(line) == "+immutable"; };
    if (std::ranges::any_of(one.doc, is_marker)) {
      out.immutable_parameters.push_back(path);
    } else {
      collect_immutable(one.value, path, out);
    }
    path.pop_back();
  }
}

void read_parameters(const cue::Program& program, const std::string& text, Definition& out) {
  const cue::Cursor root = cue::evaluate(program, {}, cue::Limits::for_template());
  const bool is_old = !root.field("parameter").exists() && root.field("parameters").exists();
  if (is_old) out.parameter_field = "parameters";
  std::vector<std::string> path;
  if (text.contains("+immutable")) collect_immutable(root.field(out.parameter_field), path, out);
}

/// Null, and a fault in `out`, when the text does not compile.
TemplatePtr compile(Definition& out, std::string_view place, const std::string& text, workflow::Templates& templates) {
  if (text.empty()) return nullptr;
  auto made = templates.compile(out.name, text);
  if (made) return *made;
  out.fault += fmt::format("{}{}: {}", out.fault.empty() ? "" : "\n", place, trimmed(made.error().message));
  return nullptr;
}

bool is_part_of_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '#';
}

/// Whether `output` or `outputs` stands in the template as a word, perhaps in a condition, or comes about in it.
bool may_have_output(const cue::Program& program, const std::string& text) {
  const cue::Cursor root = cue::evaluate(program, {}, cue::Limits::for_template());
  if (root.field("output").exists() || root.field("outputs").exists()) return true;
  constexpr std::string_view kOutput = "output";
  for (std::size_t at = text.find(kOutput); at != std::string::npos; at = text.find(kOutput, at + 1)) {
    std::size_t end = at + kOutput.size();
    if (end < text.size() && text[end] == 's') ++end;
    const bool begins = at == 0 || (!is_part_of_name(text[at - 1]) && text[at - 1] != '.');
    if (begins && (end == text.size() || !is_part_of_name(text[end]))) return true;
  }
  return false;
}

/// Without an object nothing would ever be there.
void require_output(const std::string& text, Definition& out) {
  if (out.kind != DefinitionKind::Component || out.program == nullptr || may_have_output(out.program->program, text)) return;
  out.program = nullptr;
  out.fault +=
      fmt::format("{}template: it has neither `output` nor `outputs`: it makes no object", out.fault.empty() ? "" : "\n");
}

void compile_all(const Value& definition, Definition& out, workflow::Templates& templates) {
  const std::string text = template_text(definition);
  out.program = compile(out, "template", text, templates);
  if (out.program != nullptr) read_parameters(out.program->program, text, out);
  if (out.program != nullptr && out.kind == DefinitionKind::WorkflowStep && out.parameter_field == "parameters") {
    // The engine of workflows knows the newer name only.
    out.program = compile(out, "template", text + "\nparameters: parameter\nparameter: _\n", templates);
  }
  require_output(text, out);
  Value status = definition["spec"]["status"];
  if (status.is_null() && is_terraform(definition)) {
    status = json::object({{"healthPolicy", terraform_health_policy()}, {"customStatus", terraform_custom_status()}});
  }
  const std::string health = status["healthPolicy"].str();
  out.health = compile(out, "status.healthPolicy", health, templates);
  out.has_faulty_health = !health.empty() && out.health == nullptr;
  out.custom_status = compile(out, "status.customStatus", status["customStatus"].str(), templates);
  out.details = compile(out, "status.details", status["details"].str(), templates);
}

}  // namespace

std::string_view kind_of(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::Component:
      return "ComponentDefinition";
    case DefinitionKind::Trait:
      return "TraitDefinition";
    case DefinitionKind::Policy:
      return "PolicyDefinition";
    case DefinitionKind::WorkflowStep:
      return "WorkflowStepDefinition";
  }
}

Result<DefinitionPtr> read_definition(const Value& object, workflow::Templates& templates) {
  const auto kind = definition_kind(kube::kind(object));
  if (!kind) return fail(Reason::Invalid, fmt::format("\"{}\" is no kind of a definition", kube::kind(object)));
  auto out = std::make_shared<Definition>();
  out->kind = *kind;
  out->name = std::string(kube::name(object));
  out->object = object;
  const Value& spec = object["spec"];
  out->digest = sha256_hex(fmt::format("{}\n{}\n{}", kind_of(*kind), out->name, json::print(spec)));
  compile_all(object, *out, templates);
  if (*kind == DefinitionKind::Component) read_workload(spec, *out);
  if (*kind == DefinitionKind::Trait) SLIPWAY_TRY_VOID(read_trait(spec, *out));
  return DefinitionPtr(std::move(out));
}

}  // namespace slipway::delivery::application
