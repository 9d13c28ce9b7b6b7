#include "controller_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/check.h"
#include "bench.h"

namespace slipway::bench {
namespace {

std::string label_in(const std::string& line, const std::string& name) {
  const std::string mark = name + "=\"";
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  return line.substr(at + mark.size(), line.find('"', at + mark.size()) - at - mark.size());
}

Requests requests_in(const std::string& metrics) {
  Requests found;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("apiserver_request_total{")) continue;
    const double count = std::strtod(line.c_str() + line.rfind(' '), nullptr);
    const std::string verb = label_in(line, "verb");
    const std::string resource = label_in(line, "resource");
    if (resource.empty() || resource == "leases") continue;
    const bool is_dry_run = !label_in(line, "dry_run").empty();
    found.all += count;
    const std::set<std::string> kWriting = {"CREATE", "UPDATE", "PATCH", "DELETE"};
    if (kWriting.contains(verb) && !is_dry_run) found.writes += count;
    found.by_kind[fmt::format("{} {} {}{}", verb, resource, label_in(line, "subresource"), is_dry_run ? " (dry run)" : "")] +=
        count;
  }
  return found;
}

}  // namespace

ControllerProcess::ControllerProcess(const std::string& binary, const std::string& folder, std::vector<std::string> args)
    : pid_(fork()) {
  if (pid_ != 0) return;
  const std::string kubeconfig = folder + "/kubeconfig";
  const int log = open((folder + ".controller.log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(log, 1);
  dup2(log, 2);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  args.insert(args.begin(), binary);
  args.insert(args.end(), {"--kubeconfig", kubeconfig});
  std::vector<char*> argv;
  for (std::string& one : args) argv.push_back(one.data());
  argv.push_back(nullptr);
  execv(binary.c_str(), argv.data());
  _exit(127);
}

ControllerProcess::~ControllerProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGINT);
  waitpid(pid_, nullptr, 0);
}

Task<> ControllerProcess::stop(Env& env) {
  ::kill(pid_, SIGINT);
  while (waitpid(pid_, nullptr, WNOHANG) == 0) co_await sleep_for(env, std::chrono::milliseconds{20});
  pid_ = 0;
}

double ControllerProcess::cpu_ms() const { return process_cpu_ms(pid_); }

Task<std::string> text_of(up::User& user, std::string path) {
  const auto answer = co_await user.client().send(user.get(path));
  SLIPWAY_CHECK(answer.has_value(), answer.error().message);
  SLIPWAY_CHECK(answer->status == 200, fmt::format("{}: {}", path, answer->body));
  co_return answer->body;
}

Task<Requests> requests_so_far(up::User& user) { co_return requests_in(co_await text_of(user, "/metrics")); }

std::string load_note() {
  std::ifstream in("/proc/loadavg");
  std::string one, five;
  in >> one >> five;
  return fmt::format("load of the machine {} now, {} over five minutes, {} cores", one, five, sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace slipway::bench
