// Programs that are functions, for tests and the simulator: a name has a function of the call; other names are NotFound, worded
// as on a machine. Nothing is kept between calls but the calls themselves.
#pragma once

#include <functional>
#include <utility>

#include "base/programs.h"

namespace slipway {

class FunctionPrograms : public Programs {
 public:
  using Function = std::function<Result<ProgramEnd>(const ProgramCall& call)>;

  void add(std::string name, Function function) { functions_[std::move(name)] = std::move(function); }
  const std::vector<ProgramCall>& calls() const { return calls_; }

  Result<std::string> find(const std::string& name) override {
    if (functions_.contains(name)) return "/functions/" + name;
    return fail(Reason::NotFound, "exec: \"" + name + "\": executable file not found in $PATH");
  }
  Task<Result<ProgramEnd>> run(ProgramCall call) override {
    SLIPWAY_CO_TRY_VOID(find(call.name));
    calls_.push_back(call);
    co_return functions_[call.name](call);
  }

 private:
  std::map<std::string, Function> functions_;
  std::vector<ProgramCall> calls_;
};

}  // namespace slipway
