#include "delivery/application/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/text.h"
#include "kube/names.h"

namespace slipway::delivery::application {

namespace {

using Causes = std::vector<Cause>;

Status invalid_spec(Causes causes) {
  Status status;
  status.reason = Reason::Invalid;
  std::vector<std::string> texts;
  for (const Cause& one : causes) texts.push_back(one.field + ": " + one.message);
  status.message = joined(texts, "; ");
  status.causes = std::move(causes);
  return status;
}

std::string at(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string at(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

/// Reads members of one object; what is wrong becomes a cause.
class SpecReader {
 public:
  SpecReader(const Value& value, std::string path, Causes& causes) : value_(value), path_(std::move(path)), causes_(causes) {
    if (!value.is_object()) wrong_type(value, path_, "an object");
  }

  std::string text(std::string_view name) const {
    const Value& one = value_[name];
    if (!one.is_string() && !one.is_null()) wrong_type(one, at(path_, name), "a string");
    return one.str();
  }

  std::string required_text(std::string_view name) const {
    std::string found = text(name);
    if (value_.is_object() && found.empty() && (value_[name].is_null() || value_[name].is_string()))
      causes_.push_back(field::required(at(path_, name)));
    return found;
  }

  const Value& object(std::string_view name) const {
    const Value& one = value_[name];
    if (!one.is_object() && !one.is_null()) wrong_type(one, at(path_, name), "an object");
    return one;
  }

  template <class Read>
  auto list(std::string_view name, Read read) const {
    std::vector<decltype(read(value_, path_))> out;
    const Value& all = value_[name];
    if (!all.is_array() && !all.is_null()) wrong_type(all, at(path_, name), "a list");
    for (std::size_t i = 0; i < all.items().size(); ++i) out.push_back(read(all.item(i), at(at(path_, name), i)));
    return out;
  }

  std::vector<std::string> texts(std::string_view name) const {
    return list(name, [this](const Value& one, const std::string& path) {
      if (!one.is_string()) wrong_type(one, path, "a string");
      return one.str();
    });
  }

 private:
  void wrong_type(const Value& value, const std::string& path, std::string_view wanted) const {
    causes_.push_back(field::type_invalid(path, json::print(value), fmt::format("must be {}", wanted)));
  }

  const Value& value_;
  std::string path_;
  Causes& causes_;
};

TraitSpec trait_of(const Value& value, const std::string& path, Causes& causes) {
  SpecReader reader(value, path, causes);
  return {reader.required_text("type"), reader.object("properties")};
}

ComponentSpec component_of(const Value& value, const std::string& path, Causes& causes) {
  SpecReader reader(value, path, causes);
  ComponentSpec out;
  out.name = reader.required_text("name");
  out.type = reader.required_text("type");
  out.properties = reader.object("properties");
  out.external_revision = reader.text("externalRevision");
  out.depends_on = reader.texts("dependsOn");
  out.traits = reader.list("traits", [&](const Value& one, const std::string& p) { return trait_of(one, p, causes); });
  out.inputs = reader.list("inputs", [&](const Value& one, const std::string& p) {
    SpecReader input(one, p, causes);
    return workflow::StepInput{input.required_text("from"), input.text("parameterKey")};
  });
  out.outputs = reader.list("outputs", [&](const Value& one, const std::string& p) {
    SpecReader output(one, p, causes);
    return workflow::StepOutput{output.required_text("name"), output.required_text("valueFrom")};
  });
  return out;
}

/// A policy without a name is called after its type and its place.
PolicySpec policy_of(const Value& value, const std::string& path, std::size_t index, Causes& causes) {
  SpecReader reader(value, path, causes);
  PolicySpec out{reader.text("name"), reader.required_text("type"), reader.object("properties")};
  if (out.name.empty()) out.name = fmt::format("{}-auto-gen-{}", out.type, index);
  return out;
}

void read_workflow(const Value& value, ApplicationSpec& out, Causes& causes) {
  const Value& given = value["workflow"];
  out.has_workflow = !given.is_null();
  if (!out.has_workflow) return;
  SpecReader reader(given, "spec.workflow", causes);
  out.workflow_ref = reader.text("ref");
  out.workflow_mode = reader.object("mode");
  out.workflow_steps = given["steps"];
}

Value inputs_json(const std::vector<workflow::StepInput>& inputs) {
  json::ArrayBuilder out;
  for (const workflow::StepInput& one : inputs) {
    Value input = json::object({{"from", one.from}});
    out.add(one.parameter_key.empty() ? input : input.with("parameterKey", one.parameter_key));
  }
  return out.build();
}

Value outputs_json(const std::vector<workflow::StepOutput>& outputs) {
  json::ArrayBuilder out;
  for (const workflow::StepOutput& one : outputs) out.add(json::object({{"name", one.name}, {"valueFrom", one.value_from}}));
  return out.build();
}

Value traits_json(const std::vector<TraitSpec>& traits) {
  json::ArrayBuilder out;
  for (const TraitSpec& one : traits) {
    Value trait = json::object({{"type", one.type}});
    out.add(one.properties.is_null() ? trait : trait.with("properties", one.properties));
  }
  return out.build();
}

template <class Items>
void require_unique_names(const Items& items, const std::string& path, Causes& causes) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& name = items[i].name;
    if (!name.empty() && !seen.insert(name).second)
      causes.push_back(field::duplicate(at(path, i) + ".name", json::print(Value(name))));
  }
}

}  // namespace

Value ComponentSpec::to_json() const {
  json::ObjectBuilder out;
  out.add("name", name).add("type", type);
  if (!external_revision.empty()) out.add("externalRevision", external_revision);
  if (!properties.is_null()) out.add("properties", properties);
  if (!depends_on.empty()) out.add("dependsOn", json::array(depends_on));
  if (!inputs.empty()) out.add("inputs", inputs_json(inputs));
  if (!outputs.empty()) out.add("outputs", outputs_json(outputs));
  if (!traits.empty()) out.add("traits", traits_json(traits));
  return out.build();
}

const ComponentSpec* ApplicationSpec::find(std::string_view component) const {
  for (const ComponentSpec& one : components) {
    if (one.name == component) return &one;
  }
  return nullptr;
}

Result<ComponentSpec> read_component(const Value& component, const std::string& path) {
  Causes causes;
  ComponentSpec out = component_of(component, path, causes);
  if (!causes.empty()) return fail(invalid_spec(std::move(causes)));
  return out;
}

namespace {

/// Components may be left out where a step writes them; a shared workflow may have one.
void require_components(const Value& spec, Causes& causes) {
  if (!spec.is_object() || !spec["components"].is_null()) return;
  const Value& workflow = spec["workflow"];
  const auto writes = [](const Value& step) { return step["stage"].as_string() == "pre-render"; };
  if (workflow["ref"].is_string() || std::ranges::any_of(workflow["steps"].items(), writes)) return;
  causes.push_back(
      field::required("spec.components",
                      "list what is to be delivered ([] for nothing), or let a step of stage: pre-render write it, such as "
                      "helm-template or kustomize-patch"));
}

}  // namespace

Result<ApplicationSpec> read_application(const Value& spec) {
  Causes causes;
  SpecReader reader(spec, "spec", causes);
  ApplicationSpec out;
  require_components(spec, causes);
  out.components =
      reader.list("components", [&](const Value& one, const std::string& path) { return component_of(one, path, causes); });
  std::size_t index = 0;
  out.policies =
      reader.list("policies", [&](const Value& one, const std::string& path) { return policy_of(one, path, index++, causes); });
  read_workflow(spec, out, causes);
  out.rollout_plan = reader.object("rolloutPlan");
  if (!causes.empty()) return fail(invalid_spec(std::move(causes)));
  return out;
}

std::optional<Cause> check_size(const Value& spec) {
  if (json::print(spec).size() <= kMaxSpecBytes) return std::nullopt;
  std::string path = "spec";
  const Value& components = spec["components"];
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Value& properties = components.item(i)["properties"];
    if (json::print(properties).size() > kMaxSpecBytes) path = at("spec.components", i) + ".properties";
  }
  return field::too_long(path, kMaxSpecBytes);
}

namespace {

std::size_t count_steps(const Value& steps) {
  std::size_t count = steps.size();
  for (const Value& step : steps.items()) count += step["subSteps"].size();
  return count;
}

void check_count(std::string path, std::size_t count, std::size_t old_count, std::size_t max, Causes& causes) {
  if (count > max && count > old_count) causes.push_back(field::too_many(std::move(path), count, max));
}

}  // namespace

std::vector<Cause> check_counts(const Value& spec, const Value& old_spec) {
  Causes causes;
  check_count("spec.components", spec["components"].size(), old_spec["components"].size(), kMaxComponents, causes);
  for (std::size_t i = 0; i < spec["components"].size(); ++i) {
    check_count(at("spec.components", i) + ".traits", spec["components"].item(i)["traits"].size(),
                old_spec["components"].item(i)["traits"].size(), kMaxTraits, causes);
  }
  check_count("spec.policies", spec["policies"].size(), old_spec["policies"].size(), kMaxPolicies, causes);
  check_count("spec.workflow.steps", count_steps(spec["workflow"]["steps"]), count_steps(old_spec["workflow"]["steps"]),
              kMaxSteps, causes);
  return causes;
}

std::vector<Cause> check_application(const ApplicationSpec& spec) {
  Causes causes;
  require_unique_names(spec.components, "spec.components", causes);
  require_unique_names(spec.policies, "spec.policies", causes);
  for (std::size_t i = 0; i < spec.components.size(); ++i) {
    const std::string& name = spec.components[i].name;
    for (const std::string& fault : kube::dns1123_subdomain_faults(name)) {
      causes.push_back(field::invalid(at("spec.components", i) + ".name", json::print(Value(name)), fault));
    }
  }
  for (std::size_t i = 0; i < spec.policies.size(); ++i) {
    const PolicySpec& one = spec.policies[i];
    if (one.properties.is_null() && one.type != "debug")
      causes.push_back(field::required(at("spec.policies", i) + ".properties"));
  }
  if (!spec.workflow_ref.empty() && !spec.workflow_steps.empty())
    causes.push_back(field::forbidden("spec.workflow.steps", "ref and steps exclude each other"));
  return causes;
}

}  // namespace slipway::delivery::application
