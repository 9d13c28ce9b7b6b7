// vela/kube: objects of the run's clusters, as the run's identity. Writes are server-side apply of what the template names.
#include <fmt/format.h>

#include <memory>

#include "delivery/family/kind_mapper.h"
#include "delivery/workflow/older_forms.h"
#include "delivery/workflow/provider.h"
#include "json/patch.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

using Mapper = std::shared_ptr<KindMapper>;

/// Where an object is: a client of its cluster, its resource and key.
struct Place {
  client::Client* client = nullptr;
  MappedKind kind;
  kube::ObjectKey key;
  std::string cluster;

  ResourceRef reference() const {
    return {.api_version = kind.kind.api_version(), .kind = kind.kind.kind, .name = key.name, .ns = key.ns, .cluster = cluster};
  }
};

Task<Result<Place>> place_of(Mapper mapper, const CallSetting& setting, std::string cluster, Value object) {
  Place place;
  place.cluster = cluster == "local" ? "" : cluster;
  SLIPWAY_CO_TRY(client, setting.on(cluster));
  place.client = client;
  SLIPWAY_CO_TRY(discovery, (setting.discover ? setting.discover : setting.on)(cluster));
  SLIPWAY_CO_TRY(kind, co_await mapper->find_for(*discovery, place.cluster, object));
  place.kind = std::move(kind);
  place.key = kube::key_of(object);
  if (!place.kind.is_namespaced) place.key.ns.clear();
  if (place.kind.is_namespaced && place.key.ns.empty()) place.key.ns = "default";
  co_return place;
}

bool is_secret(const Place& place) { return place.kind.resource == kube::kSecrets; }

/// As answers have it: without the bookkeeping of the server.
Value shown(const Value& object) { return object.without_path({"metadata", "managedFields"}); }

Value with_labels(Value object, const Value& labels) {
  for (const auto& [key, value] : labels.members()) object = object.with_path({"metadata", "labels", key}, value);
  return object;
}

Task<Result<std::pair<Value, ResourceRef>>> apply_one(Mapper mapper, const CallSetting& setting, std::string cluster,
                                                      Value object) {
  SLIPWAY_CO_TRY(place, co_await place_of(mapper, setting, cluster, object));
  if (place.key.name.empty()) co_return fail(Reason::Invalid, "metadata.name: Required value");
  object = with_labels(std::move(object), setting.labels).without_path({"metadata", "managedFields"});
  if (place.kind.is_namespaced) object = object.with_path({"metadata", "namespace"}, place.key.ns);
  SLIPWAY_CO_TRY(applied, co_await client::apply(*place.client, place.kind.resource, std::move(object), setting.manager));
  co_return std::pair{shown(applied), place.reference()};
}

Task<Answer> apply(Mapper mapper, ProviderCall call) {
  Value object = object_in(call.params);
  if (call.params.has("patch") && call.patched) {
    auto changed = co_await call.patched(std::move(object));
    if (!changed) co_return Answer::error(changed.error());
    object = std::move(*changed);
  }
  auto applied = co_await apply_one(mapper, call.setting, call.params["cluster"].str(), std::move(object));
  if (!applied) co_return Answer::error(applied.error());
  Answer answer = Answer::done(returned_object(call.params, applied->first));
  answer.is_secret = applied->second.kind == "Secret";
  answer.resource = std::move(applied->second);
  co_return answer;
}

Task<> apply_into(Mapper mapper, const CallSetting& setting, std::string cluster, Value object,
                  Result<std::pair<Value, ResourceRef>>& into) {
  into = co_await apply_one(mapper, setting, std::move(cluster), std::move(object));
}

Task<Answer> apply_in_parallel(Mapper mapper, ProviderCall call) {
  const Value objects = call.params["value"];
  std::vector<Result<std::pair<Value, ResourceRef>>> results(objects.size());
  Tasks children(call.setting.env);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    children.spawn(apply_into(mapper, call.setting, call.params["cluster"].str(), objects.item(i), results[i]));
  }
  co_await children.join();
  json::ArrayBuilder applied;
  Answer answer;
  for (auto& result : results) {
    if (!result) co_return Answer::error(result.error());
    applied.add(std::move(result->first));
    answer.is_secret = answer.is_secret || result->second.kind == "Secret";
    answer.watched.push_back(std::move(result->second));
  }
  answer.returns = json::object({{"value", applied.build()}});
  co_return answer;
}

/// Errors of reading do not fail a step: they are `err`. A cluster that does not answer is no answer, though.
Answer with_error(const ProviderCall& call, const Status& error) {
  if (Answer::is_passing(error)) return Answer::wait(error.message);
  return Answer::done(json::object({{"value", object_in(call.params)}, {"err", error.message}}));
}

Task<Answer> read(Mapper mapper, ProviderCall call) {
  auto place = co_await place_of(mapper, call.setting, call.params["cluster"].str(), object_in(call.params));
  if (!place) co_return with_error(call, place.error());
  auto object = co_await client::get(*place->client, place->kind.resource, place->key);
  Answer answer = object ? Answer::done(returned_object(call.params, shown(*object))) : with_error(call, object.error());
  answer.watched.push_back(place->reference());
  answer.is_secret = is_secret(*place);
  co_return answer;
}

/// As component templates read: the object itself, and what is not there fails.
Task<Answer> get(Mapper mapper, ProviderCall call) {
  auto place = co_await place_of(mapper, call.setting, call.params["cluster"].str(), call.params["resource"]);
  if (!place) co_return Answer::error(place.error());
  auto object = co_await client::get(*place->client, place->kind.resource, place->key);
  if (!object) co_return Answer::error(object.error());
  Answer answer = Answer::done(shown(*object));
  answer.watched.push_back(place->reference());
  answer.is_secret = is_secret(*place);
  co_return answer;
}

std::string selector_of(const Value& labels) {
  std::string selector;
  for (const auto& [key, value] : labels.members()) {
    selector += fmt::format("{}{}={}", selector.empty() ? "" : ",", key, value.as_string());
  }
  return selector;
}

Answer list_error(const Status& error) {
  if (Answer::is_passing(error)) return Answer::wait(error.message);
  return Answer::done(json::object({{"err", error.message}}));
}

Task<Answer> list(Mapper mapper, ProviderCall call) {
  const Value resource = call.params.has("resource") ? call.params["resource"] : call.params["value"];
  const Value filter = call.params["filter"];
  auto place = co_await place_of(mapper, call.setting, call.params["cluster"].str(), resource);
  if (!place) co_return list_error(place.error());
  const std::string ns = place->kind.is_namespaced ? filter["namespace"].str() : "";
  auto found = co_await client::list(*place->client, place->kind.resource,
                                     {.ns = ns, .label_selector = selector_of(filter["matchingLabels"]), .field_selector = ""});
  if (!found) co_return list_error(found.error());
  json::ArrayBuilder items;
  for (const Value& item : (*found)["items"].items()) items.add(shown(item));
  Answer answer = Answer::done(json::object({{"values", found->with("items", items.build())}}));
  answer.is_secret = is_secret(*place);
  co_return answer;
}

Task<Answer> remove(Mapper mapper, ProviderCall call) {
  const Value filter = call.params["filter"];
  auto place = co_await place_of(mapper, call.setting, call.params["cluster"].str(), call.params["value"]);
  if (!place) co_return with_error(call, place.error());
  if (filter.is_null()) {
    auto removed = co_await client::remove(*place->client, place->kind.resource, place->key);
    co_return removed ? Answer::done() : with_error(call, removed.error());
  }
  const std::string ns = filter["namespace"].as_string().empty() ? place->key.ns : filter["namespace"].str();
  client::Request request;
  request.verb = client::Verb::DeleteCollection;
  request.resource = place->kind.resource;
  request.ns = ns;
  request.label_selector = selector_of(filter["matchingLabels"]);
  auto removed = co_await place->client->call(std::move(request));
  co_return removed ? Answer::done() : with_error(call, removed.error());
}

Task<Answer> patch(Mapper mapper, ProviderCall call) {
  if (!call.patched) co_return Answer::error("only steps of a workflow can do this");
  const Value object = call.params.has("value") ? call.params["value"] : call.params["resource"];
  auto place = co_await place_of(mapper, call.setting, call.params["cluster"].str(), object);
  if (!place) co_return Answer::error(place.error());
  auto live = co_await client::get(*place->client, place->kind.resource, place->key);
  if (!live) co_return Answer::error(live.error());
  auto wanted = co_await call.patched(shown(*live));
  if (!wanted) co_return Answer::error(wanted.error());
  const Value difference = json::create_merge_patch(shown(*live), with_labels(std::move(*wanted), call.setting.labels));
  auto result = difference.empty() ? live
                                   : co_await client::merge_patch(*place->client, place->kind.resource, place->key, difference,
                                                                  call.setting.manager);
  if (!result) co_return Answer::error(result.error());
  Answer answer = Answer::done(json::object({{"result", shown(*result)}}));
  answer.resource = place->reference();
  answer.is_secret = is_secret(*place);
  co_return answer;
}

}  // namespace

std::vector<Provider> kube_providers() {
  const auto mapper = std::make_shared<KindMapper>();
  const auto with = [&](Task<Answer> (*run)(Mapper, ProviderCall)) -> ProviderFunction {
    return [mapper, run](ProviderCall call) { return run(mapper, std::move(call)); };
  };
  return {
      {.package = "kube",
       .function = "apply",
       .params = {"cluster", "value", "resource", "patch"},
       .run = with(apply),
       .patches = true},
      {.package = "kube", .function = "apply-in-parallel", .params = {"cluster", "value"}, .run = with(apply_in_parallel)},
      {.package = "kube",
       .function = "read",
       .params = {"cluster", "value", "apiVersion", "kind", "metadata", "name", "namespace"},
       .run = with(read)},
      {.package = "kube", .function = "get", .params = {}, .run = with(get), .flat_function = "-"},
      {.package = "kube", .function = "list", .params = {"cluster", "resource", "value", "filter"}, .run = with(list)},
      {.package = "kube", .function = "delete", .params = {"cluster", "value", "filter"}, .run = with(remove)},
      {.package = "kube", .function = "patch", .params = {"cluster", "value", "patch"}, .run = with(patch), .patches = true},
  };
}

}  // namespace slipway::delivery::workflow
