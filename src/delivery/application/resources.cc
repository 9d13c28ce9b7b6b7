#include "delivery/application/resources.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/gzip.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxPlain = 4096;

/// Texts by component: what everybody may read, and the Secrets whole.
struct Texts {
  std::map<std::string, std::string> open, secret;
};

Value pending(std::string what) { return json::object({{"pending", json::array({Value(std::move(what))})}}); }

void add_objects(const RenderedComponent& rendered, Texts& texts) {
  json::ArrayBuilder open, secret;
  const auto add = [&](const Value& object) {
    const bool is_secret = object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
    if (is_secret) secret.add(object);
    open.add(is_secret ? object.without("data").without("stringData") : object);
  };
  if (!rendered.workload.is_null()) add(rendered.workload);
  for (const RenderedObject& one : rendered.others) add(one.object);
  texts.open[rendered.name] = json::print(open.build());
  if (!secret.empty()) texts.secret[rendered.name] = json::print(secret.build());
}

Value record(const AppRun& run, const char* kind) {
  const kube::Object& application = run.application();
  return json::object({{"apiVersion", "v1"},
                       {"kind", kind},
                       {"metadata", json::object({{"name", run.revision()},
                                                  {"namespace", Value(kube::ns(application))},
                                                  {"ownerReferences", json::array({kube::owner_reference(application)})}})}});
}

Value config_map(const AppRun& run, const Texts& texts) {
  json::ObjectBuilder data, packed;
  for (const auto& [component, text] : texts.open) {
    if (text.size() <= kMaxPlain) {
      data.set(component, text);
    } else {
      packed.set(component + ".gz", base64_encode(gzip(text)));
    }
  }
  Value made = record(run, "ConfigMap");
  if (!data.empty()) made = made.with("data", data.build());
  if (!packed.empty()) made = made.with("binaryData", packed.build());
  return made;
}

Value secret(const AppRun& run, const Texts& texts) {
  json::ObjectBuilder data;
  for (const auto& [component, text] : texts.secret) data.set(component, base64_encode(text));
  return record(run, "Secret").with("data", data.build());
}

Task<Result<void>> create_once(AppRun& run, kube::Resource resource, Value object) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  auto made = co_await client::create(*hub, std::move(resource), std::move(object), kManager);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> write_resources(AppRun& run) {
  Texts texts;
  for (const ComponentSpec& component : std::vector<ComponentSpec>(run.parsed().spec.components)) {
    if (!component.inputs.empty()) {
      json::ArrayBuilder waits;
      for (const workflow::StepInput& input : component.inputs) waits.add("input " + input.from);
      texts.open[component.name] = json::print(json::object({{"pending", waits.build()}}));
      continue;
    }
    auto rendered = co_await run.render(component, {}, {}, {});
    if (rendered) {
      add_objects(**rendered, texts);
    } else {
      texts.open[component.name] = json::print(pending(rendered.error().message));
    }
  }
  SLIPWAY_CO_TRY_VOID(co_await create_once(run, kube::kConfigMaps, config_map(run, texts)));
  if (!texts.secret.empty()) SLIPWAY_CO_TRY_VOID(co_await create_once(run, kube::kSecrets, secret(run, texts)));
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
