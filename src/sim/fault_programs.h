// The controllers' way to programs: each run has its two points (fault.h). The Programs behind it are functions, so that
// virtual time stands still meanwhile.
#pragma once

#include <memory>

#include "base/programs.h"
#include "sim/machine.h"

namespace slipway::sim {

class FaultPrograms : public Programs {
 public:
  FaultPrograms(std::unique_ptr<Programs> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}

  Result<std::string> find(const std::string& name) override { return inner_->find(name); }
  Task<Result<ProgramEnd>> run(ProgramCall call) override {
    const std::string what = "PROGRAM " + call.name;
    if (!gate_.pass(Moment::BeforeSend, what, false))
      co_return fail(Reason::ServiceUnavailable, "program: injected: not started");
    Result<ProgramEnd> end = co_await inner_->run(std::move(call));
    if (!gate_.pass(Moment::AfterEffect, what, false)) co_return fail(Reason::Timeout, "program: injected: no end");
    co_return end;
  }

 private:
  std::unique_ptr<Programs> inner_;
  Gate& gate_;
};

}  // namespace slipway::sim
