#include "delivery/application/debug_values.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

/// A ConfigMap holds a mebibyte.
constexpr std::size_t kMaxBytes = 512 * 1024;

Value config_map(const kube::Object& owner, const std::string& step_id, const Value& value) {
  const std::string uid(kube::uid(owner));
  const std::string name =
      fmt::format("{}-{}-debug-{}", kube::name(owner), step_id, uid.substr(uid.size() < 5 ? 0 : uid.size() - 5));
  std::string text = json::print(value);
  if (text.size() > kMaxBytes) text = json::print(Value(fmt::format("{} bytes: too large to be kept", text.size())));
  return json::object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::object({{"name", name},
                                                  {"namespace", Value(kube::ns(owner))},
                                                  {"ownerReferences", json::array({kube::owner_reference(owner)})}})},
                       {"data", json::object({{"debug", text}})}});
}

Task<Result<void>> keep(client::Client& client, Value wanted, std::string manager) {
  auto made = co_await client::create(client, kube::kConfigMaps, wanted, manager);
  if (made) co_return Result<void>{};
  if (made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  SLIPWAY_CO_TRY(there, co_await client::get(client, kube::kConfigMaps, kube::key_of(wanted)));
  if (there["metadata"]["ownerReferences"] != wanted["metadata"]["ownerReferences"]) co_return Result<void>{};
  if (there["data"] == wanted["data"]) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(co_await client::update(client, kube::kConfigMaps, there.with("data", wanted["data"]), manager));
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> keep_debug_values(client::Client& client, kube::Object owner, std::map<std::string, Value> values,
                                     std::string manager) {
  for (const auto& [step_id, value] : values) {
    SLIPWAY_CO_TRY_VOID(co_await keep(client, config_map(owner, step_id, value), manager));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
