// Real servers over a bare repository, on loopback: git's own http backend behind Python's CGI-less small server, with basic
// authentication and TLS when asked for; sshd without root's configuration; a port that accepts and never answers.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "git/test_repository.h"

namespace slipway::git {

/// A child process that ends with the object.
class Child {
 public:
  explicit Child(const std::vector<std::string>& argv) {
    pid_ = fork();
    SLIPWAY_CHECK(pid_ >= 0, "fork");
    if (pid_ != 0) return;
    std::vector<char*> pointers;
    for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(SIGTERM); }
  void kill_now() { end(SIGKILL); }
  bool has_ended() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }

 private:
  void end(int signal_number) {
    if (has_ended()) return;
    kill(pid_, signal_number);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid_ = 0;
};

/// A port that is free at this moment.
int free_port();
/// Waits until something listens there; aborts after 20 s.
void wait_for_port(int port);

struct HttpOptions {
  std::string user{};      // empty: no credentials are asked for
  std::string password{};  // of that user
  std::string certificate{};
  std::string key{};
};

/// `git http-backend` for the repositories of a folder.
class HttpRemote {
 public:
  HttpRemote(const TestRepository& repository, HttpOptions options = {});
  std::string url() const { return url_; }

 private:
  int port_;
  std::string url_;
  Child child_;
};

/// An sshd of this user, for one key.
class SshRemote {
 public:
  static bool is_possible();
  explicit SshRemote(const TestRepository& repository);
  std::string url() const;
  std::string key() const { return shell("cat " + folder_ / "client"); }
  /// Lines of all its host keys.
  std::string known_hosts() const;

 private:
  Child start();
  const TestRepository& repository_;
  TemporaryFolder folder_;
  int port_;
  Child child_;
};

}  // namespace slipway::git
