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
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata", json::object({{"name", prefix + "." + name_hash(identity)}, {"namespace", ns}})},
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

}  // namespace

Task<Result<void>> record_event(Env& env, client::Client& client, json::Value object, EventText text, std::string component) {
  auto event = event_about(object, text, component, env.clock.now());
  const auto made = co_await client::create(client, kEvents, std::move(event), component);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(made.error());
  co_return Result<void>{};
}

}  // namespace slipway::control
