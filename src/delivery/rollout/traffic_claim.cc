#include "delivery/rollout/traffic_claim.h"

#include <fmt/format.h>

#include "base/check.h"
#include "delivery/rollout/services.h"
#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_forms.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

std::string mark_of(const kube::Object& rollout) {
  return fmt::format("{}/{}/{}", kube::kind(rollout), kube::name(rollout), kube::uid(rollout));
}

bool is_made(const kube::Object& object) {
  return kube::label(object, kMadeLabel) == "true" || record_of(object)["created"].as_bool();
}

/// Null takes it away.
Change with_mark(const kube::Object& object, Value mark) {
  const auto kind = kube::GroupVersionKind::of(object);
  SLIPWAY_CHECK(kind.has_value());
  const kube::Object marked = with_annotation(object, kTrafficOwner, std::move(mark), true);
  return {.kind = Change::Kind::Patch,
          .object_kind = *kind,
          .name = std::string(kube::name(object)),
          .body = guarded_patch(object, marked, "")};
}

}  // namespace

std::optional<TrafficOwner> other_traffic_owner(const kube::Object& object, const kube::Object& rollout) {
  const std::string mark(kube::annotation(object, kTrafficOwner));
  const auto first = mark.find('/'), last = mark.rfind('/');
  if (first == last || mark == mark_of(rollout)) return std::nullopt;
  return TrafficOwner{mark.substr(0, first), mark.substr(first + 1, last - first - 1), mark.substr(last + 1)};
}

Result<std::vector<Change>> claim_traffic(const Objects& objects, const kube::Object& rollout) {
  std::vector<Change> changes;
  for (const auto& [key, object] : objects) {
    if (const auto other = other_traffic_owner(object, rollout)) {
      return fail(Reason::Conflict,
                  fmt::format("{} {} works on {}: wait for its end, or delete it", other->kind, other->name, key));
    }
    const bool is_marked = !kube::annotation(object, kTrafficOwner).empty();
    if (!is_marked && !is_made(object)) changes.push_back(with_mark(object, mark_of(rollout)));
  }
  return changes;
}

std::vector<Change> release_traffic(const Objects& objects, const kube::Object& rollout) {
  std::vector<Change> changes;
  for (const auto& [key, object] : objects) {
    if (kube::annotation(object, kTrafficOwner) == mark_of(rollout)) changes.push_back(with_mark(object, nullptr));
  }
  return changes;
}

}  // namespace slipway::delivery::rollout
