#include "cluster/event_expiry.h"

#include "cluster/names.h"
#include "control/events.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

/// How late an event may go.
constexpr Duration kSweepEvery = std::chrono::minutes{5};

}  // namespace

Time last_written(const kube::Object& event) {
  Time last{};
  for (const json::Value* text : {&event["metadata"]["creationTimestamp"], &event["lastTimestamp"], &event["eventTime"],
                                  &event["series"]["lastObservedTime"]}) {
    if (const auto time = parse_rfc3339(text->as_string())) last = std::max(last, *time);
  }
  return last;
}

void EventExpiry::watch(control::Watches& watches) {
  events_ = &watches.changes(kEvents, [this](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::ObjectKey> keys;
    static_cast<void>(wall_.now());  // a step is noticed close to where it happened
    // The first event begins the sweeps; each sweep arranges for the next.
    if (before.is_null() && !after.is_null() && events_->size() == 1) keys.push_back({});
    return keys;
  });
}

Task<Outcome> EventExpiry::reconcile(control::Reconcile& run) {
  std::vector<kube::Object> expired;
  const Now now = wall_.now();
  for (const auto& [key, event] : events_->objects()) {
    if (now.time() - now.present(last_written(event)) >= control::kEventTimeToLive) expired.push_back(event);
  }
  const bool has_others = events_->size() > expired.size();
  for (const kube::Object& event : expired) {
    client::DeleteQuery query;
    query.uid = std::string(kube::uid(event));
    query.resource_version = event["metadata"]["resourceVersion"].str();
    const auto removed = co_await client::remove(run.client, kEvents, kube::key_of(event), query);
    // A Conflict is a series that goes on.
    const bool is_fine = removed || removed.error().reason == Reason::NotFound || removed.error().reason == Reason::Conflict;
    if (!is_fine) co_return Outcome::failed(removed.error());
  }
  co_return has_others ? Outcome::retries_after(kSweepEvery) : Outcome::settled();
}

}  // namespace slipway::cluster
