#include "delivery/jobflow/writes.h"

namespace slipway::delivery::jobflow {
namespace {

struct Shared {
  std::size_t next = 0;
  std::size_t count = 0;
  std::function<Task<Result<void>>(std::size_t)> write;
  Result<void> first_failure{};
};

Task<> work(std::shared_ptr<Shared> shared) {
  while (shared->next < shared->count && shared->first_failure) {
    auto done = co_await shared->write(shared->next++);
    if (!done && shared->first_failure) shared->first_failure = std::move(done);
  }
}

}  // namespace

bool is_final(const Status& status) {
  switch (status.reason) {
    case Reason::Invalid:
    case Reason::BadRequest:
    case Reason::RequestEntityTooLarge:
    case Reason::NotImplemented:
    case Reason::UnsupportedMediaType:
      return true;
    case Reason::Forbidden:
      return std::ranges::none_of(status.causes, [](const Cause& cause) { return cause.reason == "NamespaceTerminating"; });
    case Reason::Unauthorized:
    case Reason::NotFound:
    case Reason::MethodNotAllowed:
    case Reason::NotAcceptable:
    case Reason::AlreadyExists:
    case Reason::Conflict:
    case Reason::Gone:
    case Reason::Expired:
    case Reason::TooManyRequests:
    case Reason::InternalError:
    case Reason::ServerTimeout:
    case Reason::StorageReadError:
    case Reason::ServiceUnavailable:
    case Reason::Timeout:
      return false;
  }
  return false;
}

Task<Result<void>> write_all(Env& env, std::size_t count, std::size_t limit,
                             std::function<Task<Result<void>>(std::size_t)> write) {
  auto shared = std::make_shared<Shared>();
  shared->count = count;
  shared->write = std::move(write);
  if (count == 1) {
    co_await work(shared);
  } else if (count > 1) {
    Tasks tasks(env);
    for (std::size_t i = 0; i < std::min(count, limit); ++i) tasks.spawn(work(shared));
    co_await tasks.join();
  }
  co_return shared->first_failure;
}

}  // namespace slipway::delivery::jobflow
