#include "delivery/application/run_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/kind.h"
#include "delivery/family/identity.h"
#include "delivery/family/rendered_mark.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kRightsNote = "author-rights";
constexpr std::size_t kMaxFollowedNamespaces = 8;
constexpr const char* kVars = "vars";
/// Names the Secret beside the ConfigMap.
constexpr const char* kSecretAnnotation = "app.oam.dev/workflow-context-secret";

bool is_free_for(const Value& object, const kube::Object& owner) {
  return object.is_null() || kube::is_owned_by(object, kube::uid(owner));
}

Value new_object(const kube::Object& owner, const char* kind, const std::string& name) {
  return json::object({{"apiVersion", "v1"},
                       {"kind", kind},
                       {"metadata", json::object({{"name", name},
                                                  {"namespace", Value(kube::ns(owner))},
                                                  {"ownerReferences", json::array({kube::owner_reference(owner)})}})}});
}

/// A Secret with the name and the owner of the ConfigMap.
Value secret_beside(const Value& object) {
  const Value& metadata = object["metadata"];
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", json::object({{"name", metadata["name"]},
                                                  {"namespace", metadata["namespace"]},
                                                  {"ownerReferences", metadata["ownerReferences"]}})}});
}

/// The data of a ConfigMap, or of a Secret.
void read_into(workflow::RunStore& store, const Value& data, bool is_secret) {
  for (const auto& [name, value] : data.members()) {
    const std::string key(name);
    std::string text = value.str();
    if (is_secret) {
      text.clear();
      base64_decode(value.as_string(), text);
    }
    if (key != kVars) {
      store.notes[key] = text;
      if (is_secret) store.secret_notes.insert(key);
      continue;
    }
    const auto vars = json::parse(text);
    if (!vars) continue;
    for (const auto& [variable, content] : vars->members()) {
      store.vars = store.vars.with(variable, content);
      if (is_secret) store.secret_vars.insert(std::string(variable));
    }
  }
}

/// With the mark of what the process has written, which a change by a user takes away.
Value as_own(const Value& object) {
  if (is_marked_rendered(object)) return object;
  return object.without_path({"metadata", "annotations", kContentAuthors})
      .with_path({"metadata", "annotations", kRenderedMark}, "true");
}

/// Writes `wanted` where it differs from `before`.
Task<Result<Value>> write_object(client::Client& client, kube::Resource resource, Value before, Value wanted) {
  const bool is_new = !before["metadata"].has("resourceVersion");
  if (!is_new && wanted == before) co_return before;
  if (!is_new) co_return co_await client::update(client, resource, wanted, kManager);
  auto created = co_await client::create(client, resource, wanted, kManager);
  if (created || created.error().reason != Reason::AlreadyExists) co_return created;
  // Of an earlier try that was cut off before the ConfigMap named it, unless it has another owner.
  SLIPWAY_CO_TRY(there, co_await client::get(client, resource, kube::key_of(wanted)));
  if (there["metadata"]["ownerReferences"] != wanted["metadata"]["ownerReferences"]) co_return created;
  co_return co_await client::update(client, resource, there.with("data", wanted["data"]), kManager);
}

/// The namespaces in which the rights of the author are remembered: the owner's, and those that its spec names.
std::vector<std::string> namespaces_of(const kube::Object& owner) {
  std::vector<std::string> found{std::string(kube::ns(owner))};
  const auto look = [&found](const auto& self, const Value& value) -> void {
    for (const auto& [key, member] : value.members()) {
      const bool is_new = key == "namespace" && member.is_string() && !member.as_string().empty() &&
                          std::ranges::find(found, member.as_string()) == found.end();
      if (is_new && found.size() < kMaxFollowedNamespaces) found.emplace_back(member.as_string());
      self(self, member);
    }
    for (const Value& item : value.items()) self(self, item);
  };
  look(look, owner["spec"]);
  return found;
}

}  // namespace

Task<Result<LoadedContext>> load_context(client::Client& client, kube::Object owner) {
  const std::string base = fmt::format("workflow-{}-context", kube::name(owner));
  for (const std::string& name : {base, base + "-" + std::string(kube::uid(owner)).substr(0, 5)}) {
    auto found = co_await client::get(client, kube::kConfigMaps, {std::string(kube::ns(owner)), name});
    if (!found && found.error().reason != Reason::NotFound) co_return fail(std::move(found).error());
    const Value object = found ? *found : Value();
    if (!is_free_for(object, owner)) continue;
    LoadedContext loaded{.store = {}, .object = object, .secret = {}};
    if (object.is_null()) {
      loaded.object = new_object(owner, "ConfigMap", name);
      co_return loaded;
    }
    loaded.is_foreign = is_written_by_user(object);
    if (loaded.is_foreign) co_return loaded;
    read_into(loaded.store, object["data"], false);
    if (kube::annotation(object, kSecretAnnotation).empty()) co_return loaded;
    auto secret = co_await client::get(client, kube::kSecrets, kube::key_of(object));
    if (!secret && secret.error().reason != Reason::NotFound) co_return fail(std::move(secret).error());
    if (secret && is_free_for(*secret, owner)) {
      loaded.secret = *secret;
      loaded.is_foreign = is_written_by_user(*secret);
      if (loaded.is_foreign) loaded.store = {};
      if (!loaded.is_foreign) read_into(loaded.store, (*secret)["data"], true);
    }
    co_return loaded;
  }
  co_return fail(Reason::Conflict, fmt::format("ConfigMap {} belongs to somebody else", base));
}

Task<Result<void>> begin_context(client::Client& client, kube::Resource resource, kube::Object owner, LoadedContext& loaded) {
  loaded.store = {};
  loaded.is_foreign = false;
  if (!loaded.object["metadata"].has("resourceVersion")) co_return Result<void>{};
  SLIPWAY_CO_TRY(now, co_await client::get(client, resource, kube::key_of(owner)));
  if (now["metadata"]["resourceVersion"] == owner["metadata"]["resourceVersion"]) co_return Result<void>{};
  co_return fail(Reason::Conflict, fmt::format("{} has changed since it was read", kube::name(owner)));
}

Task<Result<Value>> save_context(client::Client& client, LoadedContext loaded, workflow::RunStore store) {
  json::ObjectBuilder data, secret_data, secret_vars;
  bool has_secrets = false;
  for (const auto& [name, value] : store.vars.members()) {
    if (store.is_secret(name)) secret_vars.set(name, value), has_secrets = true;
  }
  data.set(kVars, json::print(store.open_vars()));
  secret_data.set(kVars, base64_encode(json::print(secret_vars.build())));
  for (const auto& [key, text] : store.notes) {
    if (!store.secret_notes.contains(key)) {
      data.set(key, text);
    } else {
      secret_data.set(key, base64_encode(text)), has_secrets = true;
    }
  }
  Value object = as_own(loaded.object);
  if (has_secrets || !loaded.secret.is_null()) {
    const Value secret = loaded.secret.is_null() ? secret_beside(object) : loaded.secret;
    const Value wanted = as_own(secret).with("data", secret_data.build());
    SLIPWAY_CO_TRY(stored, co_await write_object(client, kube::kSecrets, secret, wanted));
    object = object.with_path({"metadata", "annotations", kSecretAnnotation}, kube::name(stored));
  }
  co_return co_await write_object(client, kube::kConfigMaps, loaded.object, object.with("data", data.build()));
}

Result<void> check_context(const LoadedContext& loaded) {
  if (!loaded.is_foreign) return {};
  return fail(
      Reason::Forbidden,
      fmt::format("ConfigMap or Secret {} holds what the steps of this run have stored, and a user has changed it: it is "
                  "not used. Restart the workflow",
                  kube::name(loaded.object)));
}

std::string note_in(const workflow::RunStore& store, const char* key) {
  const auto found = store.notes.find(key);
  return found == store.notes.end() ? "" : found->second;
}

Task<> follow_rights(Acting& acting, kube::Object owner, workflow::RunStore& store, bool is_first) {
  const std::string home(kube::ns(owner));
  if (is_first && acting.identity() != nullptr) {
    json::ObjectBuilder rules;
    std::size_t bytes = 0;
    for (const std::string& ns : namespaces_of(owner)) {
      const std::string text = co_await acting.rules_now(ns);
      bytes += text.size();
      if (text.empty() || bytes > control::kMaxRulesText) continue;
      if (auto parsed = json::parse(text)) rules.set(ns, *parsed);
    }
    store.notes[kRightsNote] = json::print(rules.build());
  }
  std::map<std::string, std::string> rules;
  if (const auto kept = json::parse(note_in(store, kRightsNote))) {
    for (const auto& [ns, one] : kept->members()) rules[std::string(ns)] = json::print(one);
    if (kept->is_array()) rules[home] = json::print(*kept);  // of a run that began before other namespaces were kept
  }
  acting.set_rules_at_start(home, std::move(rules));
}

workflow::ContextBackend backend_of(const Value& context) {
  return {"v1", "ConfigMap", std::string(kube::name(context)), std::string(kube::ns(context)), ""};
}

}  // namespace slipway::delivery::application
