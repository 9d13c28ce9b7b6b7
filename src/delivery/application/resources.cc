#include "delivery/application/resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/gzip.h"
#include "base/text.h"
#include "delivery/application/policy_outputs.h"
#include "delivery/family/handover.h"
#include "delivery/family/rendered_mark.h"
#include "delivery/family/revision_resources.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxPlainManifest = 4096;
constexpr int kMostTries = 5;

/// Texts by component: what everybody may read, and the Secrets whole.
struct Texts {
  std::map<std::string, std::string> open, secret;
};

Value pending(std::string what) { return json::object({{"pending", json::array({Value(std::move(what))})}}); }

/// What an object is called, and nothing that may hold a value.
Value name_of(const Value& object) {
  json::ObjectBuilder metadata;
  for (const char* key : {"name", "namespace", "labels"}) {
    if (object["metadata"].has(key)) metadata.add(key, object["metadata"][key]);
  }
  return json::object({{"apiVersion", object["apiVersion"]}, {"kind", object["kind"]}, {"metadata", metadata.build()}});
}

void add_list(const std::string& key, const std::vector<Value>& objects, bool are_secret, Texts& texts) {
  json::ArrayBuilder open, secret;
  for (const Value& object : objects) {
    const bool is_kind = object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
    const bool is_secret = are_secret || is_kind;
    if (is_secret) secret.add(object);
    open.add(is_secret ? name_of(object) : object);
  }
  texts.open[key] = json::print(open.build());
  if (!secret.empty()) texts.secret[key] = json::print(secret.build());
}

void add_objects(const RenderedComponent& rendered, Texts& texts) {
  std::vector<Value> objects;
  if (!rendered.workload.is_null()) objects.push_back(rendered.workload);
  for (const RenderedObject& one : rendered.others) objects.push_back(one.object);
  add_list(rendered.name, objects, rendered.is_secret, texts);
}

/// A key of a ConfigMap, whatever the policy is called.
std::string key_of_policy(const std::string& policy) {
  constexpr std::size_t kMaxKey = 253 - std::string_view(".gz").size();
  std::string key = std::string(kPolicyKey) + policy;
  std::ranges::replace_if(
      key, [](char c) { return !is_digit(c) && (lower(c) < 'a' || lower(c) > 'z') && c != '-' && c != '_' && c != '.'; }, '_');
  return key.substr(0, kMaxKey);
}

Task<> add_policies(AppRun& run, Texts& texts) {
  const auto rendered = co_await render_policies(run);
  for (const auto& [name, manifests] : rendered) {
    const std::string key = key_of_policy(name);
    if (!manifests) {
      texts.open[key] = json::print(pending(manifests.error().message));
      continue;
    }
    std::vector<Value> objects;
    for (const Manifest& manifest : *manifests) objects.push_back(manifest.object);
    if (!objects.empty()) add_list(key, objects, false, texts);
  }
}

Value record(const AppRun& run, const char* kind) {
  const kube::Object& application = run.application();
  return json::object({{"apiVersion", "v1"},
                       {"kind", kind},
                       {"metadata", json::object({{"name", run.revision()},
                                                  {"namespace", Value(kube::ns(application))},
                                                  {"ownerReferences", json::array({kube::owner_reference(application)})}})}});
}

/// Whoever uses it does so with the rights of those for whom it was rendered.
Value marked_for(const AppRun& run, const Value& object) {
  const Value marked = object.with_path({"metadata", "annotations", kRenderedMark}, "true");
  const kube::UserInfo* user = run.acting().identity();
  if (user == nullptr) return marked;
  std::vector<kube::UserInfo> authors{*user};
  if (user->narrowing) std::ranges::copy(user->narrowing->by, std::back_inserter(authors));
  return marked.with_path({"metadata", "annotations", kContentAuthors}, json::print(identity_list(authors)));
}

Value config_map(const AppRun& run, const Texts& texts) {
  json::ObjectBuilder data, packed;
  for (const auto& [component, text] : texts.open) {
    if (text.size() <= kMaxPlainManifest) {
      data.set(component, text);
    } else {
      packed.set(component + ".gz", base64_encode(gzip(text)));
    }
  }
  Value made =
      marked_for(run, record(run, "ConfigMap")).with_path({"metadata", "annotations", kHoldingsKind}, kind_text(kTrackerKind));
  if (!data.empty()) made = made.with("data", data.build());
  if (!packed.empty()) made = made.with("binaryData", packed.build());
  return made;
}

Value secret(const AppRun& run, const Texts& texts) {
  json::ObjectBuilder data;
  for (const auto& [component, text] : texts.secret) data.set(component, base64_encode(text));
  return marked_for(run, record(run, "Secret")).with("data", data.build());
}

/// Adds what `whole` holds to that which is there, and to no later state of it.
Value patch_of(const Value& whole, const Value& there) {
  json::ObjectBuilder patch;
  patch.set("metadata", json::object({{"resourceVersion", there["metadata"]["resourceVersion"]}}));
  for (const char* key : {"data", "binaryData"}) {
    if (whole.has(key)) patch.set(key, whole[key]);
  }
  return patch.build();
}

/// As what comes to more than a MiB is.
bool is_refused(Reason reason) { return reason == Reason::Invalid || reason == Reason::RequestEntityTooLarge; }

/// The application is delivered without the record.
void tell_refusal(AppRun& run, const kube::Resource& resource, const kube::ObjectKey& key, const Status& why) {
  run.tools().env.log.warn("what belongs to a revision is not kept",
                           {{"resource", resource.plural}, {"object", key.to_string()}, {"why", why.message}});
}

Task<Result<void>> create_once(AppRun& run, kube::Resource resource, Value object) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  const kube::ObjectKey key = kube::key_of(object);
  auto made = co_await client::create(*hub, resource, std::move(object), kManager);
  if (made || made.error().reason == Reason::AlreadyExists) co_return Result<void>{};
  if (!is_refused(made.error().reason)) co_return fail(std::move(made).error());
  tell_refusal(run, resource, key, made.error());
  co_return Result<void>{};
}

}  // namespace

Task<Result<bool>> add_to_record(AppRun& run, kube::Resource resource, Value whole) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  const kube::ObjectKey key = kube::key_of(whole);
  for (int tries = 1;; ++tries) {
    auto there = co_await client::get(*hub, resource, key);
    if (!there && there.error().reason != Reason::NotFound) co_return fail(std::move(there).error());
    if (there && !kube::is_owned_by(*there, kube::uid(run.application()))) {
      run.tools().env.log.warn("an object of a revision's name is another's: it is left alone",
                               {{"resource", resource.plural}, {"object", key.to_string()}});
      co_return false;
    }
    auto written = there ? co_await client::merge_patch(*hub, resource, key, patch_of(whole, *there), kManager)
                         : co_await client::create(*hub, resource, whole, kManager);
    if (written) co_return true;
    const Reason reason = written.error().reason;
    if (is_refused(reason)) {
      tell_refusal(run, resource, key, written.error());
      co_return false;
    }
    const bool was_faster = reason == Reason::Conflict || reason == Reason::AlreadyExists || reason == Reason::NotFound;
    if (!was_faster || tries == kMostTries) co_return fail(std::move(written).error());
  }
}

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
  co_await add_policies(run, texts);
  SLIPWAY_CO_TRY_VOID(co_await create_once(run, kube::kConfigMaps, config_map(run, texts)));
  // The manifests of an earlier run of the revision may stand there.
  if (!texts.secret.empty()) SLIPWAY_CO_TRY_VOID(co_await add_to_record(run, kube::kSecrets, secret(run, texts)));
  co_return Result<void>{};
}

Task<Result<void>> complete_resources(AppRun& run) {
  Texts texts;
  for (const auto& [name, component] : std::map<std::string, ComponentSpec>(run.fed())) {
    if (run.memory().completed[name] == run.revision()) continue;
    auto rendered = co_await run.render(component, {}, {}, {});
    if (!rendered) continue;
    add_objects(**rendered, texts);
  }
  if (texts.open.empty()) co_return Result<void>{};
  Value map = config_map(run, texts);
  for (const auto& [name, text] : texts.open) {  // what stood there under the other key
    if (text.size() > kMaxPlainManifest) map = map.with_path({"data", name}, Value());
  }
  SLIPWAY_CO_TRY(is_told, co_await add_to_record(run, kube::kConfigMaps, std::move(map)));
  if (is_told && !texts.secret.empty()) {
    SLIPWAY_CO_TRY(is_kept, co_await add_to_record(run, kube::kSecrets, secret(run, texts)));
    is_told = is_kept;
  }
  if (!is_told) co_return Result<void>{};
  for (const auto& [name, text] : texts.open) run.memory().completed[name] = run.revision();
  co_return Result<void>{};
}

Task<Result<void>> remove_resources(client::Client& client, kube::Object application, std::string revision) {
  const kube::ObjectKey key{std::string(kube::ns(application)), std::move(revision)};
  for (const kube::Resource& resource : {kube::kConfigMaps, kube::kSecrets}) {
    auto there = co_await client::get(client, resource, key);
    if (!there && there.error().reason == Reason::NotFound) continue;
    if (!there) co_return fail(std::move(there).error());
    if (!kube::is_owned_by(*there, kube::uid(application))) continue;
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(
        client, resource, key,
        {.propagation = "Background", .uid = std::string(kube::uid(*there)), .resource_version = "", .grace_seconds = {}}));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
