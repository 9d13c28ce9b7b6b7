#include "servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

// libgit2 1.5.1 keeps what it reads of known hosts for each ssh connection (some 100 bytes). Leaks of our own handles on
// libgit2 show in git_test, which suppresses nothing.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libssh2.so\nleak:libgit2.so\n"; }

namespace slipway::git {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string account() { return shell("id -un"); }

}  // namespace

int free_port() {
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  SLIPWAY_CHECK(bind(one, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  getsockname(one, reinterpret_cast<sockaddr*>(&address), &size);
  close(one);
  return ntohs(address.sin_port);
}

void wait_for_port(int port) {
  for (int tries = 0; tries < 2000; ++tries) {
    const int one = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(port);
    const bool is_open = connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(one);
    if (is_open) return;
    poll(nullptr, 0, 10);
  }
  SLIPWAY_CHECK(false, "no server listens");
}

HttpRemote::HttpRemote(const TestRepository& repository, HttpOptions options)
    : port_(free_port()),
      url_((options.certificate.empty() ? "http://127.0.0.1:" : "https://127.0.0.1:") + std::to_string(port_) + "/remote.git"),
      child_({"/usr/bin/python3", SLIPWAY_SOURCE_DIR "/tests/remotes/http_backend.py", std::to_string(port_),
              repository.folder().path(), options.user, options.password, options.certificate, options.key}) {
  wait_for_port(port_);
}

bool SshRemote::is_possible() { return access("/usr/sbin/sshd", X_OK) == 0 && access("/usr/bin/ssh-keygen", X_OK) == 0; }

SshRemote::SshRemote(const TestRepository& repository) : repository_(repository), port_(free_port()), child_(start()) {
  wait_for_port(port_);
}

Child SshRemote::start() {
  const std::string folder = folder_.path();
  for (const char* name : {"host_ed25519", "host_ecdsa", "client"}) {
    const std::string type = std::string(name) == "host_ecdsa" ? "ecdsa" : "ed25519";
    shell("ssh-keygen -q -t " + type + " -N '' -f " + folder + "/" + name);
  }
  if (geteuid() == 0) shell("mkdir -p -m 0755 /run/sshd");  // sshd as root insists on its folder
  shell("cp " + folder + "/client.pub " + folder + "/keys && chmod 600 " + folder + "/keys");
  std::ofstream(folder + "/config")
      << "ListenAddress 127.0.0.1\nPort " << port_ << "\nHostKey " << folder << "/host_ed25519\nHostKey " << folder
      << "/host_ecdsa\nAuthorizedKeysFile " << folder
      << "/keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n";
  return Child({"/usr/sbin/sshd", "-D", "-e", "-f", folder + "/config", "-E", folder + "/log"});
}

std::string SshRemote::url() const { return "ssh://" + account() + "@127.0.0.1:" + std::to_string(port_) + repository_.path(); }

std::string SshRemote::known_hosts() const {
  std::string lines;
  for (const char* name : {"host_ed25519.pub", "host_ecdsa.pub"}) {
    lines += "[127.0.0.1]:" + std::to_string(port_) + " " + shell("cat " + folder_ / name) + "\n";
  }
  return lines;
}

}  // namespace slipway::git
