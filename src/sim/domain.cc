#include "sim/domain.h"

namespace slipway::sim {

Domain::Domain(std::string name, Outside outside)
    : name_(std::move(name)),
      clock_(queue_),
      commits_(queue_),
      compute_(queue_),
      env_{queue_.executor(), clock_,      outside.random, commits_,       compute_, outside.files,
           outside.processes, outside.vfs, outside.log,    outside.metrics} {}

void Domain::spawn(Task<> task) {
  boost::asio::co_spawn(env_.executor, std::move(task), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

void Domain::die() {
  while (env_.parking.size() > 0 || clock_.timers() > 0 || queue_.size() > 0) {
    env_.parking.drop_all();
    clock_.drop();
    queue_.drop();
  }
}

}  // namespace slipway::sim
