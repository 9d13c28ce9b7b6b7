#include "delivery/application/holdings.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/application/tracker.h"

namespace slipway::delivery::application {

Task<Result<std::vector<Holding>>> held_in(client::Client& hub, std::string cluster) {
  auto trackers = co_await client::list(hub, kTrackers, {});
  if (!trackers && trackers.error().reason == Reason::NotFound) co_return std::vector<Holding>();
  if (!trackers) co_return fail(std::move(trackers).error());
  std::vector<Holding> found;
  for (const Value& object : (*trackers)["items"].items()) {
    for (const ManagedResource& resource : Tracker::from_object(object).resources) {
      if (resource.cluster != cluster) continue;
      const std::string place = resource.ns.empty() ? resource.name : resource.ns + "/" + resource.name;
      Holding holding{.owner = fmt::format("{}/{}", kube::label(object, kLabelNamespace), kube::label(object, kLabelName)),
                      .object = fmt::format("{} {}", resource.kind, place)};
      if (std::ranges::find(found, holding) == found.end()) found.push_back(std::move(holding));
    }
  }
  std::ranges::sort(found);
  co_return found;
}

Task<Result<void>> forget_cluster(client::Client& hub, std::string cluster) {
  auto trackers = co_await client::list(hub, kTrackers, {});
  if (!trackers && trackers.error().reason == Reason::NotFound) co_return Result<void>{};
  if (!trackers) co_return fail(std::move(trackers).error());
  for (const Value& object : (*trackers)["items"].items()) {
    json::ArrayBuilder left;
    const Value all = entries_of(object);
    for (const Value& entry : all.items()) {
      if (entry["cluster"].as_string() != cluster) left.add(entry);
    }
    Value kept = left.build();
    if (kept.size() == all.size()) continue;
    const Value wanted = object.with("spec", with_entries(object["spec"], kept))
                             .with("apiVersion", kApiVersion)  // items of a list may leave these out
                             .with("kind", kTrackerKind.kind);
    auto written = co_await client::update(hub, kTrackers, wanted, kManager);
    if (!written && written.error().reason != Reason::NotFound) co_return fail(std::move(written).error());
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
