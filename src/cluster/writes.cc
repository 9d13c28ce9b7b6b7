#include "cluster/writes.h"

namespace slipway::cluster {

void Writes::add(Task<Result<void>> write) { tasks_.spawn(run(std::move(write))); }

Task<Result<void>> Writes::join() {
  co_await tasks_.join();
  co_return std::exchange(first_, {});
}

Task<> Writes::run(Task<Result<void>> write) {
  auto done = co_await std::move(write);
  if (!done && first_) first_ = std::move(done);
}

Task<Result<void>> remove_exactly(client::Client& client, kube::Resource resource, kube::Object object,
                                  std::string propagation) {
  client::DeleteQuery query;
  query.propagation = std::move(propagation);
  query.uid = std::string(kube::uid(object));
  co_return co_await client::remove_exactly(client, resource, kube::key_of(object), query);
}

}  // namespace slipway::cluster
