// vela/config: configurations are Secrets that carry their properties as JSON.
#include <fmt/format.h>

#include "base/digest.h"
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
/// Templates are ConfigMaps with this prefix.
constexpr const char* kTemplatePrefix = "config-template-";
constexpr const char* kTemplateNamespace = "vela-system";

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

/// A template may be named "namespace/name".
kube::ObjectKey template_key(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {kTemplateNamespace, kTemplatePrefix + name};
  return {name.substr(0, slash), kTemplatePrefix + name.substr(slash + 1)};
}

Task<Answer> create(ProviderCall call) {
  const kube::ObjectKey key = key_of(call);
  if (key.name.empty()) co_return Answer::error("the request is invalid: a configuration has a name");
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  const std::string made_by = call.params["template"].str();
  Value labels = json::object({{kCatalog, kCatalogValue}, {kType, made_by.empty() ? "config" : made_by}});
  if (!made_by.empty()) {
    auto found = co_await client::get(**hub, kube::kConfigMaps, template_key(made_by));
    if (!found && found.error().reason == Reason::NotFound) co_return Answer::error("the template does not exist");
    if (!found) co_return Answer::error(found.error());
    labels = labels.with(kTemplate, made_by);
  }
  const Value secret =
      json::object({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", json::object({{"name", key.name}, {"namespace", key.ns}, {"labels", labels}})},
                    {"type", made_by.empty() ? "" : "catalog.config.oam.dev/" + made_by},
                    {"data", json::object({{kProperties, base64_encode(json::print(call.params["config"]))}})}});
  auto applied =
      co_await client::apply(**hub, kube::kSecrets, made_by.empty() ? secret.without("type") : secret, call.setting.manager);
  co_return applied ? Answer::done() : Answer::error(applied.error());
}

Task<Answer> read(ProviderCall call) {
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
  auto secret = co_await client::get(**hub, kube::kSecrets, key_of(call));
  if (!secret && secret.error().reason == Reason::NotFound) co_return Answer::error("the config does not exist");
  if (!secret) co_return Answer::error(secret.error());
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
    if (auto properties = properties_of(secret)) {
      configs.add(json::object({{"name", kube::name(secret)}, {"config", std::move(*properties)}}));
    }
  }
  Answer answer = Answer::done(json::object({{"configs", configs.build()}}));
  answer.is_secret = true;
  co_return answer;
}

Task<Answer> remove(ProviderCall call) {
  auto hub = call.setting.on("");
  if (!hub) co_return Answer::error(hub.error());
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
