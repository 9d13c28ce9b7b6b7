#include "os/programs.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "os/program.h"
#include "os/program_process.h"

namespace slipway::os {

MachinePrograms::MachinePrograms(Env& env, Executor executor, Duration max_time, std::size_t threads)
    : env_(env), max_time_(max_time), stopping_(eventfd(0, EFD_CLOEXEC)), pool_(std::move(executor), threads) {
  SLIPWAY_CHECK(static_cast<bool>(stopping_), "the system gives no eventfd");
}

Result<std::string> MachinePrograms::find(const std::string& name) {
  const char* path = getenv("PATH");
  auto found = find_program(name, {std::string("PATH=") + (path != nullptr ? path : "")});
  if (!found) return fail(Reason::NotFound, found.error());
  return *std::move(found);
}

Task<Result<ProgramEnd>> MachinePrograms::run(ProgramCall call) {
  struct Job {
    ProgramCall call;
    int stopping;
    Result<ProgramEnd> end = fail(Reason::InternalError, "program: not run");
  };
  call.timeout = std::min(call.timeout, max_time_);
  // Shared: the frame may be destroyed while the program runs.
  auto job = std::make_shared<Job>(std::move(call), stopping_.get());
  const std::string tenant = job->call.tenant;
  TenantLane turn(pool_, tenant);
  co_await run_on(env_, turn, [job] { job->end = run_program(job->call, job->stopping); });
  co_return std::move(job->end);
}

void MachinePrograms::stop() {
  const std::uint64_t one = 1;
  SLIPWAY_CHECK(write(stopping_.get(), &one, sizeof one) == sizeof one);
  pool_.stop();
}

}  // namespace slipway::os
