#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/application/verdicts.h"
#include "delivery/workflow/secret_texts.h"
#include "json/text.h"

namespace slipway::delivery::application {

namespace {

constexpr std::size_t kMostDetailName = 31;

/// Evaluates one status text.
cue::Cursor evaluated(const workflow::TemplatePtr& text, const Value& context, const Value& parameter) {
  const Value given = parameter.is_null() ? json::object({}) : parameter;
  return cue::evaluate(
      text->program,
      std::vector<cue::Hole>{{"context", text->context.part_of(context)}, {"parameter", text->parameter.part_of(given)}},
      cue::Limits::for_template());
}

bool is_hidden(const cue::FieldCursor& field) {
  return std::ranges::any_of(field.attributes,
                             [](const std::string& one) { return one.starts_with("@local(") || one.starts_with("@private("); });
}

/// A text as it is, anything else as CUE writes it.
std::string text_of(const cue::Cursor& value) {
  if (value.kind() == cue::Kind::String) return value.as_string();
  std::string text(trimmed(value.to_cue()));
  if (value.kind() != cue::Kind::Struct) return text;
  if (text.empty()) return "{}";
  std::string out = "{\n";
  for (std::string_view line : split(text, '\n')) out += "\t" + std::string(line) + "\n";
  return out + "}";
}

/// Fills `verdict.details`; gives what the other texts see as context.status.details.
Value read_details(const cue::Cursor& root, HealthVerdict& verdict) {
  json::ObjectBuilder seen;
  for (const cue::FieldCursor& one : root.fields()) {
    if (one.name == "context" || one.name == "parameter" || one.name.size() > kMostDetailName) continue;
    auto value = one.value.to_json();
    const bool is_private = one.name.starts_with('$');
    if (!is_private && is_hidden(one)) continue;
    if (value) seen.add(one.name, *value);
    if (!is_private) verdict.details[one.name] = value ? text_of(one.value) : "_|_";
  }
  return seen.build();
}

/// Statuses do not show what Secrets hold.
void hide_secrets(const Value& output, const Value& outputs, HealthVerdict& verdict) {
  workflow::SecretTexts secrets;
  const auto add = [&](const Value& object) {
    if (object["kind"].as_string() == "Secret") secrets.add(object);
  };
  add(output);
  for (const auto& [name, object] : outputs.members()) add(object);
  verdict.message = secrets.without(std::move(verdict.message));
  for (auto& [name, text] : verdict.details) text = secrets.without(std::move(text));
}

/// Empty when the evaluation stayed within its budget; else what cue says then.
std::string fault_beyond_budget(const cue::Cursor& root) {
  const cue::Errors errors = root.validate();
  const auto at =
      std::ranges::find_if(errors, [](const cue::Error& one) { return one.message.starts_with("evaluation takes too "); });
  return at == errors.end() ? "" : "healthPolicy: " + at->message;
}

bool is_there(const Definition& definition, const Value& output, const Value& outputs) {
  return definition.kind != DefinitionKind::Component || !output.is_null() || !outputs.empty();
}

/// `context` as the texts see it.
Value seen_context(const Value& context, const Value& parameter, const Value& output, const Value& outputs) {
  Value seen = context;
  if (!output.is_null()) seen = seen.with("output", output);
  if (!outputs.empty()) seen = seen.with("outputs", outputs);
  if (!parameter.is_null()) seen = seen.with("parameter", parameter);
  return seen.with("status", json::object({}));
}

}  // namespace

std::string sight_digest(const Definition& definition, const Value& context, const Value& parameter, const Value& output,
                         const Value& outputs) {
  const Value seen = seen_context(context, parameter, output, outputs);
  std::string text = fmt::format("{} {}", definition.digest, is_there(definition, output, outputs));
  for (const workflow::TemplatePtr& one : {definition.details, definition.health, definition.custom_status}) {
    if (one == nullptr) continue;
    text += '\n';
    text += json::print(one->context.part_of(seen));
    text += json::print(one->parameter.part_of(parameter));
  }
  const auto add_secret = [&](const Value& object) {
    if (object["kind"].as_string() == "Secret") text += json::print(object);
  };
  add_secret(output);
  for (const auto& [name, object] : outputs.members()) add_secret(object);
  return sha256_hex(text);
}

HealthVerdict judge(const Definition& definition, const Value& context, const Value& parameter, const Value& output,
                    const Value& outputs) {
  HealthVerdict verdict;
  Value seen = seen_context(context, parameter, output, outputs);
  if (definition.details != nullptr) {
    const Value details = read_details(evaluated(definition.details, seen, parameter), verdict);
    seen = seen.with_path({"status", "details"}, details);
  }
  verdict.is_healthy = is_there(definition, output, outputs) && !definition.has_faulty_health;
  if (verdict.is_healthy && definition.health != nullptr) {
    const cue::Cursor root = evaluated(definition.health, seen, parameter);
    verdict.is_healthy = root.field("isHealth").as_bool(false);
    verdict.fault = fault_beyond_budget(root);
  }
  if (definition.custom_status != nullptr) {
    seen = seen.with_path({"status", "healthy"}, verdict.is_healthy);
    verdict.message = evaluated(definition.custom_status, seen, parameter).field("message").as_string();
  }
  if (!verdict.fault.empty()) verdict.message = verdict.fault + (verdict.message.empty() ? "" : "; ") + verdict.message;
  hide_secrets(output, outputs, verdict);
  return verdict;
}

}  // namespace slipway::delivery::application
