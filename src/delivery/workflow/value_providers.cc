// vela/util.
#include "base/digest.h"
#include "delivery/workflow/provider.h"
#include "delivery/workflow/time_layout.h"
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

Task<Answer> unify(ProviderCall call) {
  if (!call.patched) co_return Answer::error("only steps of a workflow can do this");
  auto result = co_await call.patched(call.params["value"]);
  co_return result ? Answer::done(std::move(*result)) : Answer::error(result.error().message);
}

Task<Answer> encode(ProviderCall call) { co_return Answer::done(base64_encode(call.params.as_string())); }

Task<Answer> decode(ProviderCall call) {
  std::string text;
  if (!base64_decode(call.params.as_string(), text)) co_return Answer::error("illegal base64 data");
  co_return Answer::done(text);
}

Task<Answer> to_timestamp(ProviderCall call) {
  auto time = parse_with_layout(call.params["date"].as_string(), call.params["layout"].as_string());
  if (!time) co_return Answer::error(time.error().message);
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  co_return Answer::done(json::object({{"timestamp", seconds}}));
}

Task<Answer> to_date(ProviderCall call) {
  const Time time{seconds_saturating(call.params["timestamp"].as_int())};
  co_return Answer::done(json::object({{"date", format_with_layout(time, call.params["layout"].as_string())}}));
}

}  // namespace

std::vector<Provider> util_providers() {
  return {
      {.package = "util", .function = "log", .params = {"data", "level", "source"}, .run = log},
      {.package = "util", .function = "patch-k8s-object", .params = {"value", "patch"}, .run = patch_object, .patches = true},
      {.package = "util", .function = "string", .params = {"bt"}, .run = convert_string},
      {.package = "base64", .function = "encode", .params = {}, .run = encode, .flat_function = "-"},
      {.package = "base64", .function = "decode", .params = {}, .run = decode, .flat_function = "-"},
      {.package = "cue", .function = "strategyUnify", .params = {}, .run = unify, .flat_function = "-", .patches = true},
      {.package = "time", .function = "timestamp", .params = {"date", "layout"}, .run = to_timestamp},
      {.package = "time", .function = "date", .params = {"timestamp", "layout"}, .run = to_date},
  };
}

}  // namespace slipway::delivery::workflow
