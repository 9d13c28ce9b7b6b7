#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

/// Gone is as good as done.
Result<void> unless_not_found(const Result<json::Value>& reply) {
  if (reply || reply.error().reason == Reason::NotFound) return {};
  return fail(reply.error());
}

}  // namespace

void Writes::add(Task<Result<void>> write) { tasks_.spawn(run(std::move(write))); }

Task<Result<void>> Writes::join() {
  co_await tasks_.join();
  co_return std::exchange(first_, {});
}

Task<> Writes::run(Task<Result<void>> write) {
  auto done = co_await std::move(write);
  if (!done && first_) first_ = std::move(done);
}

Task<Result<void>> remove_finalizer(client::Client& client, kube::Resource resource, kube::Object object,
                                    std::string_view finalizer, std::string manager) {
  if (!kube::has_finalizer(object, finalizer)) co_return Result<void>{};
  json::ArrayBuilder rest;
  for (const json::Value& item : object["metadata"]["finalizers"].items()) {
    if (item.as_string() != finalizer) rest.add(item);
  }
  const json::Value metadata = json::object({{"uid", object["metadata"]["uid"]},
                                             {"resourceVersion", object["metadata"]["resourceVersion"]},
                                             {"finalizers", rest.empty() ? json::Value() : rest.build()}});
  co_return unless_not_found(co_await client::merge_patch(client, resource, kube::key_of(object),
                                                          json::object({{"metadata", metadata}}), std::move(manager)));
}

Task<Result<void>> remove_exactly(client::Client& client, kube::Resource resource, kube::Object object,
                                  std::string propagation) {
  client::DeleteQuery query;
  query.propagation = std::move(propagation);
  query.uid = std::string(kube::uid(object));
  co_return co_await client::remove_exactly(client, resource, kube::key_of(object), query);
}

}  // namespace slipway::cluster
