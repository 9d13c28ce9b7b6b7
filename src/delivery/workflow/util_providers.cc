// vela/util.
#include "base/digest.h"
#include "delivery/workflow/provider.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

Task<Answer> log(ProviderCall call) {
  const Value& data = call.params["data"];
  if (!data.is_null()) {
    const std::string text = data.is_string() ? data.str() : json::print(data);
    const std::string of = kube::key_of(call.setting.owner).to_string();
    const std::string step = call.step == nullptr ? "" : call.step->name;
    call.setting.env.log.info(text, {{"workflow", of}, {"step", step}});
  }
  if (const Value& source = call.params["source"]; call.store != nullptr && !source.is_null()) {
    call.store->notes["logConfig." + (call.step == nullptr ? "" : call.step->name)] = json::print(source);
    call.store->has_changed = true;
  }
  co_return Answer::done();
}

Task<Answer> patch_object(ProviderCall call) {
  if (!call.patched) co_return Answer::error("only steps of a workflow can do this");
  auto result = co_await call.patched(call.params["value"]);
  if (!result) co_return Answer::error(result.error().message);
  co_return Answer::done(json::object({{"result", std::move(*result)}}));
}

Task<Answer> convert_string(ProviderCall call) {
  // Bytes travel as base64 in JSON.
  std::string text;
  if (!base64_decode(call.params["bt"].as_string(), text)) co_return Answer::error("bt: must be bytes");
  co_return Answer::done(json::object({{"str", text}}));
}

}  // namespace

std::vector<Provider> util_providers() {
  return {
      {.package = "util", .function = "log", .params = {"data", "level", "source"}, .run = log},
      {.package = "util", .function = "patch-k8s-object", .params = {"value", "patch"}, .run = patch_object, .patches = true},
      {.package = "util", .function = "string", .params = {"bt"}, .run = convert_string},
  };
}

}  // namespace slipway::delivery::workflow
