#include "krm/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "krm/fn/rows.h"

namespace slipway::krm {
namespace {

constexpr std::array kRows{
    FunctionRow{"apply-replacements", fn::apply_replacements, "Copies fields from one resource to others."},
    FunctionRow{"apply-setters", fn::apply_setters, "Sets fields that have a comment kpt-set."},
    FunctionRow{"cel-validate", fn::cel_validate, "Judges resources by CEL expressions."},
    FunctionRow{"create-setters", fn::create_setters, "Writes comments kpt-set behind fields with the given values."},
    FunctionRow{"cue-mutate", fn::cue_mutate, "Unifies resources with a CUE value."},
    FunctionRow{"cue-validate", fn::cue_validate, "Judges resources by a CUE schema."},
    FunctionRow{"delete-annotations", fn::delete_annotations, "Removes annotations."},
    FunctionRow{"drop-comments", fn::drop_comments, "Removes comments; a pipeline puts them back."},
    FunctionRow{"ensure-name-substring", fn::ensure_name_substring, "Puts text before or behind names, and follows references.",
                /*loses_places=*/true},
    FunctionRow{"fix", fn::fix, "Brings packages of old formats to kpt.dev/v1."},
    FunctionRow{"format", fn::format, "Sorts fields as kpt does."},
    FunctionRow{"gen-configmap", fn::gen_configmap, "Makes a ConfigMap."},
    FunctionRow{"kubeconform", fn::kubeval, "Judges resources by their schemas."},
    FunctionRow{"kubeval", fn::kubeval, "Judges resources by their schemas."},
    FunctionRow{"list-setters", fn::list_setters, "Reports setters."},
    FunctionRow{"no-op", fn::no_op, "Changes nothing."},
    FunctionRow{"remove-local-config-resources", fn::remove_local_config_resources, "Removes what is for local use only."},
    FunctionRow{"search-replace", fn::search_replace, "Finds fields by value or path, and changes them."},
    FunctionRow{"set-annotations", fn::set_annotations, "Sets annotations."},
    FunctionRow{"set-enforcement-action", fn::set_enforcement_action, "Sets what Gatekeeper's constraints do."},
    FunctionRow{"set-image", fn::set_image, "Sets name, tag or digest of images."},
    FunctionRow{"set-labels", fn::set_labels, "Sets labels, and selectors with them."},
    FunctionRow{"set-namespace", fn::set_namespace, "Sets namespaces, and what refers to them."},
    FunctionRow{"set-project-id", fn::set_project_id, "Sets the project of Google's resources."},
    FunctionRow{"upsert-resource", fn::upsert_resource, "Replaces a resource or adds it."},
};

struct Instead {
  std::string_view name;
  std::string_view use;
};
constexpr std::string_view kProgram = "a program (a FunctionConfig on a server, exec in a folder)";
constexpr std::array kInstead{
    Instead{"starlark", "cue-mutate or cel-validate, or a program (a FunctionConfig on a server, exec in a folder)"},
    Instead{"gatekeeper", "cel-validate"},
    Instead{"render-helm-chart", "a package with the rendered chart"},
    Instead{"inflate-helm-chart", "a package with the rendered chart"},
    Instead{"kustomize", "a package with the built kustomization"},
    Instead{"enable-gcp-services", kProgram},
    Instead{"export-terraform", kProgram},
    Instead{"generate-folders", kProgram},
};

}  // namespace

FunctionResult FunctionResult::info(std::string message) {
  FunctionResult made;
  made.message = std::move(message);
  made.severity = "info";
  return made;
}

FunctionResult FunctionResult::warning(std::string message) {
  FunctionResult made = info(std::move(message));
  made.severity = "warning";
  return made;
}

FunctionResult FunctionResult::error(std::string message) {
  FunctionResult made = info(std::move(message));
  made.severity = "error";
  return made;
}

FunctionResult FunctionResult::at(const Resource& resource) && {
  api_version = resource.api_version();
  kind = resource.kind();
  name = resource.name();
  namespace_name = resource.namespace_name();
  return std::move(*this).in_file(resource);
}

FunctionResult FunctionResult::in_file(const Resource& resource) && {
  file_path = resource.path;
  file_index = resource.index;
  return std::move(*this);
}

FunctionResult FunctionResult::field(std::string path) && {
  field_path = std::move(path);
  return std::move(*this);
}

std::map<std::string, std::string> ResourceList::data() const {
  std::map<std::string, std::string> made;
  if (!config) return made;
  const Node* data = config->root().find("data");
  if (data == nullptr) return made;
  for (std::size_t i = 0; i < data->pairs(); ++i) {
    const Node& value = data->value(i);
    if (value.is_scalar()) made[data->key(i).text] = value.is_null() ? "" : value.text;
  }
  return made;
}

std::span<const FunctionRow> functions() { return kRows; }

std::string function_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  image = image.substr(image.rfind('/') + 1);
  return std::string(image.substr(0, image.find(':')));
}

Result<FunctionRun> find_function(std::string_view image) {
  const std::string name = function_name(image);
  const auto found = std::ranges::find(kRows, name, &FunctionRow::name);
  if (found != kRows.end()) return found->run;
  const auto instead = std::ranges::find(kInstead, name, &Instead::name);
  return fail(Reason::NotImplemented, fmt::format("the function {:?} is not built in: use {}", image,
                                                  instead != kInstead.end() ? instead->use : kProgram));
}

bool has_errors(std::span<const FunctionResult> results) {
  return std::ranges::any_of(results, [](const FunctionResult& result) { return result.severity == "error"; });
}

}  // namespace slipway::krm
