#include "delivery/application/pre_render.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "json/members.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kGoOn = "change the step's properties, or remove the annotation, and restart the workflow";

bool is_pre_render(const Value& step) { return step["stage"].as_string() == "pre-render"; }

std::unexpected<Status> invalid_source(std::string message) { return fail(Reason::Invalid, std::move(message)); }

Result<Value> merged_workflow(const Value& own, const Value& rendered) {
  if (rendered.has("ref")) return invalid_source("the rendered Application has workflow.ref: write the steps out");
  if (own.has("ref"))
    return invalid_source("spec.workflow.ref is set, and the rendered Application has steps of its own: give it none");
  json::ArrayBuilder steps;
  for (const Value& step : own["steps"].items()) {
    if (is_pre_render(step)) steps.add(step);
  }
  for (const Value& step : rendered["steps"].items()) {
    if (is_pre_render(step)) return invalid_source("the rendered Application has itself a step of stage pre-render");
    steps.add(step);
  }
  return json::with_members(own, rendered).with("steps", steps.build());
}

}  // namespace

PreRenderRecords read_records(std::string_view annotation) {
  PreRenderRecords records;
  const auto parsed = json::parse(annotation);
  if (!parsed) return records;
  for (const auto& [step, record] : parsed->members()) {
    records[std::string(step)] = {.inputs = record["inputs"].str(),
                                  .digest = record["digest"].str(),
                                  .writes = record["writes"].as_int(),
                                  .is_settled = record["settled"].as_bool()};
  }
  return records;
}

std::string print_records(const PreRenderRecords& records) {
  json::ObjectBuilder out;
  for (const auto& [step, record] : records) {
    out.set(
        step,
        json::object(
            {{"inputs", record.inputs}, {"digest", record.digest}, {"writes", record.writes}, {"settled", record.is_settled}}));
  }
  return json::print(out.build());
}

WriteBack decide_write_back(const PreRenderRecord* known, const std::string& inputs, const std::string& digest, bool is_same) {
  using Kind = WriteBack::Kind;
  const auto record = [&](std::int64_t writes) {
    return PreRenderRecord{.inputs = inputs, .digest = digest, .writes = writes};
  };
  if (is_same && (known == nullptr || known->is_settled)) return {.kind = Kind::Done};
  if (is_same) {
    WriteBack settle{.kind = Kind::Settle, .record = *known};
    settle.record.is_settled = true;
    return settle;
  }
  if (known == nullptr || known->inputs != inputs) return {.kind = Kind::Write, .record = record(1)};
  if (!known->is_settled && known->digest == digest) {
    return {.kind = Kind::Stop,
            .message = fmt::format("the same spec was written back already and is not there: somebody sets it back, or the "
                                   "server changes it. Leave what is rendered out of what else is applied; then {} {}",
                                   kGoOn, kPreRender)};
  }
  if (known->writes >= kMostWriteBacks) {
    return {.kind = Kind::Stop,
            .message = fmt::format("written back {} times in a row from the same source and parameters: the template renders "
                                   "something else each time, or somebody sets it back. To go on {} {}",
                                   known->writes, kGoOn, kPreRender)};
  }
  return {.kind = Kind::Write, .record = record(known->writes + 1)};
}

Result<Value> rendered_application(const std::string& text) {
  auto documents = json::parse_yaml_all(text, {.max_bytes = std::size_t{16} << 20});
  if (!documents) return invalid_source("what was rendered is no YAML: " + documents.error().message);
  Value found;
  for (const json::YamlDocument& one : *documents) {
    const bool is_application = one.value["kind"].as_string() == kApplicationKind.kind &&
                                one.value["apiVersion"].as_string() == kApplicationKind.api_version();
    if (!is_application) {
      return invalid_source(fmt::format("the template renders {} {} too: only one Application can be written back",
                                        one.value["kind"].str(), kube::name(one.value)));
    }
    if (!found.is_null()) return invalid_source("the template renders more than one Application: only one can be written back");
    found = one.value;
  }
  if (found.is_null()) return invalid_source("the template renders no Application");
  if (!found["spec"].is_object()) return invalid_source("the rendered Application has no spec");
  return found;
}

Result<Value> merged_spec(const Value& spec, const Value& rendered) {
  const Value merged = json::with_members(spec, rendered.without("workflow"));
  if (!rendered["workflow"].is_object()) return merged;
  SLIPWAY_TRY(workflow, merged_workflow(spec["workflow"], rendered["workflow"]));
  return merged.with("workflow", workflow);
}

bool has_pre_render(const workflow::Steps& steps) { return std::ranges::any_of(steps.steps, &workflow::Step::is_pre_render); }

bool has_pre_render_succeeded(const workflow::Steps& steps, const workflow::RunStatus& run) {
  return std::ranges::all_of(steps.steps, [&](const workflow::Step& step) {
    const auto known = std::ranges::find(run.steps, step.name, &workflow::StepStatus::name);
    return !step.is_pre_render ||
           (known != run.steps.end() && (known->phase == workflow::kSucceeded || known->phase == workflow::kSkipped));
  });
}

std::string pre_render_failure(const workflow::Steps& steps, const workflow::RunStatus& run) {
  for (const workflow::Step& step : steps.steps) {
    if (!step.is_pre_render) continue;
    const auto known = std::ranges::find(run.steps, step.name, &workflow::StepStatus::name);
    if (known != run.steps.end() && known->phase == workflow::kFailed) {
      return fmt::format("step {}: {}", step.name, known->message);
    }
  }
  return "";
}

}  // namespace slipway::delivery::application
