#include "cluster/writes.h"

#include <algorithm>

namespace slipway::cluster {

namespace {

Task<Result<void>> create_one(client::Client& client, kube::Resource resource, kube::Object object, std::string manager) {
  SLIPWAY_CO_TRY_VOID(co_await client::create(client, std::move(resource), std::move(object), std::move(manager)));
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> create_slowly(Env& env, client::Client& client, kube::Resource resource, std::vector<kube::Object> objects,
                                 std::string manager) {
  std::size_t next = 0;
  for (std::size_t batch = 1; next < objects.size(); batch *= 2) {
    Writes writes(env);
    for (const std::size_t end = std::min(next + batch, objects.size()); next < end; ++next) {
      writes.add(create_one(client, resource, std::move(objects[next]), manager));
    }
    SLIPWAY_CO_TRY_VOID(co_await writes.join());
  }
  co_return Result<void>{};
}

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
