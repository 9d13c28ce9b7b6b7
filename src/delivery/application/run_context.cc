#include "delivery/application/run_context.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kVars = "vars";

bool is_free_for(const Value& object, const kube::Object& owner) {
  return object.is_null() || kube::is_owned_by(object, kube::uid(owner));
}

}  // namespace

Task<Result<LoadedContext>> load_context(client::Client& client, kube::Object owner) {
  const std::string base = fmt::format("workflow-{}-context", kube::name(owner));
  for (const std::string& name : {base, base + "-" + std::string(kube::uid(owner)).substr(0, 5)}) {
    auto found = co_await client::get(client, kube::kConfigMaps, {std::string(kube::ns(owner)), name});
    if (!found && found.error().reason != Reason::NotFound) co_return fail(std::move(found).error());
    const Value object = found ? *found : Value();
    if (!is_free_for(object, owner)) continue;
    LoadedContext loaded{.store = {}, .object = object};
    for (const auto& [key, value] : object["data"].members()) {
      if (key != kVars) {
        loaded.store.notes[std::string(key)] = value.str();
      } else if (auto vars = json::parse(value.as_string()); vars && vars->is_object()) {
        loaded.store.vars = *vars;
      }
    }
    if (object.is_null()) {
      loaded.object =
          json::object({{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", json::object({{"name", name},
                                                   {"namespace", Value(kube::ns(owner))},
                                                   {"ownerReferences", json::array({kube::owner_reference(owner)})}})}});
    }
    co_return loaded;
  }
  co_return fail(Reason::Conflict, fmt::format("ConfigMap {} belongs to somebody else", base));
}

Task<Result<Value>> save_context(client::Client& client, kube::Object owner, Value object, workflow::RunStore store) {
  json::ObjectBuilder data;
  data.set(kVars, json::print(store.vars));
  for (const auto& [key, text] : store.notes) data.set(key, text);
  const Value wanted = object.with("data", data.build());
  if (wanted == object) co_return object;
  const bool is_new = !object["metadata"].has("resourceVersion");
  if (!is_new) co_return co_await client::update(client, kube::kConfigMaps, wanted, kManager);
  co_return co_await client::create(client, kube::kConfigMaps, wanted, kManager);
}

workflow::ContextBackend backend_of(const Value& context) {
  return {"v1", "ConfigMap", std::string(kube::name(context)), std::string(kube::ns(context)), ""};
}

}  // namespace slipway::delivery::application
