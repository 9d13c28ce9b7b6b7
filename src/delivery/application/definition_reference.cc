#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "delivery/application/definition_commands.h"
#include "delivery/application/terraform_template.h"
#include "delivery/family/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

struct Chapter {
  std::string_view kind;
  std::string_view title;
};

constexpr std::array kChapters = {Chapter{"ComponentDefinition", "Components"}, Chapter{"TraitDefinition", "Traits"},
                                  Chapter{"PolicyDefinition", "Policies"}, Chapter{"WorkflowStepDefinition", "Workflow steps"}};

constexpr const char* kIntroduction =
    "What `slipway def gen-docs` says of definitions: the built-in ones and, where a cluster is named, its own. A type is "
    "written "
    "as CUE has it: `*` marks the default, `|` separates what is allowed.\n";

std::string cell(std::string text) {
  std::string out;
  for (const char c : one_line(std::move(text))) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string description_of(const Value& object) {
  return one_line(std::string(kube::annotation(object, "definition.oam.dev/description")));
}

bool is_deprecated(const Value& object) {
  return kube::label(object, "custom.definition.oam.dev/deprecated") == "true" || kube::label(object, "deprecated") == "true";
}

std::string section_of(const Value& object) {
  std::string text = fmt::format("\n### {}\n\n{}{}\n\n", kube::name(object), is_deprecated(object) ? "Deprecated. " : "",
                                 description_of(object));
  const auto docs = parameter_docs(template_of(object));
  if (docs.empty()) return text + "It takes no parameters of its own.\n";
  text += "| Parameter | Type | Needed | Meaning |\n|---|---|---|---|\n";
  for (const ParameterDoc& doc : docs) {
    const bool is_needed = !doc.is_optional && !doc.type.contains('*');
    text += fmt::format("| `{}` | `{}` | {} | {} |\n", doc.name, cell(doc.type), is_needed ? "yes" : "no", cell(doc.usage));
  }
  return text;
}

}  // namespace

std::string definitions_reference(std::vector<Value> definitions) {
  std::ranges::sort(definitions, {},
                    [](const Value& one) { return std::tuple(std::string(kube::name(one)), std::string(kube::ns(one))); });
  std::string text = fmt::format("# Definitions\n\n{}", kIntroduction);
  for (const Chapter& chapter : kChapters) {
    if (std::ranges::none_of(definitions, [&](const Value& one) { return kube::kind(one) == chapter.kind; })) continue;
    text += fmt::format("\n## {}\n", chapter.title);
    for (const Value& object : definitions) {
      if (kube::kind(object) == chapter.kind) text += section_of(object);
    }
  }
  return text;
}

}  // namespace slipway::delivery::application
