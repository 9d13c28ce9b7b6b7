#include "cluster/in_place_writes.h"

#include "cluster/names.h"
#include "control/object_writes.h"

namespace slipway::cluster {

namespace {

using json::Value;

Task<Result<kube::Object>> set_gate(client::Client& client, kube::Object pod, bool is_open, Time now, std::string manager) {
  const Value status = pod["status"].with("conditions", with_gate(pod, is_open, now));
  co_return co_await control::write_status(client, kPods, pod, status, std::move(manager));
}

}  // namespace

Task<Result<void>> change_pod(client::Client& client, PodChange change, Time now, std::string manager) {
  kube::Object next = change.next;
  if (has_other_images(change.pod, next)) {
    SLIPWAY_CO_TRY(closed, co_await set_gate(client, change.pod, false, now, manager));
    next = next.with_path({"metadata", "resourceVersion"}, closed["metadata"]["resourceVersion"]);
  }
  SLIPWAY_CO_TRY_VOID(co_await client::update(client, kPods, next, std::move(manager)));
  co_return Result<void>{};
}

Task<Result<void>> settle_pod(client::Client& client, kube::Object pod, Time now, std::string manager) {
  const InPlaceEnd end = in_place_end(pod).value_or(InPlaceEnd{});
  if (end.opens_gate) {
    SLIPWAY_CO_TRY(open, co_await set_gate(client, pod, true, now, manager));
    pod = open;
  }
  if (end.is_normal) {
    SLIPWAY_CO_TRY_VOID(
        co_await patch_metadata(client, kPods, pod, "labels", std::string(kLifecycle), kNormal, std::move(manager)));
  }
  co_return Result<void>{};
}

Task<Result<kube::Object>> patch_metadata(client::Client& client, kube::Resource resource, kube::Object object, std::string map,
                                          std::string key, std::string value, std::string manager) {
  const Value& metadata = object["metadata"];
  const Value patch = json::object(
      {{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}, {map, json::object({{key, value}})}});
  co_return co_await client::merge_patch(client, resource, kube::key_of(object), json::object({{"metadata", patch}}),
                                         std::move(manager));
}

}  // namespace slipway::cluster
