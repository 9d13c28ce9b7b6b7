#include "delivery/application/definition_controller.h"

#include <fmt/format.h>

#include <charconv>

#include "base/compute_pool.h"
#include "base/digest.h"
#include "base/lookup.h"
#include "base/text.h"
#include "control/object_writes.h"
#include "cue/schema.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/kind.h"
#include "delivery/application/views.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

using control::Outcome;

std::string hash_of(const Value& spec) { return sha256_hex(json::print(spec)).substr(0, 16); }

/// "Component", "Trait", …
std::string_view type_of(DefinitionKind kind) { return kind_of(kind).substr(0, kind_of(kind).find("Definition")); }

/// The field of a DefinitionRevision: "componentDefinition".
std::string field_of(DefinitionKind kind) {
  std::string field(kind_of(kind));
  field.front() = static_cast<char>(field.front() - 'A' + 'a');
  return field;
}

/// The label of a definition's revisions: "componentdefinition.oam.dev/name".
std::string label_of(DefinitionKind kind) { return lower(kind_of(kind)) + ".oam.dev/name"; }

/// The number in NAME-v3.
std::optional<std::int64_t> number_in(std::string_view revision, std::string_view prefix) {
  std::int64_t number = 0;
  const std::string_view digits = revision.substr(prefix.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

Value owned_metadata(const kube::Object& definition, const std::string& name, const std::string& label) {
  return json::object({{"name", name},
                       {"namespace", Value(kube::ns(definition))},
                       {"labels", json::object({{label, kube::name(definition)}})},
                       {"ownerReferences", json::array({kube::owner_reference(definition)})}});
}

/// The definition without what its server keeps about it.
Value definition_content(const kube::Object& definition) {
  json::ObjectBuilder metadata;
  for (const char* key : {"name", "namespace", "labels", "annotations"}) {
    if (definition["metadata"].has(key)) metadata.add(key, definition["metadata"][key]);
  }
  return definition.without("status").with("metadata", metadata.build());
}

/// Tells of texts that do not compile; there only while there are some. As KubeVela calls it.
constexpr const char* kSynced = "Synced";

/// What the texts of a definition come to.
struct Compiled {
  std::string schema;  // of the parameters, as JSON text; empty without a template that compiles
  std::string fault;   // why some of them do not compile; empty: all do
};

Compiled compiled(const kube::Object& definition) {
  workflow::Templates templates;
  const auto read = read_definition(definition, templates);
  if (!read) return {.schema = "", .fault = read.error().message};
  if ((*read)->program == nullptr) return {.schema = "", .fault = (*read)->fault};
  const cue::Cursor root = cue::evaluate((*read)->program->program, {}, cue::Limits::for_template());
  const cue::Cursor parameter = root.field((*read)->parameter_field);
  return {.schema = parameter.exists() ? json::print(cue::openapi_schema(parameter)) : "", .fault = (*read)->fault};
}

/// `status` with condition Synced False for a fault, and without one when there is none.
Value with_fault(const Value& status, const std::string& fault, Time now) {
  json::ArrayBuilder conditions;
  Value told;
  for (const Value& one : status["conditions"].items()) {
    if (one["type"].as_string() == kSynced) told = one;
    if (one["type"].as_string() != kSynced) conditions.add(one);
  }
  if (fault.empty() && told.is_null()) return status;
  const bool was_false = told["status"].as_string() == "False";
  if (!fault.empty()) {
    conditions.add(json::object({{"type", kSynced},
                                 {"status", "False"},
                                 {"reason", "ReconcileError"},
                                 {"message", fault},
                                 {"lastTransitionTime", was_false ? told["lastTransitionTime"] : Value(to_rfc3339(now))}}));
  }
  return conditions.empty() ? status.without("conditions") : status.with("conditions", conditions.build());
}

}  // namespace

DefinitionController::DefinitionController(Env& env, DefinitionKind kind, std::string ns)
    : env_(env), kind_(kind), ns_(std::move(ns)), manager_("slipway-" + name()), has_views_(kind != DefinitionKind::Policy) {
  for (const Value& object : builtin_definitions()) {
    if (kube::kind(object) != kind_of(kind)) continue;
    const std::string called(kube::name(object));
    const Value placed = object.with_path({"metadata", "namespace"}, ns_);
    built_in_[called] = placed.with_path({"metadata", "annotations", kBuiltIn}, hash_of(object["spec"]));
    missing_.insert(called);
  }
}

std::string DefinitionController::name() const { return lower(kind_of(kind_)); }

void DefinitionController::watch(control::Watches& watches) {
  definitions_ = &watches.primary(resource_of(kind_));
  revisions_ = &watches.cache(kDefinitionRevisions);
  const auto enqueue = watches.enqueue();
  for (const std::string& called : missing_) enqueue({ns_, called});
}

Task<Outcome> DefinitionController::reconcile(control::Reconcile& run) {
  if (!has_views_) {
    auto kept = co_await make_namespaces(run.client);
    if (kept) kept = co_await keep_views(run.client, manager_);
    if (!kept) co_return Outcome::failed(std::move(kept).error());
    has_views_ = true;
  }
  const kube::Object definition = definitions_->get(run.key);
  if (definition.is_null()) {
    if (run.key.ns == ns_ && missing_.contains(run.key.name)) {
      auto installed = co_await install(run.client, run.key.name);
      if (!installed) co_return Outcome::failed(std::move(installed).error());
    }
    co_return Outcome::settled();
  }
  if (run.key.ns == ns_) missing_.erase(run.key.name);
  if (kube::is_deleting(definition)) co_return Outcome::settled();
  if (const kube::Object newer = newer_built_in(definition); !newer.is_null()) {
    auto written = co_await client::update(run.client, resource_of(kind_), newer, manager_);
    co_return written ? Outcome::settled() : Outcome::failed(std::move(written).error());
  }
  const std::string hash = hash_of(definition["spec"]);
  if (definition["status"]["latestRevision"]["revisionHash"].as_string() == hash) co_return Outcome::settled();
  auto revision = co_await record(run.client, definition, hash);
  if (!revision) co_return Outcome::failed(std::move(revision).error());
  Compiled made;
  co_await compute_for(env_, "definitions", [&made, &definition] { made = compiled(definition); });
  auto config_map = co_await publish_schema(run.client, definition, std::move(made.schema));
  if (!config_map) co_return Outcome::failed(std::move(config_map).error());
  Value status = definition["status"].with(
      "latestRevision",
      json::object({{"name", kube::name(*revision)}, {"revision", (*revision)["spec"]["revision"]}, {"revisionHash", hash}}));
  status = config_map->empty() ? status.without("configMapRef") : status.with("configMapRef", *config_map);
  status = with_fault(status, made.fault, env_.clock.now());
  auto written = co_await control::write_status(run.client, resource_of(kind_), definition, status, manager_);
  if (!written) co_return Outcome::failed(std::move(written).error());
  auto limited = co_await limit_revisions(run.client, definition);
  co_return limited ? Outcome::settled() : Outcome::failed(std::move(limited).error());
}

/// Of the definitions, and of what clients look for beside them (views.h).
Task<Result<void>> DefinitionController::make_namespaces(client::Client& client) {
  if (has_namespaces_) co_return Result<void>{};
  for (const std::string& name : std::set<std::string>{ns_, kDefinitionNamespace}) {
    const Value ns = json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", name}})}});
    auto made = co_await client::create(client, kube::kNamespaces, ns, manager_);
    if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  }
  has_namespaces_ = true;
  co_return Result<void>{};
}

Task<Result<void>> DefinitionController::install(client::Client& client, std::string name) {
  SLIPWAY_CO_TRY_VOID(co_await make_namespaces(client));
  auto made = co_await client::create(client, resource_of(kind_), value_at(built_in_, name), manager_);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  missing_.erase(name);
  co_return Result<void>{};
}

kube::Object DefinitionController::newer_built_in(const kube::Object& definition) const {
  const std::string_view written = kube::annotation(definition, kBuiltIn);
  const auto own = built_in_.find(std::string(kube::name(definition)));
  if (written.empty() || own == built_in_.end() || kube::ns(definition) != ns_) return {};
  if (written == kube::annotation(own->second, kBuiltIn) || written != hash_of(definition["spec"])) return {};
  kube::Object newer = definition.with("spec", own->second["spec"]);
  for (const auto [key, value] : own->second["metadata"]["annotations"].members()) {
    newer = newer.with_path({"metadata", "annotations", key}, value);
  }
  return newer;
}

DefinitionController::Revisions DefinitionController::revisions_of(const kube::Object& definition) const {
  Revisions found;
  const std::string prefix = fmt::format("{}-v", kube::name(definition));
  for (const kube::ObjectKey& key : revisions_->keys(kube::ns(definition), prefix)) {
    const auto number = number_in(key.name, prefix);
    if (!number) continue;
    found.highest = std::max(found.highest, *number);
    const Value revision = revisions_->get(key);
    if (revision["spec"]["definitionType"].as_string() == type_of(kind_)) found.own[*number] = revision;
  }
  return found;
}

Task<Result<kube::Object>> DefinitionController::record(client::Client& client, kube::Object definition, std::string hash) {
  const Revisions known = revisions_of(definition);
  if (!known.own.empty()) {
    const kube::Object newest = known.own.rbegin()->second;
    if (newest["spec"]["revisionHash"].as_string() == hash) co_return newest;
  }
  const std::int64_t number = known.highest + 1;
  const std::string called = fmt::format("{}-v{}", kube::name(definition), number);
  const Value revision = json::object({{"apiVersion", kApiVersion},
                                       {"kind", "DefinitionRevision"},
                                       {"metadata", owned_metadata(definition, called, label_of(kind_))},
                                       {"spec", json::object({{"revision", number},
                                                              {"revisionHash", hash},
                                                              {"definitionType", type_of(kind_)},
                                                              {field_of(kind_), definition_content(definition)}})}});
  co_return co_await client::create(client, kDefinitionRevisions, revision, manager_);
}

Task<Result<std::string>> DefinitionController::publish_schema(client::Client& client, kube::Object definition,
                                                               std::string schema) {
  if (schema.empty()) co_return std::string();
  const std::string called = fmt::format("{}-schema-{}", lower(type_of(kind_)), kube::name(definition));
  const Value data = json::object({{kSchemaKey, schema}});
  const Value wanted = json::object({{"apiVersion", "v1"},
                                     {"kind", "ConfigMap"},
                                     {"metadata", owned_metadata(definition, called, label_of(kind_))},
                                     {"data", data}});
  auto made = co_await client::create(client, kube::kConfigMaps, wanted, manager_);
  if (made) co_return called;
  if (made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  SLIPWAY_CO_TRY(found, co_await client::get(client, kube::kConfigMaps, {std::string(kube::ns(definition)), called}));
  if (!kube::is_owned_by(found, kube::uid(definition))) co_return std::string();
  if (found["data"] != data) {
    SLIPWAY_CO_TRY_VOID(co_await client::update(client, kube::kConfigMaps, found.with("data", data), manager_));
  }
  co_return called;
}

Task<Result<void>> DefinitionController::limit_revisions(client::Client& client, kube::Object definition) {
  Revisions known = revisions_of(definition);
  while (known.own.size() > kDefinitionRevisionLimit) {
    const kube::Object oldest = known.own.begin()->second;
    known.own.erase(known.own.begin());
    client::DeleteQuery query;
    query.uid = std::string(kube::uid(oldest));
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(client, kDefinitionRevisions, kube::key_of(oldest), query));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
