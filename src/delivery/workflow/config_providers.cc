// vela/config: configurations are Secrets that carry their properties as JSON.
#include <fmt/format.h>

#include "base/digest.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/workflow/config_template.h"
#include "delivery/workflow/provider.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

constexpr const char* kCatalog = "config.oam.dev/catalog";
constexpr const char* kCatalogValue = "velacore-config";
constexpr const char* kType = "config.oam.dev/type";
constexpr const char* kTemplate = "config.oam.dev/template";
constexpr const char* kProperties = "input-properties";
constexpr const char* kScope = "config.oam.dev/scope";
constexpr const char* kSensitive = "config.oam.dev/sensitive";
constexpr const char* kTemplateNamespaceNote = "config.oam.dev/template-namespace";
/// Of a configuration's Secret: the objects that were made beside it.
constexpr const char* kObjects = "objects-reference";

kube::ObjectKey key_of(const ProviderCall& call) {
  std::string ns = call.params["namespace"].str();
  if (ns.empty()) ns = kube::ns(call.setting.owner);
  return {std::move(ns), call.params["name"].str()};
}

Result<Value> properties_of(const Value& secret) {
  std::string text;
  const Value& data = secret["data"][kProperties];
  if (data.is_null()) return Value::empty_object();
  if (!base64_decode(data.as_string(), text)) return fail(Reason::Invalid, fmt::format("{} is not base64", kProperties));
  return json::parse(text);
}

/// The Secret of a configuration without a template.
Value plain_secret(const kube::ObjectKey& key) {
  const Value labels = json::object({{kCatalog, kCatalogValue}, {kType, "config"}});
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", json::object({{"name", key.name}, {"namespace", key.ns}, {"labels", labels}})}});
}

Value references_to(const std::vector<Value>& objects) {
  json::ArrayBuilder out;
  for (const Value& object : objects) {
    out.add(json::object({{"kind", object["kind"]},
                          {"namespace", object["metadata"]["namespace"]},
                          {"name", object["metadata"]["name"]},
                          {"apiVersion", object["apiVersion"]}}));
  }
  return out.build();
}

Value templated_secret(const kube::ObjectKey& key, const ConfigTemplate& made_by, const RenderedConfig& made) {
  Value secret = made.secret.is_null() ? plain_secret(key) : made.secret;
  secret = secret.with("apiVersion", "v1").with_path({"metadata", "namespace"}, key.ns);
  if (kube::name(secret).empty()) secret = secret.with_path({"metadata", "name"}, key.name);
  if (secret["type"].as_string().empty()) secret = secret.with("type", "catalog.config.oam.dev/" + made_by.name);
  const std::pair<const char*, std::string> labels[] = {
      {kCatalog, kCatalogValue}, {kType, made_by.name}, {kTemplate, made_by.name}, {kScope, made_by.scope}};
  for (const auto& [name, value] : labels) {
    if (!value.empty()) secret = secret.with_path({"metadata", "labels", name}, value);
  }
  secret = secret.with_path({"metadata", "annotations", kSensitive}, made_by.is_sensitive ? "true" : "false");
  secret = secret.with_path({"metadata", "annotations", kTemplateNamespaceNote}, made_by.ns);
  if (made.objects.empty()) return secret;
  return secret.with_path({"data", kObjects}, base64_encode(json::print(references_to(made.objects))));
}

/// A configuration keeps the template that it was made with.
Task<Result<void>> check_template(client::Client& hub, kube::ObjectKey key, std::string template_name) {
  const auto before = co_await client::get(hub, kube::kSecrets, key);
  if (!before) co_return Result<void>{};
  const std::string type(kube::label(*before, kType));
  if (type == template_name || (template_name.empty() && (type == "config" || type.empty()))) co_return Result<void>{};
  co_return fail(Reason::Invalid, "the template of the config can not be changed");
}

Task<Result<void>> apply_objects(ProviderCall call, std::vector<Value> objects) {
  SLIPWAY_CO_TRY(hub, call.setting.on(""));
  KindMapper kinds;
  for (const Value& object : objects) {
    SLIPWAY_CO_TRY(kind, co_await kinds.find_for(*hub, "", object));
    SLIPWAY_CO_TRY_VOID(co_await client::apply(*hub, kind.resource, object, call.setting.manager));
  }
  co_return Result<void>{};
}

Task<Answer> create(ProviderCall call) {
  const kube::ObjectKey key = key_of(call);
  if (key.name.empty()) co_return Answer::error("the request is invalid: a configuration has a name");
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  const std::string made_by = call.params["template"].str();
  Value secret = plain_secret(key);
  RenderedConfig made;
  if (!made_by.empty()) {
    auto found = co_await load_config_template(**hub, made_by);
    if (!found) co_return Answer::error(found.error());
    if (call.setting.uses) call.setting.uses(found->object);
    auto checked = co_await check_template(**hub, key, found->name);
    if (!checked) co_return Answer::error(checked.error());
    auto rendered = co_await render_config(call, *found, key, call.params["config"]);
    if (!rendered) co_return Answer::error(rendered.error());
    made = std::move(*rendered);
    secret = templated_secret(key, *found, made);
  }
  secret = secret.with_path({"data", kProperties}, base64_encode(json::print(call.params["config"])));
  auto applied = co_await client::apply(**hub, kube::kSecrets, secret, call.setting.manager);
  if (!applied) co_return Answer::error(applied.error());
  auto beside = co_await apply_objects(call, std::move(made.objects));
  co_return beside ? Answer::done() : Answer::error(beside.error());
}

Task<Answer> read(ProviderCall call) {
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  auto secret = co_await client::get(**hub, kube::kSecrets, key_of(call));
  if (!secret && secret.error().reason == Reason::NotFound) co_return Answer::error("the config does not exist");
  if (!secret) co_return Answer::error(secret.error());
  if (kube::annotation(*secret, kSensitive) == "true") co_return Answer::error("the config is sensitive");
  auto properties = properties_of(*secret);
  if (!properties) co_return Answer::error(properties.error());
  Answer answer = Answer::done(json::object({{"config", std::move(*properties)}}));
  answer.is_secret = true;  // configurations are Secrets
  co_return answer;
}

Task<Answer> list(ProviderCall call) {
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  const std::string selector = fmt::format("{}={},{}={}", kCatalog, kCatalogValue, kType, call.params["template"].as_string());
  auto secrets =
      co_await client::list(**hub, kube::kSecrets, {.ns = key_of(call).ns, .label_selector = selector, .field_selector = ""});
  if (!secrets) co_return Answer::error(secrets.error());
  json::ArrayBuilder configs;
  for (const Value& secret : (*secrets)["items"].items()) {
    if (kube::annotation(secret, kSensitive) == "true") continue;
    if (auto properties = properties_of(secret)) {
      configs.add(json::object({{"name", kube::name(secret)}, {"config", std::move(*properties)}}));
    }
  }
  Answer answer = Answer::done(json::object({{"configs", configs.build()}}));
  answer.is_secret = true;
  co_return answer;
}

/// Deletes the objects that were made beside a configuration.
Task<Result<void>> remove_objects(client::Client& hub, Value secret) {
  std::string text;
  const Value& stored = secret["data"][kObjects];
  if (stored.is_null() || !base64_decode(stored.as_string(), text)) co_return Result<void>{};
  SLIPWAY_CO_TRY(references, json::parse(text));
  KindMapper kinds;
  for (const Value& one : references.items()) {
    SLIPWAY_CO_TRY(kind, co_await kinds.find_for(hub, "", one));
    const std::string ns = kind.is_namespaced ? one["namespace"].str() : "";
    auto removed = co_await client::remove(hub, kind.resource, {ns, one["name"].str()});
    if (!removed && removed.error().reason != Reason::NotFound) co_return fail(std::move(removed).error());
  }
  co_return Result<void>{};
}

Task<Answer> remove(ProviderCall call) {
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  auto secret = co_await client::get(**hub, kube::kSecrets, key_of(call));
  if (secret) {
    if (kube::label(*secret, kCatalog) != kCatalogValue) co_return Answer::error("found a secret but is not a config");
    auto beside = co_await remove_objects(**hub, *secret);
    if (!beside) co_return Answer::error(beside.error());
  }
  auto removed = co_await client::remove(**hub, kube::kSecrets, key_of(call));
  if (!removed && removed.error().reason != Reason::NotFound) co_return Answer::error(removed.error());
  co_return Answer::done();
}

Provider row(const char* function, std::vector<std::string> params, ProviderFunction run) {
  return {.package = "config",
          .function = function,
          .params = std::move(params),
          .run = std::move(run),
          .flat_function = fmt::format("{}-config", function)};
}

}  // namespace

std::vector<Provider> config_providers() {
  return {row("create", {"name", "namespace", "template", "config"}, create), row("read", {"name", "namespace"}, read),
          row("list", {"template", "namespace"}, list), row("delete", {"name", "namespace"}, remove)};
}

}  // namespace slipway::delivery::workflow
