#include "delivery/application/secret_manifests.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/resources.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

/// Beside the manifests, for those who may read them: without it nothing can be guessed from digests.
constexpr const char* kSalt = "manifest.salt";

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

std::string digest_of(const std::string& revision, const std::string& salt, const std::string& text) {
  return sha256_hex(fmt::format("{}\n{}\n{}", revision, salt, text));
}

std::string salt_in(const Value& secret) {
  std::string salt;
  return base64_decode(secret["data"][kSalt].as_string(), salt) ? salt : "";
}

/// What stands in the revision's Secret, or will.
Task<Result<std::string>> salt_of(AppRun& run) {
  KeptSecrets& kept = run.memory().kept_secrets;
  if (kept.revision == run.revision()) co_return kept.salt;
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  auto there = co_await client::get(*hub, kube::kSecrets, secret_of(run));
  if (!there && there.error().reason != Reason::NotFound) co_return fail(std::move(there).error());
  if (kept.revision == run.revision()) co_return kept.salt;  // another step was faster
  const bool is_own = there && kube::is_owned_by(*there, kube::uid(run.application()));
  std::string salt = is_own ? salt_in(*there) : "";
  if (salt.empty()) salt = uuid(run.tools().env.random);
  kept = {.revision = run.revision(), .salt = salt, .digests = {}};
  co_return salt;
}

}  // namespace

bool is_secret(const Manifest& manifest) { return manifest.is_secret || manifest.id().kind == "Secret"; }

Task<Result<void>> keep_secret_manifests(AppRun& run, std::vector<Manifest> manifests) {
  const KeepPolicies& policies = run.parsed().keep;
  if (policies.is_apply_once && policies.apply_once.empty()) co_return Result<void>{};  // nothing is brought back
  if (std::ranges::none_of(manifests, is_secret)) co_return Result<void>{};
  SLIPWAY_CO_TRY(salt, co_await salt_of(run));
  std::map<ObjectId, std::string>& digests = run.memory().kept_secrets.digests;
  std::map<ObjectId, std::string> kept;
  json::ObjectBuilder data;
  for (const Manifest& manifest : manifests) {
    if (!is_secret(manifest)) continue;
    const std::string text = json::print(manifest.object);
    std::string digest = digest_of(run.revision(), salt, text);
    const auto known = digests.find(manifest.id());
    if (known != digests.end() && known->second == digest) continue;
    data.set(key_of(manifest.id()), base64_encode(text));
    kept[manifest.id()] = std::move(digest);
  }
  if (kept.empty()) co_return Result<void>{};
  for (const auto& [id, digest] : kept) digests.erase(id);
  data.set(kSalt, base64_encode(salt));
  SLIPWAY_CO_TRY(is_written, co_await add_to_record(run, kube::kSecrets, new_secret(run, data.build())));
  if (!is_written) co_return Result<void>{};
  for (auto& [id, digest] : kept) digests[id] = std::move(digest);
  co_return Result<void>{};
}

Task<Result<std::map<ObjectId, Value>>> secret_manifests(AppRun& run, std::vector<ManagedResource> of, std::string revision) {
  std::map<ObjectId, Value> found;
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  const kube::ObjectKey key{std::string(kube::ns(run.application())), revision};
  auto secret = co_await client::get(*hub, kube::kSecrets, key);
  if (!secret && secret.error().reason != Reason::NotFound) co_return fail(std::move(secret).error());
  if (!secret || !kube::is_owned_by(*secret, kube::uid(run.application()))) co_return found;
  const std::string salt = salt_in(*secret);
  for (const ManagedResource& resource : of) {
    std::string text;
    if (!base64_decode((*secret)["data"][key_of(resource.id())].as_string(), text)) continue;
    // Whoever may write the Secret does not say what is applied as the application's identity.
    if (resource.digest.empty() || resource.digest != digest_of(revision, salt, text)) continue;
    auto object = json::parse(text);
    if (!object) continue;
    Manifest manifest;
    manifest.object = std::move(*object);
    manifest.cluster = resource.cluster;
    if (manifest.id() == resource.id()) found[resource.id()] = std::move(manifest.object);
  }
  co_return found;
}

}  // namespace slipway::delivery::application
