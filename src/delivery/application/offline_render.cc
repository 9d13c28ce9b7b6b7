#include "delivery/application/offline_render.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/application/kind.h"
#include "delivery/application/providers.h"
#include "delivery/application/render.h"
#include "delivery/application/scoped_policies.h"
#include "delivery/workflow/provider.h"
#include "fleet/cluster_secret.h"

namespace slipway::delivery::application {
namespace {

constexpr DefinitionKind kOfflineKinds[] = {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy,
                                            DefinitionKind::WorkflowStep};
constexpr std::size_t kMaxCalls = 100;

bool is_of(const kube::Object& object, std::string_view kind) {
  const auto of = kube::GroupVersionKind::of(object);
  return of && of->group == kGroup && of->kind == kind;
}

Value struct_or_empty(const Value& value) { return value.is_object() ? value : json::object({}); }

/// One application on its way through the renderer.
class Offline {
 public:
  Offline(Env& env, client::Client* client, SourceObject source, std::string ns, std::vector<ClusterEntry> clusters,
          Lookup lookup)
      : env_(env),
        client_(client),
        source_(std::move(source)),
        application_(source_.object),
        lookup_(std::move(lookup)),
        clusters_(std::move(clusters)) {
    if (kube::ns(application_).empty()) application_ = application_.with_path({"metadata", "namespace"}, ns);
    clusters_.insert(clusters_.begin(), {.name = kHub, .labels = {{fleet::kControlPlaneLabel, "true"}}});
    providers_.add(workflow::standard_providers());
  }

  Task<OfflineRendering> run() {
    if (!read()) co_return std::move(done_);
    if (client_ != nullptr) {
      const auto live = co_await client::get(*client_, kApplications, kube::key_of(application_));
      if (live && (*live)["status"].has("latestRevision")) revision_ = (*live)["status"]["latestRevision"];
    }
    name_clusters();
    for (const auto& [component, placement] : units()) co_await render(component, placement);
    co_return std::move(done_);
  }

 private:
  using Unit = std::pair<ComponentSpec, Placement>;

  std::string title() const { return fmt::format("application {}", kube::name(application_)); }
  void fault(const std::string& path, const std::string& message) {
    done_.errors.push_back(fmt::format("{}: {}: {}", source_.at(path), title(), message));
  }

  bool read() {
    const Value& spec = application_["spec"];
    auto read = read_application(spec);
    if (!read) {
      const Status& error = read.error();
      if (error.causes.empty()) fault("spec", error.message);
      for (const Cause& cause : error.causes) {
        const std::string path = cause.field.starts_with("spec") ? cause.field : "spec." + cause.field;
        fault(path, fmt::format("{}: {}", path, cause.message));
      }
      return false;
    }
    auto scoped = with_scoped_policies(application_, scoped_policies(application_, lookup_));
    if (!scoped) {
      const std::vector<Cause>& causes = scoped.error().causes;
      fault(causes.empty() ? "spec.policies" : causes.front().field, scoped.error().message);
      return false;
    }
    if (scoped->policies.empty() && !has_definitions(*read)) return false;
    application_ = std::move(scoped->application);
    custom_ = std::move(scoped->custom);
    auto parsed = parse(application_, application_["spec"], lookup_);
    if (!parsed) {
      fault("spec", parsed.error().message);
      return false;
    }
    parsed_ = std::move(*parsed);
    return true;
  }

  /// Every type that is named; each that is missing is told with its line.
  bool has_definitions(const ApplicationSpec& spec) {
    const std::size_t before = done_.errors.size();
    const auto check = [&](DefinitionKind kind, const std::string& type, const std::string& path) {
      if (const auto found = lookup_.definition(kind, type); !found) fault(path, found.error().message);
    };
    for (std::size_t i = 0; i < spec.components.size(); ++i) {
      const std::string path = fmt::format("spec.components[{}]", i);
      check(DefinitionKind::Component, spec.components[i].type, path + ".type");
      for (std::size_t j = 0; j < spec.components[i].traits.size(); ++j) {
        check(DefinitionKind::Trait, spec.components[i].traits[j].type, fmt::format("{}.traits[{}].type", path, j));
      }
    }
    return done_.errors.size() == before;
  }

  void name_clusters() {
    for (const PolicySpec& policy : parsed_.spec.policies) {
      for (const Value& name : policy.properties["clusters"].items()) {
        const bool is_known = std::ranges::any_of(clusters_, [&](const ClusterEntry& one) { return one.name == name.str(); });
        if (!is_known) clusters_.push_back({.name = name.str(), .labels = {}});
      }
    }
  }

  /// What the steps deliver, and where; all components at home where no step is known to deliver any.
  std::vector<Unit> units() {
    std::vector<Unit> units;
    for (const workflow::Step& step : parsed_.steps.steps) {
      add_units(step, units);
      for (const workflow::Step& sub : step.sub_steps) add_units(sub, units);
    }
    if (!units.empty() || !done_.errors.empty()) return units;
    for (const ComponentSpec& component : parsed_.spec.components) units.push_back({component, {.cluster = "", .ns = ""}});
    return units;
  }

  void add_units(const workflow::Step& step, std::vector<Unit>& units) {
    if (step.type == kApplyComponent || step.type == kBuiltinApplyComponent) {
      const ComponentSpec* component = parsed_.spec.find(step.properties["value"]["name"].as_string());
      const Placement placement{.cluster = step.properties["cluster"].str(), .ns = step.properties["namespace"].str()};
      if (component != nullptr) units.push_back({*component, placement});
    } else if (step.type == "deploy") {
      std::vector<std::string> policies;
      for (const Value& name : step.properties["policies"].items()) policies.push_back(name.str());
      const auto plan = plan_deploy(parsed_, policies, {}, clusters_);
      if (!plan) {
        const std::string& why = plan.error().message;
        const bool knows_hub = client_ != nullptr || !why.contains("clusterLabelSelector");
        return fault("spec", fmt::format("step {}: {}{}", step.name, why,
                                         knows_hub ? "" : ", as far as is known without a hub (--kubeconfig)"));
      }
      for (const Placement& placement : plan->placements) {
        for (const ComponentSpec& component : plan->components) units.push_back({component, placement});
      }
    }
  }

  RenderContext context_of(const Placement& placement) const {
    RenderContext context;
    context.custom = custom_;
    context.app_name = std::string(kube::name(application_));
    context.ns = std::string(kube::ns(application_));
    context.app_revision = revision_.is_null() ? context.app_name + "-v1" : revision_["name"].str();
    context.app_revision_number = revision_.is_null() ? 1 : revision_["revision"].as_int();
    context.app_labels = struct_or_empty(application_["metadata"]["labels"]);
    context.app_annotations = struct_or_empty(application_["metadata"]["annotations"]);
    context.components = application_["spec"]["components"];
    context.publish_version = std::string(kube::annotation(application_, kPublishVersion));
    context.workflow_name = parsed_.workflow_name;
    context.target_namespace = placement.ns;
    context.cluster = placement.cluster == kHub ? "" : placement.cluster;
    context.cluster_version = json::object({{"major", "1"}, {"minor", "33"}, {"gitVersion", "v1.33.0"}, {"platform", ""}});
    return context;
  }

  Task<> render(ComponentSpec component, Placement placement) {
    auto definitions = definitions_of(component, parsed_, lookup_);
    if (!definitions) {
      fault("spec", definitions.error().message);
      co_return;
    }
    const ComponentTemplates templates{definitions->first, definitions->second};
    const RenderContext context = context_of(placement);
    std::map<std::string, Value> answers;
    for (std::size_t calls = 0; calls < kMaxCalls; ++calls) {
      const auto made = render_component(component, templates, context, answers, {}, {});
      if (!made) {
        tell(made.error());
        co_return;
      }
      if (const auto* rendered = std::get_if<RenderedComponent>(&*made)) {
        keep(*rendered, placement);
        co_return;
      }
      const TemplateCall& call = std::get<TemplateCall>(*made);
      auto answer = co_await run_call(call, context);
      if (!answer) {
        note(fmt::format("component {}: {}", component.name, answer.error().message));
        co_return;
      }
      answers[call.key] = std::move(*answer);
    }
    fault("spec", fmt::format("component {}: more than {} calls in its templates", component.name, kMaxCalls));
  }

  Task<Result<Value>> run_call(TemplateCall call, RenderContext context) {
    const workflow::Provider* provider = providers_.find(call.provider, call.function);
    if (client_ == nullptr || provider == nullptr) {
      co_return fail(Reason::BadRequest, fmt::format("its template calls {}.{}, which needs a cluster: left out",
                                                     call.provider.empty() ? "op" : call.provider, call.function));
    }
    const workflow::CallSetting setting{.env = env_,
                                        .http = nullptr,
                                        .on = [this](const std::string&) -> Result<client::Client*> { return client_; },
                                        .manager = kManager,
                                        .owner = application_,
                                        .labels = Value::empty_object(),
                                        .context = json::object({{"name", context.app_name}, {"namespace", context.ns}})};
    const auto answer = co_await provider->run({.setting = setting, .params = call.params, .path = call.key});
    if (answer.kind != workflow::Answer::Kind::Done) {
      co_return fail(Reason::BadRequest,
                     fmt::format("its template calls {}.{}: {}", call.provider, call.function, answer.message));
    }
    co_return answer.returns;
  }

  void keep(const RenderedComponent& rendered, const Placement& placement) {
    const auto add = [&](const Value& object, bool is_hub_only) {
      done_.objects.push_back(
          {.cluster = is_hub_only || placement.cluster.empty() ? kHub : placement.cluster,
           .component = rendered.name,
           .object = object.with_path({"metadata", "labels", kLabelCluster}, is_hub_only ? "" : placement.cluster)});
    };
    if (!rendered.workload.is_null() && !rendered.is_workload_managed) add(rendered.workload, false);
    for (const RenderedObject& one : rendered.others) add(one.object, one.is_control_plane_only);
    if (!rendered.pending_traits.empty()) {
      note(fmt::format("component {}: {} traits are rendered once its workload runs", rendered.name,
                       rendered.pending_traits.size()));
    }
  }

  /// Where in the file a value of a component or of one of its traits stands.
  void tell(const RenderError& error) {
    const auto& components = parsed_.spec.components;
    const auto at = std::ranges::find(components, error.component, &ComponentSpec::name);
    std::string path = "spec";
    if (at != components.end()) path = fmt::format("spec.components[{}]", at - components.begin());
    if (at != components.end() && !error.trait.empty()) {
      const auto trait = std::ranges::find(at->traits, error.trait, &TraitSpec::type);
      if (trait != at->traits.end()) path += fmt::format(".traits[{}]", trait - at->traits.begin());
    }
    const auto dot = error.field.find_first_of(".[");
    if (error.is_user_error) path += ".properties" + (dot == std::string::npos ? "" : error.field.substr(dot));
    fault(path, to_string(error));
  }

  void note(std::string text) {
    text = fmt::format("{}: {}: {}", source_.source, title(), text);
    if (std::ranges::find(done_.notes, text) == done_.notes.end()) done_.notes.push_back(std::move(text));
  }

  Env& env_;
  client::Client* client_;
  SourceObject source_;
  kube::Object application_;
  Value custom_;  // of policies of scope Application
  Lookup lookup_;
  std::vector<ClusterEntry> clusters_;
  workflow::Providers providers_;
  Parsed parsed_;
  Value revision_;  // the newest of the cluster; null: none
  OfflineRendering done_;
};

}  // namespace

bool is_application(const kube::Object& object) { return is_of(object, kApplicationKind.kind); }

std::optional<DefinitionKind> definition_kind_of(const kube::Object& object) {
  for (const DefinitionKind kind : kOfflineKinds) {
    if (is_of(object, kind_of(kind))) return kind;
  }
  return std::nullopt;
}

void Known::put(const kube::Object& object, const std::string& ns) {
  const kube::ObjectKey key{kube::ns(object).empty() ? ns : std::string(kube::ns(object)), std::string(kube::name(object))};
  if (const auto kind = definition_kind_of(object)) definitions_[{*kind, key}] = object;
  if (is_of(object, "Policy")) policies_[key] = object;
  if (is_of(object, "Workflow")) workflows_[key] = object;
}

void Known::add(const std::vector<SourceObject>& objects, const std::string& ns) {
  for (const SourceObject& one : objects) put(one.object, ns);
}

Task<Result<void>> Known::read(client::Client& client, std::set<std::string> namespaces) {
  for (std::string& place : built_in_.namespaces(built_in_.shared_namespace())) namespaces.insert(std::move(place));
  const std::pair<kube::Resource, std::string> lists[] = {
      {kComponentDefinitions, std::string(kind_of(DefinitionKind::Component))},
      {kTraitDefinitions, std::string(kind_of(DefinitionKind::Trait))},
      {kPolicyDefinitions, std::string(kind_of(DefinitionKind::Policy))},
      {kStepDefinitions, std::string(kind_of(DefinitionKind::WorkflowStep))},
      {kPolicies, "Policy"},
      {kWorkflows, "Workflow"}};
  for (const auto& [resource, kind] : lists) {
    for (const std::string& place : namespaces) {
      client::ListQuery query;
      query.ns = place;
      auto list = co_await client::list(client, resource, query);
      if (!list && list.error().reason == Reason::NotFound) continue;  // a cluster without these kinds
      if (!list) co_return fail(std::move(list).error());
      const std::string version = resource.group + "/" + resource.version;
      for (const Value& item : (*list)["items"].items()) put(item.with("apiVersion", version).with("kind", kind), place);
    }
  }
  co_return Result<void>{};
}

std::vector<DefinitionPtr> Known::global_policies(const std::string& ns) {
  std::vector<Value> objects;
  for (const auto& [key, object] : definitions_) {
    const bool is_here = key.second.ns == ns || key.second.ns == built_in_.shared_namespace();
    if (key.first == DefinitionKind::Policy && is_here && is_global_policy(object)) objects.push_back(object);
  }
  return built_in_.read_policies(std::move(objects));
}

Lookup Known::lookup(const std::string& ns) {
  const auto find_in = [ns](const std::map<kube::ObjectKey, Value>& all, const std::string& name) {
    const auto at = all.find({ns, name});
    return at == all.end() ? Value() : at->second;
  };
  return {.definition = [this, ns](DefinitionKind kind, const std::string& type) -> Result<DefinitionPtr> {
            const std::string name = type.substr(0, type.find('@'));
            for (const std::string& place : built_in_.namespaces(ns)) {
              const auto at = definitions_.find({kind, kube::ObjectKey{place, name}});
              if (at != definitions_.end()) return built_in_.read(at->second);
            }
            return built_in_.find(kind, ns, type);
          },
          .policy = [this, find_in](const std::string& name) { return find_in(policies_, name); },
          .workflow = [this, find_in](const std::string& name) { return find_in(workflows_, name); },
          .global_policies = [this, ns] { return global_policies(ns); }};
}

Task<std::vector<ClusterEntry>> clusters_of_hub(client::Client& hub) {
  std::vector<ClusterEntry> found;
  auto clusters = co_await fleet::list_clusters(hub);
  if (!clusters) co_return found;
  for (fleet::ClusterSecret& one : *clusters) found.push_back({std::move(one.name), std::move(one.labels)});
  co_return found;
}

Task<OfflineRendering> render_offline(Env& env, client::Client* client, SourceObject application, std::string ns,
                                      std::vector<ClusterEntry> clusters, Lookup lookup) {
  Offline offline(env, client, std::move(application), std::move(ns), std::move(clusters), std::move(lookup));
  co_return co_await offline.run();
}

}  // namespace slipway::delivery::application
