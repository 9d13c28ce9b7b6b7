#include "control/events.h"

#include "base/digest.h"
#include "kube/well_known.h"

namespace slipway::control {

namespace {

using kube::kEvents;
/// Leaves room for a dot and the hash in a name of 253 characters.
constexpr std::size_t kMaxPrefix = 240;
constexpr std::size_t kMaxMessage = 1024;  // as upstream's validation

json::Value event_about(const json::Value& object, const EventText& text, const std::string& component, Time now) {
  const std::string identity = fmt::format("{}/{}/{}", kube::uid(object), text.reason, text.instance);
  std::string prefix(kube::name(object).substr(0, kMaxPrefix));
  while (prefix.ends_with('-') || prefix.ends_with('.')) prefix.pop_back();
  const std::string stamp = to_rfc3339(now);
  const std::string ns = kube::ns(object).empty() ? "default" : std::string(kube::ns(object));
  json::Value metadata = json::object({{"name", prefix + "." + name_hash(identity)}, {"namespace", ns}});
  for (const auto& [key, value] : text.annotations) metadata = metadata.with_path({"annotations", key}, value);
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata", std::move(metadata)},
                       {"involvedObject", kube::reference_to(object)},
                       {"reason", text.reason},
                       {"message", text.message.substr(0, kMaxMessage)},
                       {"source", json::object({{"component", component}})},
                       {"firstTimestamp", stamp},
                       {"lastTimestamp", stamp},
                       {"count", 1},
                       {"type", text.type},
                       {"reportingComponent", component}});
}

/// Another count of an event that is there. Another writer's count at the same moment is as good as ours.
Task<Result<void>> count_on(client::Client& client, json::Value event, Time now) {
  const auto found = co_await client::get(client, kEvents, kube::key_of(event));
  if (!found && found.error().reason == Reason::NotFound) co_return Result<void>{};
  if (!found) co_return fail(found.error());
  const auto last = parse_rfc3339((*found)["lastTimestamp"].as_string());
  if (last && now - *last < kSeriesPause) co_return Result<void>{};
  const json::Value patch =
      json::object({{"metadata", json::object({{"resourceVersion", (*found)["metadata"]["resourceVersion"]}})},
                    {"count", (*found)["count"].as_int() + 1},
                    {"message", event["message"]},
                    {"lastTimestamp", to_rfc3339(now)}});
  const auto counted = co_await client::merge_patch(client, kEvents, kube::key_of(event), patch,
                                                    std::string(event["reportingComponent"].as_string()));
  const bool is_taken = !counted && (counted.error().reason == Reason::Conflict || counted.error().reason == Reason::NotFound);
  if (!counted && !is_taken) co_return fail(counted.error());
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> record_event(Env& env, client::Client& client, json::Value object, EventText text, std::string component) {
  const Time now = env.clock.now();
  const json::Value event = event_about(object, text, component, now);
  const auto made = co_await client::create(client, kEvents, event, component);
  if (made) co_return Result<void>{};
  if (made.error().reason != Reason::AlreadyExists) co_return fail(made.error());
  if (text.is_series) co_return co_await count_on(client, event, now);
  co_return Result<void>{};
}

}  // namespace slipway::control
