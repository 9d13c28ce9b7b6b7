#include "delivery/application/views.h"

#include "base/digest.h"
#include "delivery/application/definition_controller.h"
#include "delivery/application/kind.h"
#include "delivery/workflow/builtin_texts.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr std::string_view kFolder = "view/";
constexpr std::string_view kSuffix = ".cue";
constexpr const char* kTemplateKey = "template";

std::string digest_of(std::string_view text) { return sha256_hex(text).substr(0, 16); }

Value view_object(const std::string& name, std::string_view text) {
  const Value annotations = json::object({{kBuiltIn, digest_of(text)}});
  return json::object(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", json::object({{"name", name}, {"namespace", kDefinitionNamespace}, {"annotations", annotations}})},
       {"data", json::object({{kTemplateKey, text}})}});
}

Task<Result<void>> keep_view(client::Client& client, Value wanted, std::string manager) {
  auto made = co_await client::create(client, kube::kConfigMaps, wanted, manager);
  if (made) co_return Result<void>{};
  if (made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  SLIPWAY_CO_TRY(found, co_await client::get(client, kube::kConfigMaps, kube::key_of(wanted)));
  const std::string_view written = kube::annotation(found, kBuiltIn);
  if (written.empty() || written != digest_of(found["data"][kTemplateKey].as_string())) co_return Result<void>{};
  if (written == kube::annotation(wanted, kBuiltIn)) co_return Result<void>{};
  const Value newer =
      found.with("data", wanted["data"]).with_path({"metadata", "annotations", kBuiltIn}, kube::annotation(wanted, kBuiltIn));
  SLIPWAY_CO_TRY_VOID(co_await client::update(client, kube::kConfigMaps, newer, manager));
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> keep_views(client::Client& client, std::string manager) {
  for (const workflow::BuiltinText& one : workflow::builtin_texts()) {
    if (!one.path.starts_with(kFolder)) continue;
    const std::string name(one.path.substr(kFolder.size(), one.path.size() - kFolder.size() - kSuffix.size()));
    SLIPWAY_CO_TRY_VOID(co_await keep_view(client, view_object(name, one.text), manager));
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
