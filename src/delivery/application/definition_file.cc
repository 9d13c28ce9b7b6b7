// Definitions in the form of `vela def`: a header with one field, named after the definition, and its program under `template`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cue/section.h"
#include "delivery/application/definition.h"
#include "delivery/workflow/builtin_texts.h"

namespace slipway::delivery::application {

namespace {

constexpr const char* kSystemNamespace = "vela-system";

struct Type {
  std::string_view name;
  DefinitionKind kind;
};
constexpr std::array kTypes = {Type{"component", DefinitionKind::Component}, Type{"trait", DefinitionKind::Trait},
                               Type{"policy", DefinitionKind::Policy}, Type{"workflow-step", DefinitionKind::WorkflowStep}};

std::unexpected<Status> invalid_file(const std::string& file, const std::string& why) {
  return fail(Reason::Invalid, fmt::format("{}: {}", file, why));
}

bool is_blank(std::string_view line) { return trimmed(line).empty(); }

/// What was cut out of a file as it reads best inside an object: without the blanks that stand for the rest of the file, and
/// without the indentation that comes from `template`. Imports stand at the margin.
std::string set_flush(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  while (!lines.empty() && is_blank(lines.back())) lines.pop_back();
  auto is_at_margin = [](std::string_view line) { return !line.starts_with('\t') && !is_blank(line); };
  const auto last = std::find_if(lines.rbegin(), lines.rend(), is_at_margin);
  auto inside = static_cast<std::size_t>(lines.rend() - last);
  std::string out;
  for (std::size_t i = 0; i < inside; ++i) {
    if (!is_blank(lines[i])) out += fmt::format("{}{}\n", lines[i].starts_with(' ') ? "\t" : "", trimmed(lines[i]));
  }
  if (!out.empty()) out += '\n';
  while (inside < lines.size() && is_blank(lines[inside])) ++inside;
  for (std::size_t i = inside; i < lines.size(); ++i) {
    std::string_view line = is_blank(lines[i]) ? std::string_view() : lines[i];
    if (line.starts_with('\t')) line.remove_prefix(1);
    out += fmt::format("{}\n", line);
  }
  return out;
}

Result<cue::Cursor> header_of(const std::string& file, const std::string& text) {
  auto program = cue::compile({{file, cue::without_section(text, "template")}}, {}, {.allows_unused_imports = true});
  if (!program) return invalid_file(file, cue::describe(program.error()));
  cue::Cursor root = cue::evaluate(*program);
  if (cue::Errors wrong = root.validate(cue::Demand::Concrete); !wrong.empty()) return invalid_file(file, cue::describe(wrong));
  return root;
}

Value metadata_of(const std::string& name, const Value& header) {
  json::ObjectBuilder annotations(header["annotations"]);
  if (header["alias"].is_string() && !header["alias"].as_string().empty())
    annotations.set("definition.oam.dev/alias", header["alias"]);
  if (header["description"].is_string()) annotations.set("definition.oam.dev/description", header["description"]);
  Value out = json::object({{"name", name}, {"annotations", annotations.build()}});
  return header["labels"].empty() ? out : out.with("labels", header["labels"]);
}

}  // namespace

Result<Value> definition_from_cue(const std::string& file, const std::string& text) {
  SLIPWAY_TRY(root, header_of(file, text));
  const std::vector<cue::FieldCursor> fields = root.fields();
  if (fields.size() != 1)
    return invalid_file(file, fmt::format("one field names the definition beside `template`, here are {}", fields.size()));
  auto header = fields[0].value.to_json();
  if (!header) return invalid_file(file, cue::describe(header.error()));
  const std::string type = (*header)["type"].str();
  const auto* found = std::ranges::find(kTypes, type, &Type::name);
  if (found == kTypes.end())
    return invalid_file(
        file, fmt::format("{}.type: \"{}\" is none of component, trait, policy, workflow-step", fields[0].name, type));
  const std::string body = cue::section(text, "template");
  if (body.empty()) return invalid_file(file, "it has no `template`");
  const Value attributes = (*header)["attributes"].is_null() ? json::object({}) : (*header)["attributes"];
  return json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                       {"kind", kind_of(found->kind)},
                       {"metadata", metadata_of(fields[0].name, *header)},
                       {"spec", attributes.with_path({"schematic", "cue", "template"}, set_flush(body))}});
}

const std::vector<Value>& builtin_definitions() {
  static const std::vector<Value> made = [] {
    std::vector<Value> out;
    for (const workflow::BuiltinText& one : workflow::builtin_texts()) {
      if (one.path.starts_with("package/") || one.path.starts_with("view/")) continue;
      auto object = definition_from_cue(std::string(one.path), std::string(one.text));
      if (object) out.push_back(object->with_path({"metadata", "namespace"}, kSystemNamespace));
    }
    return out;
  }();
  return made;
}

}  // namespace slipway::delivery::application
