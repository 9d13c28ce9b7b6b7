#include "delivery/rollout/wanted.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/gzip.h"
#include "control/author_right.h"
#include "delivery/family/handover.h"
#include "delivery/family/rendered_mark.h"
#include "delivery/family/revision_resources.h"
#include "delivery/rollout/admission.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/subject.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using kube::Object;

constexpr const char* kNamespaceLabel = "app.oam.dev/namespace";
constexpr const char* kTypeLabel = "app.oam.dev/resourceType";
constexpr std::size_t kMostBytes = 64U << 20U;
const kube::GroupVersionKind kControllerRevision{"apps", "v1", "ControllerRevision"};

bool is_secret(const Value& object) {
  return object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
}

bool is_scaler(const Value& object) { return object["spec"]["scaleTargetRef"].is_object(); }

/// Of a key `<component>` or `<component>.gz`.
std::string component_of(std::string_view key) {
  return std::string(key.ends_with(".gz") ? key.substr(0, key.size() - 3) : key);
}

std::vector<std::string> components_in(const Object& map) {
  std::vector<std::string> names;
  for (const char* list : {"data", "binaryData"}) {
    for (const auto& [key, text] : map[list].members()) {
      if (!key.starts_with(kPolicyKey)) names.push_back(component_of(key));
    }
  }
  return names;
}

Result<std::string> text_in(const Object& map, const std::string& component) {
  if (const Value& plain = map["data"][component]; plain.is_string()) return plain.str();
  const Value& packed = map["binaryData"][component + ".gz"];
  std::string bytes;
  const auto missing = fmt::format("revision {} has no component {}", kube::name(map), component);
  if (!packed.is_string()) return fail(Reason::Invalid, missing);
  const auto text = base64_decode(packed.as_string(), bytes) ? gunzip(bytes, kMostBytes) : std::nullopt;
  if (!text) return fail(Reason::Invalid, fmt::format("{}.gz of revision {} is no gzip", component, kube::name(map)));
  return *text;
}

Value plain_reference(const Value& reference) { return reference.without("controller").without("blockOwnerDeletion"); }

/// Where nothing owns the record, it owns what is made of it.
std::vector<Value> owners_for(const Object& record) {
  std::vector<Value> owners;
  for (const Value& one : record["metadata"]["ownerReferences"].items()) owners.push_back(plain_reference(one));
  if (owners.empty()) owners.push_back(plain_reference(kube::owner_reference(record)));
  return owners;
}

/// A Secret stands whole in the Secret of the revision only.
Task<Result<void>> fill_secrets(client::Client& client, kube::ObjectKey key, Revision& revision) {
  if (std::ranges::none_of(revision.others, is_secret)) co_return Result<void>{};
  SLIPWAY_CO_TRY(whole, co_await client::get(client, kube::kSecrets, key));
  std::string text;
  base64_decode(whole["data"][revision.component].as_string(), text);
  SLIPWAY_CO_TRY(objects, json::parse(text));
  for (Value& other : revision.others) {
    if (!is_secret(other)) continue;
    for (const Value& one : objects.items()) {
      if (kube::name(one) == kube::name(other)) other = one;
    }
  }
  co_return Result<void>{};
}

/// What the two kinds that name revisions have in common.
struct Named {
  std::string target;
  std::string source;
  std::string component;
  RolloutPlan plan;
  bool is_application = false;  // its revisions are ConfigMaps
};

Result<Named> read_named(const Object& rollout) {
  SLIPWAY_TRY(subject, read_subject(rollout));
  Named named{.target = subject.target, .source = "", .component = "", .plan = std::move(subject.plan)};
  if (!subject.sources.empty()) named.source = subject.sources.front();
  named.is_application = kube::kind(rollout) == kAppRolloutKind.kind;
  const Value& spec = rollout["spec"];
  named.component = named.is_application ? spec["componentList"].item(0).str() : spec["componentName"].str();
  return named;
}

std::string workload_name(const Named& named, const Revision& revision, const std::string& name) {
  if (!named.is_application) return name;
  return revision_workload_name(revision.component, kube::label(revision.workload, kNameLabel), name);
}

/// One that an application or a rollout delivers as the component, not one of its other objects.
bool is_of_component(const Object& workload, const std::string& component) {
  return kube::label(workload, kTypeLabel) == "WORKLOAD" &&
         (kube::name(workload) == component || !kube::annotation(workload, kRevisionAnnotation).empty());
}

Value with_labels(Value object, const Revision& revision, const std::string& ns) {
  object = object.with_path({"metadata", "namespace"}, ns);
  if (kube::label(object, kComponentLabel).empty()) {
    object = object.with_path({"metadata", "labels", kComponentLabel}, revision.component);
  }
  return object.with_path({"metadata", "ownerReferences"}, json::array(revision.owners));
}

class Finder {
 public:
  Finder(WantedTools tools, Object rollout, RolloutStatus status)
      : tools_(tools), rollout_(std::move(rollout)), status_(std::move(status)), ns_(kube::ns(rollout_)) {}

  Task<Result<Wanted>> find();

 private:
  Task<Result<Revision>> read(std::string name);
  Task<Result<Workload>> look(kube::GroupVersionKind kind, std::string name);
  std::string source_name() const;
  Result<Wanted> remembered() const;
  Task<Result<void>> add_sources(Wanted& wants, const Workload& plain, const Revision& revision);
  Value scaler(Value other, const Revision& revision, const ObjectReference& workload) const;
  void add_others(Wanted& wants, const Revision& revision) const;
  Task<Result<void>> add_source_scalers(Wanted& wants);

  WantedTools tools_;
  Object rollout_;
  RolloutStatus status_;
  std::string ns_;
  Named named_{};
};

Task<Result<Revision>> Finder::read(std::string name) {
  const std::string key = fmt::format("{}/{}", name, named_.component);
  if (const auto known = tools_.read.find(key); known != tools_.read.end()) co_return known->second;
  Result<Revision> revision = fail(Reason::NotFound, fmt::format("revision {} is not there", name));
  if (named_.is_application) {
    SLIPWAY_CO_TRY(map, co_await client::get(tools_.author, kube::kConfigMaps, {ns_, name}));
    revision = read_rendered(map, named_.component);
    if (revision) SLIPWAY_CO_TRY_VOID(co_await fill_secrets(tools_.author, {ns_, name}, *revision));
  } else {
    SLIPWAY_CO_TRY(record, co_await tools_.workloads.find_object(tools_.client, kControllerRevision, {ns_, name}));
    if (!record.is_null()) revision = read_recorded(record, named_.component);
  }
  if (!revision) co_return revision;
  if (tools_.read.size() > 1) tools_.read.clear();
  tools_.read[key] = *revision;
  co_return revision;
}

Task<Result<Workload>> Finder::look(kube::GroupVersionKind kind, std::string name) {
  co_return co_await tools_.workloads.find(tools_.client, std::move(kind), {ns_, std::move(name)});
}

/// The spec's, else the target that the rollout had before.
std::string Finder::source_name() const {
  if (!named_.source.empty()) return named_.source;
  return status_.last_target_revision == named_.target ? status_.last_source_revision : status_.last_target_revision;
}

/// The record has gone, with the application perhaps. What is under way, or has ended, goes by the status. If the record of the
/// next target goes before its attempt begins, what an abandoned attempt still holds is given back: its target, which is the
/// newest source now, stands in.
Result<Wanted> Finder::remembered() const {
  Wanted wants{.target = {}, .sources = {}, .plan = named_.plan, .target_name = named_.target, .source_name = source_name()};
  const bool is_giving_back = status_.rolling == wave::Rolling::Failing || status_.rolling == wave::Rolling::Deleting;
  const bool is_between_attempts = !status_.target && !status_.sources.empty() && (is_giving_back || holds_any(status_));
  const std::string id = status_.target ? status_.target->id : is_between_attempts ? status_.sources.back().id : "";
  const auto known = std::ranges::find(status_.snapshots, id, &Snapshot::id);
  const bool is_under_way = is_between_attempts || status_.last_target_revision == named_.target || kube::is_deleting(rollout_);
  const bool is_known = known != status_.snapshots.end() && is_under_way;
  if (!is_known) return fail(Reason::NotFound, fmt::format("revision {} is not there", named_.target));
  wants.is_gone = true;
  wants.target = {.api_version = known->api_version, .kind = known->kind, .name = known->name, .ns = "", .uid = ""};
  return wants;
}

/// The one of the source's revision or, when something else than a rollout delivered it, under the component's name; and all
/// others of the component that have pods, of any owner: at the end only those of the target are left.
Task<Result<void>> Finder::add_sources(Wanted& wants, const Workload& plain, const Revision& revision) {
  wants.source_name = source_name();
  const auto add = [&](const Object& source) {
    const std::string name(kube::name(source));
    const bool is_known = std::ranges::find(wants.sources, name, &ObjectReference::name) != wants.sources.end();
    if (source.is_null() || name == wants.target.name || is_known) return false;
    wants.sources.push_back(
        {.api_version = plain.kind.api_version(), .kind = plain.kind.kind, .name = name, .ns = "", .uid = ""});
    return true;
  };
  SLIPWAY_CO_TRY(others, co_await tools_.workloads.find_of_component(tools_.client, plain.kind,
                                                                     {ns_, wants.app_name, revision.component}));
  std::erase_if(others, [&](const Object& one) {
    const bool has_pods = field_at(one, plain.row->size).as_int() > 0;
    return !has_pods || kube::is_deleting(one) || !is_of_component(one, revision.component);
  });
  bool has_named = false;
  if (!wants.source_name.empty()) {
    SLIPWAY_CO_TRY(source, co_await look(plain.kind, workload_name(named_, revision, wants.source_name)));
    has_named = add(source.object);
  }
  const bool is_of_it = kube::label(plain.object, kComponentLabel) == revision.component;
  if (is_of_it && !has_named) add(plain.object);
  for (const Object& other : others) add(other);
  co_return Result<void>{};
}

/// What scales the revision's workload, by the name that the workload has got.
Value Finder::scaler(Value other, const Revision& revision, const ObjectReference& workload) const {
  return following_workload(std::move(other), revision.workload, kube::name(revision.workload), workload.name);
}

void Finder::add_others(Wanted& wants, const Revision& revision) const {
  for (const Value& one : revision.others) {
    Value other = with_labels(one, revision, ns_);
    if (is_scaler(other)) {
      wants.scalers.push_back(scaler(std::move(other), revision, wants.target));
    } else {
      wants.others.push_back(std::move(other));
    }
  }
}

Task<Result<void>> Finder::add_source_scalers(Wanted& wants) {
  if (!named_.is_application || wants.source_name.empty() || wants.sources.empty()) co_return Result<void>{};
  const auto source = co_await read(wants.source_name);
  if (!source) co_return Result<void>{};  // it is not known any more what they were
  for (const Value& one : source->others) {
    if (!is_scaler(one)) continue;
    wants.source_scalers.push_back(scaler(with_labels(one, *source, ns_), *source, wants.sources.front()));
  }
  co_return Result<void>{};
}

Task<Result<Wanted>> Finder::find() {
  SLIPWAY_CO_TRY(named, read_named(rollout_));
  named_ = std::move(named);
  auto revision = co_await read(named_.target);
  if (!revision && revision.error().reason == Reason::NotFound) co_return remembered();
  if (!revision) co_return fail(std::move(revision).error());
  SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(revision->workload));
  SLIPWAY_CO_TRY(plain, co_await look(kind, revision->component));
  const bool is_by_revision = plain.row == nullptr || plain.row->with_sources == wave::Shape::Pair;
  Wanted wants{.target = {}, .sources = {}, .plan = named_.plan, .target_name = named_.target, .source_name = ""};
  wants.target = {.api_version = kind.api_version(), .kind = kind.kind, .name = revision->component, .ns = "", .uid = ""};
  wants.component = revision->component;
  wants.app_name = kube::label(revision->workload, kNameLabel);
  wants.holdings_kind = revision->holdings_kind;
  // The record of an application's revision belongs to the application.
  if (!wants.app_name.empty() && !revision->owners.empty() && revision->owners.front()["name"].as_string() == wants.app_name) {
    wants.app_uid = revision->owners.front()["uid"].str();
  }
  Value workload = with_labels(revision->workload, *revision, ns_)
                       .with_path({"metadata", "name"}, revision->component)
                       .with_path({"metadata", "labels", kTypeLabel}, "WORKLOAD");
  if (is_by_revision) {
    wants.target.name = workload_name(named_, *revision, named_.target);
    workload = under_revision_name(std::move(workload), wants.target.name, named_.target);
    SLIPWAY_CO_TRY_VOID(co_await add_sources(wants, plain, *revision));
  } else {
    wants.source_name = source_name();
  }
  wants.workload = workload.with_path({"metadata", "annotations", kRevisionAnnotation}, named_.target);
  if (const Value& size = revision->workload["spec"]["replicas"]; size.is_int()) wants.size = size.as_int();
  if (named_.is_application && !revision->owners.empty()) wants.application = revision->owners.front();
  wants.is_as_rendered = revision->is_as_rendered;
  wants.authors = revision->authors;
  add_others(wants, *revision);
  SLIPWAY_CO_TRY_VOID(co_await add_source_scalers(wants));
  co_return wants;
}

Result<Wanted> wanted_of_trait(const Object& rollout) {
  SLIPWAY_TRY(spec, json::decode<RolloutTraitSpec>(rollout["spec"], "spec", {.allow_unknown = true}));
  const std::string ns(kube::ns(rollout));
  for (const ObjectReference& one : spec.sources) {
    if (one.ns.empty() || one.ns == ns) continue;
    return fail(Reason::Invalid, "spec.sourceRef: workloads of other namespaces cannot be rolled out");
  }
  if (!spec.target.ns.empty() && spec.target.ns != ns) {
    return fail(Reason::Invalid, "spec.targetRef: a workload of another namespace cannot be rolled out");
  }
  const auto text = [](const ObjectReference& one) { return fmt::format("{}/{}", one.kind, one.name); };
  Wanted wants{
      .target = spec.target, .sources = spec.sources, .plan = spec.plan, .target_name = text(spec.target), .source_name = ""};
  if (!wants.sources.empty()) wants.source_name = text(wants.sources.back());
  return wants;
}

}  // namespace

Result<Revision> read_rendered(const Object& map, const std::string& component) {
  Revision revision{.component = component, .workload = {}};
  if (component.empty()) {
    const std::vector<std::string> all = components_in(map);
    if (all.size() != 1) {
      return fail(Reason::Invalid,
                  fmt::format("spec.componentList: revision {} has {} components, name one", kube::name(map), all.size()));
    }
    revision.component = all.front();
  }
  SLIPWAY_TRY(text, text_in(map, revision.component));
  SLIPWAY_TRY(objects, json::parse(text));
  if (objects["pending"].is_array()) {
    return fail(Reason::Invalid, fmt::format("component {} of revision {} was not rendered: {}", revision.component,
                                             kube::name(map), objects["pending"].item(0).as_string()));
  }
  for (const Value& object : objects.items()) {
    const bool is_workload = revision.workload.is_null() && kube::label(object, "app.oam.dev/resourceType") == "WORKLOAD";
    if (is_workload) {
      revision.workload = object;
    } else {
      revision.others.push_back(object);
    }
  }
  if (revision.workload.is_null()) {
    return fail(Reason::Invalid,
                fmt::format("component {} of revision {} has no workload", revision.component, kube::name(map)));
  }
  revision.owners = owners_for(map);
  revision.is_as_rendered = is_marked_rendered(map);
  revision.authors = content_authors(map);
  // What a user has written under a name of their own, no admission has recorded.
  if (!revision.is_as_rendered && revision.authors.empty()) revision.authors.emplace_back().name = control::kUnknownAuthor;
  revision.holdings_kind = kube::annotation(map, kHoldingsKind);
  return revision;
}

Result<Revision> read_recorded(const Object& record, const std::string& component) {
  const Value& data = record["data"];
  const Value& workload = data["spec"]["workload"].is_object() ? data["spec"]["workload"] : data;
  if (workload["kind"].as_string().empty() || !workload["spec"].is_object()) {
    return fail(Reason::Invalid, fmt::format("data of ControllerRevision {} is no workload", kube::name(record)));
  }
  Revision made{.component = component, .workload = workload, .owners = owners_for(record)};
  for (const char* name : {kNameLabel, kNamespaceLabel}) {
    const Value& label = record["metadata"]["labels"][name];
    if (label.is_string()) made.workload = made.workload.with_path({"metadata", "labels", name}, label);
  }
  made.holdings_kind = kube::annotation(record, kHoldingsKind);
  return made;
}

Task<Result<Wanted>> find_wanted(WantedTools tools, Object rollout, RolloutStatus status) {
  if (tools.spec.generation != kube::generation(rollout)) tools.spec = {.generation = kube::generation(rollout), .wants = {}};
  if (tools.acts_as == ActsAs::Controller && !tools.spec.is_sound) {  // no admission stands in the way
    for (const Cause& cause : check_spec(rollout)) {
      co_return fail(Reason::Invalid, fmt::format("{}: {}", cause.field, cause.message));
    }
    tools.spec.is_sound = true;
  }
  if (kube::kind(rollout) == kTraitKind.kind) {
    if (!tools.spec.wants) {
      SLIPWAY_CO_TRY(wants, wanted_of_trait(rollout));
      tools.spec.wants = std::move(wants);
    }
    co_return *tools.spec.wants;
  }
  Finder finder(tools, std::move(rollout), std::move(status));
  co_return co_await finder.find();
}

}  // namespace slipway::delivery::rollout
