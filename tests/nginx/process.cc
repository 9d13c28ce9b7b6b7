#include "process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "base/check.h"
#include "os/files.h"

namespace slipway::nginx {

namespace {

constexpr std::string_view kFrame = R"({user}daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  variables_hash_max_size 4096;
{http}}}
)";

}  // namespace

std::optional<std::string> program() {
  for (const char* path : {"/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return std::nullopt;
}

void Process::write(const std::string& http) const {
  const std::string text = fmt::format(fmt::runtime(kFrame), fmt::arg("user", geteuid() == 0 ? "user root;\n" : ""),
                                       fmt::arg("folder", folder_.path()), fmt::arg("http", http));
  SLIPWAY_CHECK(os::MachineFiles().write(folder_ / "nginx.conf", text, 0644).has_value());
}

Process::Process(const std::string& http) {
  write(http);
  const std::string name = program().value();
  const std::string conf = folder_ / "nginx.conf";
  const std::string log = folder_ / "error.log";
  const pid_t parent = getpid();
  pid_ = fork();
  SLIPWAY_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    execl(name.c_str(), "nginx", "-e", log.c_str(), "-p", folder_.path().c_str(), "-c", conf.c_str(), nullptr);
    _exit(127);
  }
  const bool runs = os::eventually(
      [&] { return waitpid(pid_, nullptr, WNOHANG) != 0 || access((folder_ / "nginx.pid").c_str(), R_OK) == 0; });
  SLIPWAY_CHECK(runs && kill(pid_, 0) == 0, log.empty() ? "" : this->log());
}

Process::~Process() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

void Process::reload(const std::string& http) {
  write(http);
  SLIPWAY_CHECK(kill(pid_, SIGHUP) == 0);
}

bool Process::has_old_workers() const {
  const auto text_of = [](const std::string& path) { return os::MachineFiles().read(path).value_or(""); };
  std::istringstream children(text_of(fmt::format("/proc/{0}/task/{0}/children", pid_)));
  int takers = 0;
  for (std::string child; children >> child;) {
    const std::string title = text_of(fmt::format("/proc/{}/cmdline", child));
    if (!title.contains("is shutting down")) ++takers;
  }
  return takers > 1;
}

}  // namespace slipway::nginx
