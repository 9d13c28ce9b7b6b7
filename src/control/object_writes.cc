#include "control/object_writes.h"

namespace slipway::control {

namespace {

/// A merge patch of the finalizers, for exactly this version of this object.
json::Value finalizers_patch(const kube::Object& object, const json::Value& finalizers) {
  const json::Value metadata = json::object({{"uid", object["metadata"]["uid"]},
                                             {"resourceVersion", object["metadata"]["resourceVersion"]},
                                             {"finalizers", finalizers}});
  return json::object({{"metadata", metadata}});
}

}  // namespace

Task<Result<kube::Object>> add_finalizer(client::Client& client, kube::Resource resource, kube::Object object,
                                         std::string finalizer, std::string manager) {
  if (kube::has_finalizer(object, finalizer)) co_return object;
  const json::Value wanted = kube::with_finalizer(object, finalizer)["metadata"]["finalizers"];
  co_return co_await client::merge_patch(client, std::move(resource), kube::key_of(object), finalizers_patch(object, wanted),
                                         std::move(manager));
}

Task<Result<void>> remove_finalizer(client::Client& client, kube::Resource resource, kube::Object object,
                                    std::string_view finalizer, std::string manager) {
  if (!kube::has_finalizer(object, finalizer)) co_return Result<void>{};
  const json::Value rest = kube::without_finalizer(object, finalizer)["metadata"]["finalizers"];
  const json::Value patch = finalizers_patch(object, rest.empty() ? json::Value() : rest);
  const auto patched =
      co_await client::merge_patch(client, std::move(resource), kube::key_of(object), patch, std::move(manager));
  if (!patched && patched.error().reason != Reason::NotFound) co_return fail(patched.error());
  co_return Result<void>{};
}

Task<Result<Finalized>> finalize(client::Client& client, kube::Resource resource, kube::Object object, std::string finalizer,
                                 std::string manager, CleanUp clean_up) {
  if (!kube::is_deleting(object)) {
    SLIPWAY_CO_TRY(live, co_await add_finalizer(client, std::move(resource), object, std::move(finalizer), std::move(manager)));
    co_return Finalized{Finalized::Stage::Live, std::move(live)};
  }
  if (!kube::has_finalizer(object, finalizer)) co_return Finalized{Finalized::Stage::Gone, object};
  SLIPWAY_CO_TRY(is_clean, co_await clean_up());
  if (!is_clean) co_return Finalized{Finalized::Stage::Going, object};
  SLIPWAY_CO_TRY_VOID(co_await remove_finalizer(client, std::move(resource), object, finalizer, std::move(manager)));
  co_return Finalized{Finalized::Stage::Gone, object};
}

json::Value observed_status(const kube::Object& object, const json::Value& status,
                            const std::vector<kube::Condition>& conditions, Time now) {
  const json::Value generation = object["metadata"]["generation"];
  json::Value all = object["status"]["conditions"];
  for (const kube::Condition& condition : conditions) {
    all = kube::set_condition(all, condition, now);
    json::ArrayBuilder marked;
    for (const json::Value& item : all.items()) {
      marked.add(item["type"].as_string() == condition.type ? item.with("observedGeneration", generation) : item);
    }
    all = marked.build();
  }
  json::Value observed = status.is_null() ? json::Value::empty_object() : status;
  observed = observed.with("observedGeneration", generation);
  return all.is_null() ? observed : observed.with("conditions", all);
}

Task<Result<kube::Object>> write_status(client::Client& client, kube::Resource resource, kube::Object object,
                                        json::Value status, std::string manager) {
  if (object["status"] == status) co_return object;
  co_return co_await client::update_status(client, std::move(resource), object.with("status", std::move(status)),
                                           std::move(manager));
}

}  // namespace slipway::control
