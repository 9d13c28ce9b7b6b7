#include "delivery/application/secret_manifests.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "delivery/application/resources.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

std::string key_of(const ObjectId& id) {
  const std::string text = fmt::format("{}/{}/{}/{}/{}", id.cluster, id.group, id.kind, id.ns, id.name);
  return "manifest." + sha256_hex(text).substr(0, 16);
}

kube::ObjectKey secret_of(const AppRun& run) { return {std::string(kube::ns(run.application())), run.revision()}; }

Value new_secret(const AppRun& run, const Value& data) {
  const kube::ObjectKey key = secret_of(run);
  return json::object(
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"metadata", json::object({{"name", key.name},
                                  {"namespace", key.ns},
                                  {"ownerReferences", json::array({kube::owner_reference(run.application())})}})},
       {"data", data}});
}

}  // namespace

bool is_secret(const Manifest& manifest) { return manifest.is_secret || manifest.id().kind == "Secret"; }

Task<Result<void>> keep_secret_manifests(AppRun& run, std::vector<Manifest> manifests) {
  const KeepPolicies& policies = run.parsed().keep;
  if (policies.is_apply_once && policies.apply_once.empty()) co_return Result<void>{};  // nothing is brought back
  std::map<ObjectId, std::string> kept;
  json::ObjectBuilder data;
  for (const Manifest& manifest : manifests) {
    if (!is_secret(manifest)) continue;
    const std::string text = json::print(manifest.object);
    std::string digest = sha256_hex(run.revision() + text);
    const auto known = run.memory().kept_secrets.find(manifest.id());
    if (known != run.memory().kept_secrets.end() && known->second == digest) continue;
    data.set(key_of(manifest.id()), base64_encode(text));
    kept[manifest.id()] = std::move(digest);
  }
  if (kept.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY(is_written, co_await add_to_record(run, kube::kSecrets, new_secret(run, data.build())));
  if (!is_written) co_return Result<void>{};
  for (auto& [id, digest] : kept) run.memory().kept_secrets[id] = std::move(digest);
  co_return Result<void>{};
}

Task<Result<std::map<ObjectId, Value>>> secret_manifests(AppRun& run, std::vector<ManagedResource> of) {
  std::map<ObjectId, Value> found;
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  auto secret = co_await client::get(*hub, kube::kSecrets, secret_of(run));
  if (!secret && secret.error().reason != Reason::NotFound) co_return fail(std::move(secret).error());
  if (!secret || !kube::is_owned_by(*secret, kube::uid(run.application()))) co_return found;
  for (const ManagedResource& resource : of) {
    std::string text;
    if (!base64_decode((*secret)["data"][key_of(resource.id())].as_string(), text)) continue;
    if (auto manifest = json::parse(text)) found[resource.id()] = std::move(*manifest);
  }
  co_return found;
}

}  // namespace slipway::delivery::application
