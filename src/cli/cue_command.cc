#include "cli/cue_command.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/time.h"
#include "cli/standard_input.h"
#include "cue/load/arguments.h"
#include "cue/load/command.h"
#include "os/real_env.h"

namespace slipway::cli {

namespace {

std::map<std::string, std::string> variables(const Env& env, const std::string& cwd) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const passwd* user = getpwuid(getuid());
  return {{"now", to_rfc3339_micro(env.clock.now())},         {"os", "linux"},    {"cwd", cwd},
          {"username", user == nullptr ? "" : user->pw_name}, {"hostname", host}, {"rand", fmt::to_string(env.random.next())}};
}

}  // namespace

int cue_command(const std::vector<std::string>& arguments) {
  bool asks_help = arguments.empty() || std::find(arguments.begin(), arguments.end(), "--help") != arguments.end() ||
                   std::find(arguments.begin(), arguments.end(), "-h") != arguments.end();
  if (asks_help) {
    auto verb = std::ranges::find_if(arguments, [](const std::string& one) { return !one.starts_with('-'); });
    fmt::print("{}", cue::load::usage(verb == arguments.end() ? "" : *verb));
    return arguments.empty() ? 1 : 0;
  }
  char here[4096];
  cue::load::Invocation invocation;
  invocation.arguments = arguments;
  invocation.cwd = getcwd(here, sizeof here) != nullptr ? here : "/";
  bool reads_input = std::find(arguments.begin(), arguments.end(), "-") != arguments.end() ||
                     std::find(arguments.begin(), arguments.end(), "/dev/stdin") != arguments.end();
  if (reads_input) invocation.input = standard_input();
  os::RealEnv real;
  bool wants_variables = std::any_of(arguments.begin(), arguments.end(), [](const std::string& one) {
    return one == "--inject-vars" || (one.starts_with('-') && !one.starts_with("--") && one.find('T') != std::string::npos);
  });
  if (wants_variables) invocation.variables = variables(real.env(), invocation.cwd);
  cue::load::Outcome outcome = cue::load::run_command(real.env().files, invocation);
  std::fwrite(outcome.output.data(), 1, outcome.output.size(), stdout);
  std::fwrite(outcome.errors.data(), 1, outcome.errors.size(), stderr);
  return outcome.code;
}

}  // namespace slipway::cli
