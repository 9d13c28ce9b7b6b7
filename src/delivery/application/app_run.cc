#include "delivery/application/app_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "base/digest.h"
#include "delivery/application/authors.h"
#include "delivery/application/component_patch.h"
#include "delivery/application/contract.h"
#include "delivery/application/handing_over.h"
#include "delivery/application/identity.h"
#include "delivery/application/naming.h"
#include "delivery/application/pre_render.h"
#include "delivery/application/providers.h"
#include "delivery/application/references.h"
#include "delivery/application/rolled_services.h"
#include "fleet/cluster_secret.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxTemplateCalls = 64;
/// Evaluations of templates, by what they are for.
constexpr const char* kEvaluations = "slipway_application_evaluations_total";
constexpr Duration kRenderDeadline = std::chrono::seconds{1};  // from when the pool begins with a component

/// In place of a message that may quote values.
constexpr const char* kUntold =
    ": its templates do not accept their values, which are not told here, as they were read from a Secret";

std::string place_of(const RenderError& error) {
  std::string place = fmt::format("component {}", error.component);
  if (!error.trait.empty()) place += fmt::format(", trait {}", error.trait);
  if (!error.field.empty()) place += fmt::format(", {}", error.field);
  return place;
}

std::string text_of(const RenderError& error) { return fmt::format("{}: {}", place_of(error), error.message); }

/// The annotations that templates and objects do not see: they steer this controller.
Value visible_annotations(const kube::Object& application) {
  json::ObjectBuilder out;
  for (const auto& [key, value] : application["metadata"]["annotations"].members()) {
    const bool is_internal = key == "kubectl.kubernetes.io/last-applied-configuration" || key == kRestartWorkflow ||
                             key == "app.oam.dev/last-applied-configuration" || key == kServiceAccount || key == kUserName ||
                             key == kPreRender || key == kUserGroup;
    if (!is_internal) out.set(key, value);
  }
  return out.build();
}

Value null_as_empty(const Value& value) { return value.is_null() ? Value::empty_object() : value; }

/// What the embedded control plane and its controllers were made for.
Value cluster_version() {
  return json::object({{"major", "1"}, {"minor", 33}, {"gitVersion", "v1.33.0"}, {"platform", "linux/amd64"}});
}

/// The auxiliary objects of a component by the names they have in templates.
/// Under apply-once KubeVela keeps no manifest.
std::string_view label_of(const ManagedResource& resource, const Value& live, const char* key) {
  return kube::label(resource.raw.is_null() ? live : resource.raw, key);
}

/// `maker` is the label of who made them: kAuxiliaryWorkload or a type of traits; empty: all.
Value outputs_of(const std::vector<std::pair<ManagedResource, Value>>& objects, std::string_view maker = {}) {
  json::ObjectBuilder out;
  for (const auto& [resource, live] : objects) {
    const auto name = label_of(resource, live, kLabelTraitResource);
    if (name.empty() || live.is_null()) continue;
    if (maker.empty() || label_of(resource, live, kLabelTrait) == maker) out.set(name, live);
  }
  return out.build();
}

/// Under which a component at a place is remembered.
std::string slot_of(const std::string& component, const Placement& at) {
  return fmt::format("{}@{}/{}", component, at.cluster, at.ns);
}

/// Types of the traits whose objects come before the workload. `traits` are the definitions in the component's order.
std::set<std::string> dispatched_first(const ComponentSpec& component, const std::vector<DefinitionPtr>& traits) {
  std::set<std::string> first;
  for (std::size_t i = 0; i < component.traits.size(); ++i) {
    if (traits[i]->stage == Stage::PreDispatch) first.insert(component.traits[i].type);
  }
  return first;
}

Value workload_of(const std::vector<std::pair<ManagedResource, Value>>& objects) {
  for (const auto& [resource, live] : objects) {
    if (label_of(resource, live, kLabelResourceType) == "WORKLOAD") return live;
  }
  return {};
}

}  // namespace

ObjectId Manifest::id() const {
  const auto kind = kube::GroupVersionKind::of(object);
  return {cluster, kind ? kind->group : "", kind ? kind->kind : "", std::string(kube::ns(object)),
          std::string(kube::name(object))};
}

AppRun::AppRun(AppTools tools, control::Reconcile& reconcile, kube::Object application, std::shared_ptr<const Parsed> parsed,
               Lookup lookup, Memory& memory)
    : tools_(tools),
      reconcile_(reconcile),
      application_(std::move(application)),
      parsed_(std::move(parsed)),
      lookup_(std::move(lookup)),
      memory_(memory),
      written_(std::make_shared<Signal>(tools.env)),
      acting_(reconcile, identity_of(application_, tools.acts_as), namer_of(application_)) {
  if (tools_.acts_as == ActsAs::User) stay_inside();
  const kube::UserInfo* user = acting_.identity();
  std::string identity = user ? fmt::format("{}\n{}", user->name, fmt::join(user->groups, ",")) : "";
  if (memory_.identity == identity) return;
  // What another was allowed is asked for and written again.
  memory_.readable.clear();
  memory_.applied.clear();
  memory_.renders.clear();
  memory_.identity = std::move(identity);
}

/// Where others have a say. What is looked up later, such as a trait of an override, is looked at then.
void AppRun::stay_inside() {
  const std::string ns(kube::ns(application_));
  for (OtherAuthor& other : other_authors(application_, *parsed_)) acting_.confine(ns, std::move(other.why), other.user);
  lookup_.definition = [this, find = std::move(lookup_.definition)](DefinitionKind kind, const std::string& type) {
    auto found = find(kind, type);
    if (found) confine_to_author_of((*found)->object);
    return found;
  };
}

void AppRun::confine_to_author_of(const Value& object) {
  if (tools_.acts_as != ActsAs::User) return;
  if (auto other = other_author(application_, object)) {
    acting_.confine(std::string(kube::ns(application_)), std::move(other->why), other->user);
  }
}

void AppRun::narrow_to_author_of(const Value& application) {
  if (tools_.acts_as != ActsAs::User) return;
  if (const auto other = other_author(application_, application)) acting_.narrow(other->user);
}

std::vector<ClusterEntry> AppRun::clusters() const {
  std::vector<ClusterEntry> entries = {{kHub, {{fleet::kControlPlaneLabel, "true"}}}};
  const control::Clusters& known = tools_.live.clusters();
  for (const std::string& name : known.names()) {
    if (name != kHub) entries.push_back({name, known.labels(name)});
  }
  return entries;
}

void AppRun::set_revision(std::string name, std::int64_t number) {
  revision_ = std::move(name);
  revision_number_ = number;
}

RenderContext AppRun::render_context(const Placement& placement) const {
  RenderContext context;
  context.app_name = std::string(kube::name(application_));
  context.ns = std::string(kube::ns(application_));
  context.app_revision = revision_;
  context.app_revision_number = revision_number_;
  context.app_labels = null_as_empty(application_["metadata"]["labels"]);
  context.app_annotations = visible_annotations(application_);
  context.components = application_["spec"]["components"];
  context.publish_version = std::string(kube::annotation(application_, kPublishVersion));
  context.workflow_name = parsed_->workflow_name;
  context.target_namespace = placement.ns;
  context.cluster = placement.cluster == kHub ? "" : placement.cluster;
  context.cluster_version = cluster_version();
  context.custom = custom_;
  return context;
}

/// Sets `is_secret` when the answer holds what was read from a Secret.
Task<Result<Value>> AppRun::run_call(TemplateCall call, Placement placement, bool& is_secret) {
  const workflow::Provider* provider = tools_.providers.find(call.provider, call.function);
  if (provider == nullptr) {
    co_return fail(Reason::NotImplemented,
                   fmt::format("templates of components and traits cannot call {}.{}", call.provider, call.function));
  }
  const workflow::CallSetting setting{.env = tools_.env,
                                      .http = tools_.http,
                                      .on = [this](const std::string& cluster) { return on(cluster); },
                                      .discover = [this](const std::string& cluster) { return own(cluster); },
                                      .uses = [this](const Value& object) { confine_to_author_of(object); },
                                      .manager = kManager,
                                      .owner = application_,
                                      .labels = Value::empty_object(),
                                      .context = Value::empty_object()};
  const workflow::Answer answer =
      co_await provider->run({.setting = setting, .params = std::move(call.params), .path = call.key});
  is_secret = is_secret || answer.is_secret;
  if (answer.kind == workflow::Answer::Kind::Wait) co_return fail(Reason::ServiceUnavailable, answer.message);
  if (answer.kind != workflow::Answer::Kind::Done) co_return fail(Reason::Invalid, answer.message);
  co_return answer.returns;
}

Task<Result<std::shared_ptr<const RenderedComponent>>> AppRun::render(ComponentSpec component, Placement placement, Value patch,
                                                                      Value live) {
  auto definitions = definitions_of(component, *parsed_, lookup_);
  if (!definitions) co_return fail(std::move(definitions).error());
  if (has_references(component)) {
    auto read = co_await with_references(*this, std::move(component));
    if (!read) co_return fail(std::move(read).error());
    component = std::move(*read);
  }
  const RenderContext context = render_context(placement);
  const ComponentTemplates templates{definitions->first, definitions->second};
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", json::print(component.to_json()), json::print(component_context(component, context)),
                  json::print(patch), json::print(live), templates.component->digest);
  for (const DefinitionPtr& trait : templates.traits) text += "\n" + trait->digest;
  const std::string key = sha256_hex(text);
  const std::string slot =
      fmt::format("{}@{}/{}{}", component.name, placement.cluster, placement.ns, live.is_null() ? "" : "+");
  if (const auto known = memory_.renders.find(slot); known != memory_.renders.end() && known->second.key == key) {
    co_return known->second.made;
  }
  std::map<std::string, Value> answers;
  bool is_secret = component.is_secret;
  for (std::size_t calls = 0; calls <= kMaxTemplateCalls; ++calls) {
    std::expected<Rendering, RenderError> made{std::unexpect};
    tools_.env.metrics.count(kEvaluations, {{"of", "component"}}, 1);
    co_await compute_for(tools_.env, context.ns, [&] {
      RenderContext timed = context;
      const Steady deadline = tools_.env.clock.steady() + kRenderDeadline;
      timed.limits.is_overdue = [&clock = tools_.env.clock, deadline] { return clock.steady() >= deadline; };
      made = render_component(component, templates, timed, answers, patch, live);
    });
    if (!made && is_secret) co_return fail(Reason::Invalid, place_of(made.error()) + kUntold);
    if (!made) co_return fail(Reason::Invalid, text_of(made.error()));
    if (auto* rendered = std::get_if<RenderedComponent>(&*made)) {
      const Value& exported = patch[kExported];
      if (!exported.is_null() && !rendered->workload.is_null()) {
        rendered->workload = merge_export(rendered->workload, exported);
      }
      if (const Value& field = patch[kField]; !field.is_null()) {
        auto changed = with_field(rendered->workload, field);
        if (!changed) {
          co_return fail(Reason::Invalid, fmt::format("component {}: {}", component.name, changed.error().message));
        }
        rendered->workload = std::move(*changed);
      }
      rendered->workload = with_replicas(rendered->workload, patch[kReplicas]["workload"]);
      for (RenderedObject& one : rendered->others) one.object = with_replicas(one.object, patch[kReplicas][one.place()]);
      rendered->is_secret = is_secret;
      auto kept = std::make_shared<const RenderedComponent>(std::move(*rendered));
      memory_.renders[slot] = {key, kept};
      co_return kept;
    }
    const TemplateCall call = std::get<TemplateCall>(*made);
    auto answer = co_await run_call(call, placement, is_secret);
    if (!answer) co_return fail(std::move(answer).error());
    answers[call.key] = std::move(*answer);
  }
  co_return fail(Reason::Invalid,
                 fmt::format("component {}: more than {} calls in its templates", component.name, kMaxTemplateCalls));
}

std::vector<Manifest> AppRun::manifests_of(const RenderedComponent& rendered, Stage stage, const Placement& placement) const {
  std::vector<Manifest> made;
  const auto add = [&](const Value& object, const std::string& trait, bool is_hub_only, bool is_name_made_up) {
    const std::string cluster = is_hub_only || placement.cluster.empty() ? kHub : placement.cluster;
    // As the step named it: a hub that was not named has an empty label.
    Value labelled = object.with_path({"metadata", "labels", kLabelCluster}, is_hub_only ? "" : placement.cluster);
    made.push_back({.object = std::move(labelled),
                    .cluster = cluster,
                    .component = rendered.name,
                    .trait = trait,
                    .is_name_made_up = is_name_made_up,
                    .is_secret = rendered.is_secret});
  };
  if (stage == Stage::DefaultDispatch && !rendered.workload.is_null() && !rendered.is_workload_managed) {
    add(rendered.workload, "", false, false);
  }
  for (const RenderedObject& one : rendered.others) {
    if (one.stage == stage) add(one.object, one.trait, one.is_control_plane_only, one.is_name_made_up);
  }
  return made;
}

Task<Result<bool>> AppRun::deliver_stage(std::shared_ptr<const RenderedComponent> rendered, Stage stage,
                                         ComponentSpec component, Placement placement,
                                         std::vector<std::pair<ManagedResource, Value>>& placed) {
  std::vector<Manifest> manifests = manifests_of(*rendered, stage, placement);
  if (manifests.empty()) co_return true;
  keep_names(manifests);
  follow_rolled_out_names(*this, manifests);
  auto live = co_await apply(manifests);
  if (!live) co_return fail(std::move(live).error());
  SLIPWAY_CO_TRY_VOID(co_await size_like_predecessor(*this, manifests, *live));
  for (std::size_t i = 0; i < manifests.size(); ++i) placed.emplace_back(record_of(manifests[i]), shown((*live)[i]));
  if (stage == Stage::PostDispatch) co_return true;
  const ServiceStatus service = judge_service(component, placement, placed);
  if (stage == Stage::DefaultDispatch) co_return service.is_workload_healthy;
  // Traits of later stages have nothing there yet.
  auto definitions = definitions_of(component, *parsed_, lookup_);
  if (!definitions) co_return fail(std::move(definitions).error());
  const std::set<std::string> first = dispatched_first(component, definitions->second);
  co_return std::ranges::all_of(service.traits, [&](const TraitStatus& trait) {
    return trait.is_healthy || trait.is_pending || !first.contains(trait.type);
  });
}

Task<std::optional<ComponentSpec>> AppRun::delivered_component(std::string component, Placement at) {
  if (const auto known = memory_.delivered.find(slot_of(component, at)); known != memory_.delivered.end()) {
    if (auto spec = read_component(known->second, "")) co_return *spec;
  }
  std::optional<ComponentSpec> planned;
  const std::string ns(kube::ns(application_));
  const std::vector<ClusterEntry> all = clusters();
  const auto plan = [&] { planned = component_as_delivered(*parsed_, all, component, at, ns); };
  if (std::ranges::any_of(parsed_->spec.policies, [](const PolicySpec& one) { return one.type == "override"; })) {
    co_await compute_for(tools_.env, ns, plan);
  } else {
    plan();
  }
  if (planned) co_return planned;
  const ComponentSpec* base = parsed_->spec.find(component);
  co_return base == nullptr ? std::nullopt : std::optional<ComponentSpec>(*base);
}

Task<> AppRun::remember_delivered(ComponentSpec component, Placement placement) {
  const Placement at{placement.cluster, placement.ns.empty() ? std::string(kube::ns(application_)) : placement.ns};
  memory_.delivered.erase(slot_of(component.name, at));
  const auto known = co_await delivered_component(component.name, at);
  const auto lean = [](const ComponentSpec& one) {
    return one.to_json().without("inputs").without("outputs").without("dependsOn");
  };
  if (!known || lean(*known) != lean(component)) memory_.delivered[slot_of(component.name, at)] = lean(component);
}

/// Where the definition says by an annotation who has to bring the kinds of its objects: which of them the cluster does not
/// serve, and who brings them. Empty when all are there, or the definition says nothing: applying them then fails.
Task<Result<std::string>> AppRun::missing_kinds(ComponentSpec component, Placement placement,
                                                std::shared_ptr<const RenderedComponent> rendered) {
  SLIPWAY_CO_TRY(definitions, definitions_of(component, *parsed_, lookup_));
  const std::string brought_by(kube::annotation(definitions.first->object, kWaitsForKinds));
  if (brought_by.empty()) co_return "";
  std::vector<std::string> missing;
  for (const Stage stage : {Stage::PreDispatch, Stage::DefaultDispatch, Stage::PostDispatch}) {
    for (const Manifest& manifest : manifests_of(*rendered, stage, placement)) {
      SLIPWAY_CO_TRY(client, own(manifest.cluster));
      const auto kind = co_await tools_.live.kinds().find_for(*client, manifest.cluster, manifest.object);
      if (kind) continue;
      if (kind.error().reason != Reason::NotFound) co_return fail(kind.error());
      missing.push_back(fmt::format("{} ({})", manifest.object["kind"].as_string(), manifest.object["apiVersion"].as_string()));
    }
  }
  if (missing.empty()) co_return "";
  co_return fmt::format("the cluster {} does not serve {}: install the custom resource definitions of {}",
                        placement.cluster.empty() ? kHub : placement.cluster, fmt::join(missing, ", "), brought_by);
}

Task<Result<Delivered>> AppRun::deliver(ComponentSpec component, Placement placement, Value patch) {
  co_await remember_delivered(component, placement);
  auto rendered = co_await render(component, placement, patch, {});
  if (!rendered) co_return fail(std::move(rendered).error());
  std::shared_ptr<const RenderedComponent> now = *rendered;
  if (const ComponentSpec* written = parsed_->spec.find(component.name); written != nullptr && !written->inputs.empty()) {
    fed_[component.name] = component;
  }
  std::vector<std::pair<ManagedResource, Value>> placed;
  Delivered delivered;
  delivered.is_secret = now->is_secret;
  SLIPWAY_CO_TRY(missing, co_await missing_kinds(component, placement, now));
  if (!missing.empty()) {
    ServiceStatus service{.name = component.name, .ns = service_namespace(placement), .cluster = placement.cluster};
    service.message = missing;
    put_service(std::move(service));
    delivered.message = std::move(missing);
    co_return delivered;
  }
  bool is_waiting = false;
  for (const Stage stage : {Stage::PreDispatch, Stage::DefaultDispatch, Stage::PostDispatch}) {
    if (stage == Stage::PostDispatch && !now->pending_traits.empty()) {
      const Value live = json::object({{"output", workload_of(placed)}, {"outputs", outputs_of(placed)}});
      auto again = co_await render(component, placement, patch, live);
      if (!again) co_return fail(std::move(again).error());
      now = *again;
    }
    auto is_ready = co_await deliver_stage(now, stage, component, placement, placed);
    if (!is_ready) {
      // The status says how what earlier stages placed stands now.
      if (!placed.empty()) put_service(judge_service(component, placement, placed));
      if (placed.empty()) put_if_unreachable(component.name, placement, is_ready.error().message);
      co_return fail(std::move(is_ready).error());
    }
    if (*is_ready) continue;
    is_waiting = true;
    delivered.message = stage == Stage::PreDispatch ? kWaitPreviousStage : kWaitHealthy;
    break;
  }
  std::vector<std::pair<ManagedResource, Value>> seen = placed;
  SLIPWAY_CO_TRY_VOID(co_await add_rolled_workload(*this, seen));
  ServiceStatus service = judge_service(component, placement, seen);
  delivered.is_healthy = !is_waiting && service.is_healthy;
  if (!delivered.is_healthy && delivered.message.empty()) delivered.message = kWaitHealthy;
  put_service(std::move(service));
  delivered.output = workload_of(placed);
  delivered.outputs = outputs_of(placed);
  if (const Value& workload = delivered.output; !workload.is_null()) {
    delivered.workload =
        workflow::ResourceRef{workload["apiVersion"].str(), workload["kind"].str(), std::string(kube::name(workload)),
                              std::string(kube::ns(workload)), placement.cluster == kHub ? "" : placement.cluster};
  }
  co_return delivered;
}

std::string AppRun::service_namespace(const Placement& placement) const {
  return placement.ns.empty() ? std::string(kube::ns(application_)) : placement.ns;
}

HealthVerdict AppRun::judged(const Definition& definition, const std::string& component, const Value& context,
                             const Value& parameter, const Value& output, const Value& outputs) const {
  if (!definition.has_status_texts()) return judge(definition, context, parameter, output, outputs);
  std::string digest = sight_digest(definition, context, parameter, output, outputs);
  if (const HealthVerdict* known = tools_.verdicts.find(digest)) return *known;
  tools_.env.metrics.count(kEvaluations, {{"of", "health"}}, 1);
  HealthVerdict verdict = judge(definition, context, parameter, output, outputs);
  tools_.verdicts.put(std::move(digest), verdict);
  if (!verdict.fault.empty()) {
    tools_.env.log.warn("the health of an object cannot be judged",
                        {{"application", fmt::format("{}/{}", kube::ns(application_), kube::name(application_))},
                         {"component", component},
                         {"definition", fmt::format("{} {}", kind_of(definition.kind), definition.name)},
                         {"why", verdict.fault}});
  }
  return verdict;
}

ServiceStatus AppRun::judge_service(const ComponentSpec& component, const Placement& placement,
                                    const std::vector<std::pair<ManagedResource, Value>>& objects) const {
  ServiceStatus service{.name = component.name, .ns = service_namespace(placement), .cluster = placement.cluster};
  auto definitions = definitions_of(component, *parsed_, lookup_);
  if (!definitions) {
    service.message = definitions.error().message;
    return service;
  }
  const Value workload = workload_of(objects);
  const Value context = component_context(component, render_context(placement));
  const Definition& own = *definitions->first;
  service.workload = {own.workload_api_version, own.workload_kind};
  if (service.workload.kind.empty() && !workload.is_null()) {
    service.workload = {workload["apiVersion"].str(), workload["kind"].str()};
  }
  const bool is_managed = std::ranges::any_of(definitions->second, &Definition::manages_workload);
  if (workload.is_null() && is_managed) {
    service.is_workload_healthy = true;  // its trait says how it stands
  } else if (workload.is_null()) {
    const std::set<std::string> first = dispatched_first(component, definitions->second);
    const bool has_workload = std::ranges::any_of(
        objects, [](const auto& one) { return kube::label(one.first.raw, kLabelResourceType) == "WORKLOAD"; });
    const bool is_dispatched =
        has_workload || std::ranges::any_of(objects, [&](const auto& one) { return !first.contains(one.first.trait); });
    service.is_workload_healthy = !has_workload && is_dispatched;
    if (has_workload) service.message = "the workload is not there";
    if (!is_dispatched && !objects.empty()) service.message = kWaitPreviousStage;
  } else {
    const Value outputs = outputs_of(objects, kAuxiliaryWorkload);
    HealthVerdict verdict = judged(own, component.name, context, component.properties, workload, outputs);
    service.is_workload_healthy = verdict.is_healthy;
    service.message = std::move(verdict.message);
    service.details = std::move(verdict.details);
  }
  service.is_healthy = service.is_workload_healthy;
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < component.traits.size(); ++i) {
    const Definition& definition = *definitions->second[i];
    TraitStatus trait{.type = component.traits[i].type};
    const bool is_made = std::ranges::any_of(objects, [&](const auto& one) { return one.first.trait == trait.type; });
    trait.is_pending = definition.stage == Stage::PostDispatch && !is_made && !service.is_workload_healthy;
    if (!trait.is_pending) {
      const Value outputs = outputs_of(objects, revision_name(trait.type));
      HealthVerdict verdict = judged(definition, component.name, context, component.traits[i].properties, workload, outputs);
      trait.is_healthy = verdict.is_healthy;
      trait.message = std::move(verdict.message);
      trait.details = std::move(verdict.details);
      service.is_healthy = service.is_healthy && trait.is_healthy;
    }
    service.traits.push_back(std::move(trait));
    stages.push_back(definition.stage);
  }
  // In the order of dispatch, as upstream tells them.
  std::vector<TraitStatus> in_order;
  for (const Stage stage : {Stage::PreDispatch, Stage::DefaultDispatch, Stage::PostDispatch}) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i] == stage) in_order.push_back(service.traits[i]);
    }
  }
  service.traits = std::move(in_order);
  return service;
}

void AppRun::put_if_unreachable(const std::string& component, const Placement& placement, const std::string& why) {
  if (tools_.live.is_reachable(placement.cluster)) return;
  ServiceStatus told{.name = component, .ns = service_namespace(placement), .cluster = placement.cluster};
  for (const ServiceStatus& known : services_) {
    if (known.name == told.name && known.ns == told.ns && known.cluster == told.cluster) told = known;
  }
  told.become_unknown(why);
  put_service(std::move(told));
}

/// In the order of the components, however they came to be delivered: the column STATUS shows the first one.
void AppRun::put_service(ServiceStatus service) {
  const auto known = std::ranges::find_if(services_, [&](const ServiceStatus& one) {
    return one.name == service.name && one.ns == service.ns && one.cluster == service.cluster;
  });
  if (known != services_.end()) {
    *known = std::move(service);
    return;
  }
  const auto& components = parsed_->spec.components;
  const auto order_of = [&](const ServiceStatus& one) { return std::ranges::find(components, one.name, &ComponentSpec::name); };
  const auto own = order_of(service);
  auto at = services_.end();
  while (at != services_.begin() && order_of(*(at - 1)) > own) --at;
  services_.insert(at, std::move(service));
}

}  // namespace slipway::delivery::application
