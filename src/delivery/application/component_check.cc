#include "delivery/application/component_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/count.h"
#include "base/text.h"
#include "delivery/application/kind.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using json::quoted;

constexpr const char* kReferences = "ref-objects";

RenderContext check_context(const kube::Object& application, const ApplicationSpec& spec) {
  RenderContext out;
  const Value& metadata = application["metadata"];
  out.app_name = metadata["name"].str();
  out.ns = metadata["namespace"].str();
  out.app_revision = out.app_name + "-v1";
  out.app_revision_number = 1;
  if (metadata["labels"].is_object()) out.app_labels = metadata["labels"];
  if (metadata["annotations"].is_object()) out.app_annotations = metadata["annotations"];
  out.components = application["spec"]["components"];
  out.publish_version = std::string(kube::annotation(application, kPublishVersion));
  out.workflow_name = spec.workflow_ref.empty() ? std::string(kube::annotation(application, kWorkflowName)) : spec.workflow_ref;
  out.cluster_version = json::object({{"major", "1"}, {"minor", 33}, {"gitVersion", "v1.33.0"}, {"platform", "linux/amd64"}});
  return out;
}

/// A path of CUE ("ports.0.\"a.b\"") in segments; in quotes a backslash takes the next character as it is.
std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  bool is_quoted = false;
  std::string segment;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (is_quoted && c == '\\' && i + 1 < path.size()) {
      segment += path[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == '.' && !is_quoted) {
      out.push_back(std::exchange(segment, ""));
    } else {
      segment += c;
    }
  }
  out.push_back(segment);
  return out;
}

bool is_plain(std::string_view name) {
  return std::ranges::all_of(
      name, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; });
}

/// Where a path below properties is in the Application, and the value there.
struct CheckPlace {
  std::string path;
  const Value* value;
};
CheckPlace place_of(std::string path, const Value& properties, const std::vector<std::string>& segments) {
  const Value* at = &properties;
  for (const std::string& segment : segments) {
    const auto index = at->is_array() ? parse_count(segment) : std::nullopt;
    const bool is_item = index.has_value();
    path += is_item || !is_plain(segment) ? fmt::format("[{}]", segment) : "." + segment;
    at = is_item ? &at->item(static_cast<std::size_t>(*index)) : &(*at)[segment];
  }
  return {std::move(path), at};
}

std::vector<Cause> causes_of(const RenderError& error, const ComponentSpec& component, std::string path) {
  if (error.trait_index) path += fmt::format(".traits[{}]", *error.trait_index);
  const TraitSpec* trait = error.trait_index ? &component.traits[*error.trait_index] : nullptr;
  const Value& properties = trait == nullptr ? component.properties : trait->properties;
  std::vector<Cause> causes;
  for (const ParameterFault& one : error.parameters) causes.push_back(cause_of(one, properties, path));
  if (!causes.empty()) return causes;
  if (error.is_user_error) return {field::invalid(path + ".properties", json::print(properties), error.message)};
  return {field::invalid(path + ".type", quoted(trait == nullptr ? component.type : trait->type), error.message)};
}

std::optional<RenderError> error_of(const ComponentSpec& component, const ComponentTemplates& templates,
                                    const RenderContext& context) {
  if (component.type == kReferences) return std::nullopt;  // the objects are read first
  auto made = render_component(component, templates, context, {}, {}, {});
  return made ? std::nullopt : std::optional(std::move(made).error());
}

/// What a template lacks that is no parameter may be known when it is rendered.
bool may_pass(const RenderError& error, bool is_fed) { return error.is_incomplete && (is_fed || !error.is_user_error); }

void compare(const std::vector<std::vector<std::string>>& paths, const Value& now, const Value& before, const std::string& path,
             std::vector<Cause>& causes) {
  for (const std::vector<std::string>& one : paths) {
    const CheckPlace old_place = place_of("", before, one);
    const CheckPlace place = place_of(path + ".properties", now, one);
    if (old_place.value->is_null() || *old_place.value == *place.value) continue;
    causes.push_back(field::invalid(place.path, json::print(*place.value),
                                    fmt::format("field is immutable, it was {} (the annotation {}: \"true\" allows the change)",
                                                json::print(*old_place.value), kForceParameters)));
  }
}

/// Without looking: what override policies leave alone is the same value.
bool is_unchanged(const ComponentSpec& before, const ComponentSpec& now) {
  const auto is_same = [](const TraitSpec& one, const TraitSpec& other) {
    return one.type == other.type && one.properties.is_same(other.properties);
  };
  return before.type == now.type && before.external_revision == now.external_revision &&
         before.properties.is_same(now.properties) && std::ranges::equal(before.traits, now.traits, is_same);
}

}  // namespace

Cause cause_of(const ParameterFault& fault, const Value& properties, const std::string& path) {
  const std::size_t dot = fault.field.find('.');
  const auto segments = dot == std::string::npos ? std::vector<std::string>{} : segments_of(fault.field.substr(dot + 1));
  CheckPlace place = place_of(path + ".properties", properties, segments);
  if (fault.is_missing) {
    const std::string detail = fault.message.starts_with("required (") && fault.message.ends_with(')')
                                   ? fault.message.substr(10, fault.message.size() - 11)
                                   : "";
    return field::required(std::move(place.path), detail);
  }
  return field::invalid(std::move(place.path), json::print(*place.value), fault.message);
}

Cause not_found(std::string path, const std::string& name, const std::string& detail) {
  Cause cause = field::not_found(std::move(path), quoted(name));
  cause.message += ": " + detail;
  return cause;
}

Cause unknown_type(std::string path, const std::string& type, const Status& error) {
  if (error.reason == Reason::NotFound) return not_found(std::move(path), type, error.message);
  return field::invalid(std::move(path), quoted(type), error.message);
}

OverriddenComponents overridden_components(const std::vector<ComponentSpec>& components,
                                           const std::vector<PolicySpec>& overrides, const std::atomic<bool>& cancelled) {
  OverriddenComponents overridden;
  std::map<std::string_view, const ComponentSpec*> written;
  for (const ComponentSpec& component : components) written.emplace(component.name, &component);
  const auto take = [&](const std::vector<ComponentSpec>& changed) {
    for (const ComponentSpec& one : changed) {
      const auto before = written.find(one.name);
      if (before != written.end() && !is_unchanged(*before->second, one)) overridden[one.name].push_back(one);
    }
  };
  std::vector<ComponentSpec> all = components;
  for (const PolicySpec& policy : overrides) {
    if (cancelled) return overridden;
    if (const auto changed = override_components(components, policy)) take(*changed);
    if (overrides.size() < 2) break;
    if (auto changed = override_components(all, policy)) all = std::move(*changed);
  }
  if (overrides.size() > 1) take(all);
  return overridden;
}

ComponentCheck::ComponentCheck(const kube::Object& application, const kube::Object& old, const ApplicationSpec& spec,
                               const OverriddenComponents& overridden)
    : context_(check_context(application, spec)),
      forces_parameters_(kube::annotation(application, kForceParameters) == "true"),
      old_components_(old["spec"]["components"]),
      overridden_(overridden) {}

RenderingCheck ComponentCheck::rendering(const ComponentSpec& component, ComponentTemplates templates, const Lookup& lookup,
                                         bool is_fed, std::string path) const {
  RenderingCheck check{.component = component,
                       .templates = std::move(templates),
                       .overridden = {},
                       .is_fed = is_fed || !component.inputs.empty(),
                       .path = std::move(path)};
  const auto found = overridden_.find(component.name);
  if (found == overridden_.end()) return check;
  for (const ComponentSpec& one : found->second) {
    auto known = definitions_of(one, Parsed(), lookup);
    if (known) check.overridden.push_back({one, {std::move(known->first), std::move(known->second)}});
  }
  return check;
}

std::vector<Cause> RenderingCheck::faults(const RenderContext& context) const {
  const auto error = error_of(component, templates, context);
  if (!error || may_pass(*error, is_fed)) return {};
  const bool is_mended = std::ranges::any_of(overridden, [&](const auto& one) {
    const auto wrong = error_of(one.first, one.second, context);
    return !wrong || may_pass(*wrong, !one.first.inputs.empty());
  });
  return is_mended ? std::vector<Cause>() : causes_of(*error, component, path);
}

std::vector<Cause> ComponentCheck::immutable(const ComponentSpec& component, const ComponentTemplates& templates,
                                             const std::string& path) const {
  std::vector<Cause> causes;
  if (forces_parameters_) return causes;
  for (const Value& before : old_components_.items()) {
    if (before["name"].as_string() != component.name) continue;
    if (before["type"].as_string() == component.type) {
      compare(templates.component->immutable_parameters, component.properties, before["properties"], path, causes);
    }
    for (std::size_t i = 0; i < component.traits.size(); ++i) {
      const Value& old_trait = before["traits"].item(i);
      if (old_trait["type"].as_string() != component.traits[i].type) continue;
      compare(templates.traits[i]->immutable_parameters, component.traits[i].properties, old_trait["properties"],
              fmt::format("{}.traits[{}]", path, i), causes);
    }
  }
  return causes;
}

}  // namespace slipway::delivery::application
