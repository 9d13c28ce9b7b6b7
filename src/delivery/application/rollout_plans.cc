#include "delivery/application/rollout_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "delivery/application/naming.h"
#include "delivery/application/revision.h"
#include "delivery/application/spec.h"
#include "delivery/application/taking_over.h"
#include "json/members.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kPlan = "rolloutPlan";
/// Of a revision: ComponentNames as JSON.
constexpr const char* kComponentNames = "slipway.dev/component-revisions";

/// The fields of a plan of a rollout.
constexpr std::array<std::string_view, 16> kPlanFields{
    "rolloutStrategy", "targetSize",           "numBatches",      "rolloutBatches", "batchPartition", "lastBatchToRollout",
    "paused",          "revertOnDelete",       "rolloutWebhooks", "canaryMetric",   "traffic",        "gates",
    "onFailure",       "batchDeadlineSeconds", "notifications",   "snapshotConfig"};

bool is_plan_field(std::string_view name) { return std::ranges::find(kPlanFields, name) != kPlanFields.end(); }

/// NAME or NAME@REVISION.
bool is_rollout_trait(const Value& trait) {
  const std::string_view type = trait["type"].as_string();
  return type.substr(0, type.find('@')) == kRolloutTrait;
}

Value plan_of_trait(const Value& properties) {
  json::ObjectBuilder plan;
  for (const auto& [name, value] : properties.members()) {
    if (is_plan_field(name)) plan.set(name, value);
  }
  return plan.build();
}

Value without_plan_fields(Value properties) {
  for (const std::string_view name : kPlanFields) properties = properties.without(name);
  return properties;
}

/// Null when the component has no such trait.
const Value& rollout_trait(const Value& component) {
  const auto traits = component["traits"].items();
  const auto found = std::ranges::find_if(traits, is_rollout_trait);
  static const Value kNone;
  return found == traits.end() ? kNone : *found;
}

const Value& component_named(const Value& spec, const Value& name) {
  const auto components = spec["components"].items();
  const auto found = std::ranges::find_if(components, [&](const Value& one) { return one["name"] == name; });
  static const Value kNone;
  return found == components.end() ? kNone : *found;
}

Value trait_with_plan(const Value& trait, const Value& of) {
  const Value properties = trait["properties"].is_object() ? without_plan_fields(trait["properties"]) : Value::empty_object();
  return trait.with("properties", json::with_members(properties, plan_of_trait(of["properties"])));
}

Value component_with_plan(Value component, const Value& live) {
  const Value& of = rollout_trait(live);
  for (std::size_t i = 0; !of.is_null() && i < component["traits"].size(); ++i) {
    const Value& trait = component["traits"].item(i);
    if (is_rollout_trait(trait)) {
      component = component.with("traits", component["traits"].with_item(i, trait_with_plan(trait, of)));
      break;
    }
  }
  return component;
}

/// As it says itself.
bool is_over(const Value& rollout) {
  const std::string_view state = rollout["status"]["rollingState"].as_string();
  return state == "rolloutSucceed" || state == "rolloutFailed";
}

/// The plans of an application, each as a change of the rollout that follows it.
class Edits {
 public:
  Edits(const kube::Object& application, const Value& latest, OnFault on_fault)
      : application_(application), latest_(latest), on_fault_(on_fault) {
    if (!latest.is_null()) held_ = revision_content(latest)["application"]["spec"];
    const bool is_alike = kube::annotation(application, kPublishVersion) == kube::annotation(latest, kPublishVersion);
    const bool is_published = !kube::annotation(application, kPublishVersion).empty();
    const bool is_same = is_published || is_same_spec(without_plans(held_), without_plans(application["spec"]));
    goes_on_ = !held_.is_null() && is_alike && is_same;  // else a new revision begins, by whatever plan
  }

  std::vector<Cause> check(const std::function<std::vector<Cause>(const PlanEdit&)>& check) {
    const Value& spec = application_["spec"];
    for (std::size_t i = 0; i < spec["components"].size(); ++i) {
      const Value& component = spec["components"].item(i);
      if (spec[kPlan].is_object()) add(of_application(component), fmt::format("spec.{}", kPlan), check);
      for (std::size_t j = 0; j < component["traits"].size(); ++j) {
        if (!is_rollout_trait(component["traits"].item(j))) continue;
        add(of_component(component, component["traits"].item(j)),
            fmt::format("spec.components[{}].traits[{}].properties", i, j), check);
      }
    }
    return std::move(causes_);
  }

 private:
  PlanEdit of_application(const Value& component) const {
    return {.ns = std::string(kube::ns(application_)),
            .name = fmt::format("{}-{}", kube::name(application_), component["name"].as_string()),
            .is_of_application = true,
            .revision = std::string(kube::name(latest_)),
            .plan = application_["spec"][kPlan],
            .goes_on = goes_on_ && held_[kPlan].is_object()};
  }

  PlanEdit of_component(const Value& component, const Value& trait) const {
    const bool had_one = !rollout_trait(component_named(held_, component["name"])).is_null();
    return {.ns = std::string(kube::ns(application_)),
            .name = component["name"].str(),
            .is_of_application = false,
            .revision = {},
            .plan = plan_of_trait(trait["properties"]),
            .goes_on = goes_on_ && had_one};
  }

  void add(const PlanEdit& edit, const std::string& path, const std::function<std::vector<Cause>(const PlanEdit&)>& check) {
    if (!edit.goes_on && on_fault_ == OnFault::Warn) return;
    for (Cause& cause : check(edit)) {
      cause.field = cause.field.empty() ? path : fmt::format("{}.{}", path, cause.field);
      if (std::ranges::find(causes_, cause) == causes_.end()) causes_.push_back(std::move(cause));
    }
  }

  const kube::Object& application_;
  const Value& latest_;
  OnFault on_fault_;
  Value held_;
  bool goes_on_ = false;
  std::vector<Cause> causes_;
};

}  // namespace

Value component_without_plan(const Value& component) {
  if (rollout_trait(component).is_null()) return component;
  json::ArrayBuilder traits;
  for (const Value& trait : component["traits"].items()) {
    const Value rest = without_plan_fields(trait["properties"]);
    if (!is_rollout_trait(trait)) {
      traits.add(trait);
    } else if (!rest.empty()) {
      traits.add(trait.with("properties", rest));
    }
  }
  const Value left = traits.build();
  return left.empty() ? component.without("traits") : component.with("traits", left);
}

Value without_plans(const Value& spec) {
  Value out = spec.without(kPlan);
  if (!has_trait_plans(spec)) return out;
  json::ArrayBuilder components;
  for (const Value& component : spec["components"].items()) components.add(component_without_plan(component));
  return out.with("components", components.build());
}

Value with_plans_of(Value frozen, const Value& live) {
  if (frozen[kPlan].is_object() && live[kPlan].is_object()) frozen = frozen.with(kPlan, live[kPlan]);
  Value components = frozen["components"];
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Value& component = components.item(i);
    if (rollout_trait(component).is_null()) continue;
    components = components.with_item(i, component_with_plan(component, component_named(live, component["name"])));
  }
  return has_trait_plans(frozen) ? frozen.with("components", components) : frozen;
}

ComponentNames names_with_plans(const Value& spec) {
  ComponentNames names;
  for (const Value& component : spec["components"].items()) {
    const bool is_named = rollout_trait(component).is_null() || !component["externalRevision"].as_string().empty();
    const auto read = is_named ? Result<ComponentSpec>(ComponentSpec{}) : read_component(component, "");
    if (!is_named && read) names[component["name"].str()] = component_revision(*read, PlanIn::Revision);
  }
  return names;
}

ComponentNames component_names_in(const Value& revision, const Value& held) {
  if (plans_in_revision(revision) == PlanIn::Revision) return names_with_plans(held);
  ComponentNames names;
  const auto kept = json::parse(kube::annotation(revision, kComponentNames));
  if (!kept) return names;
  for (const auto& [component, name] : kept->members()) names[std::string(component)] = name.str();
  return names;
}

Value with_component_names(Value revision, const ComponentNames& names) {
  if (names.empty()) return revision;
  json::ObjectBuilder kept;
  for (const auto& [component, name] : names) kept.set(component, name);
  return revision.with_path({"metadata", "annotations", kComponentNames}, json::print(kept.build()));
}

ComponentNames names_kept(const ComponentNames& names, const Value& held, const Value& spec) {
  ComponentNames kept;
  for (const auto& [component, name] : names) {
    const auto was = read_component(component_named(held, component), ""),
               is = read_component(component_named(spec, component), "");
    if (was && is && component_revision(*was) == component_revision(*is)) kept[component] = name;
  }
  return kept;
}

Value with_named_components(Value spec, const ComponentNames& names) {
  for (std::size_t i = 0; i < spec["components"].size() && !names.empty(); ++i) {
    const Value& component = spec["components"].item(i);
    const auto name = names.find(component["name"].str());
    if (name == names.end() || !component["externalRevision"].as_string().empty()) continue;
    spec = spec.with("components", spec["components"].with_item(i, component.with("externalRevision", name->second)));
  }
  return spec;
}

Value plans_in(const Value& spec) {
  json::ObjectBuilder plans;
  if (spec[kPlan].is_object()) plans.set("", spec[kPlan]);
  for (const Value& component : spec["components"].items()) {
    const Value& trait = rollout_trait(component);
    if (!trait.is_null()) plans.set(component["name"].str(), plan_of_trait(trait["properties"]));
  }
  const Value all = plans.build();
  return all.empty() ? Value() : all;
}

bool has_trait_plans(const Value& spec) {
  return std::ranges::any_of(spec["components"].items(), [](const Value& one) { return !rollout_trait(one).is_null(); });
}

bool has_plan(const Value& object) { return object["spec"][kPlan].is_object(); }

Value with_due_plan(Value manifest, const Value& live, const Value& recorded) {
  const Value& before = has_plan(recorded) ? recorded["spec"][kPlan] : live["spec"][kPlan];
  if (!has_plan(manifest) || !has_plan(live) || !is_over(live) || manifest["spec"][kPlan] == before) return manifest;
  const Value what = manifest["spec"].without(kPlan);
  bool is_another = false;
  for (const auto& [name, value] : what.members()) is_another = is_another || live["spec"][name] != value;
  const bool is_scale = manifest["spec"][kPlan]["targetSize"] != live["spec"][kPlan]["targetSize"];
  if (is_another || is_scale) return manifest;
  return manifest.with_path({"spec", kPlan}, before);
}

std::vector<Cause> check_plans(const kube::Object& application, const kube::Object& old, const kube::FindObject& find,
                               const CheckPlan& check, OnFault on_fault) {
  const Value& spec = application["spec"];
  const Value plans = plans_in(spec);
  const bool is_changed = !plans.is_null() && (old.is_null() || plans != plans_in(old["spec"]));
  if (!check || !is_changed) return {};
  const std::string newest = old["status"]["latestRevision"]["name"].str();
  const Value latest = newest.empty() ? Value() : find(kRevisions, kube::ns(application), newest);
  Edits edits(application, latest, on_fault);
  return edits.check([&](const PlanEdit& edit) { return check(edit, find); });
}

}  // namespace slipway::delivery::application
