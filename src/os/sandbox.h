// The sandbox of a program (ProgramSandbox): namespaces of Linux for users, mounts, processes, the network and System V's
// objects; a root that is a tmpfs with a few folders of the machine bound into it, all read-only; no way to new privileges.
// Needs Linux 5.12 (mount_setattr) and user namespaces. Not bounded here: CPU, time and output (os/program_process.cc).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/programs.h"

namespace slipway::os {

/// Why a child did not become the program, as it is sent through a pipe.
struct StartFailure {
  int error = 0;  // an errno
  enum class Step : std::uint8_t { Start, Namespaces, Users, Mounts, Root } step = Step::Start;
};

/// Everything that needs memory is made by the constructor, before fork(); enter() makes system calls only.
class Sandbox {
 public:
  /// `program`: its file. `staging`: an empty folder, over which the new root is mounted. BadRequest for a folder that is none.
  static Result<Sandbox> prepare(const ProgramSandbox& wanted, const std::string& program, std::string staging);

  /// In a child of one thread that leads its session. Returns in a grandchild that is in the sandbox; the child itself waits
  /// for that one and ends with its code, or 128 + N. `report` is closed in all but the grandchild. A failure: it is good for
  /// nothing but to exit.
  StartFailure enter(int report) const;

  /// The file's path in the sandbox.
  const std::string& program() const { return program_; }

 private:
  struct Bind {
    std::string source;
    std::string target;  // below the new root
    std::string link{};  // of a symbolic link
    bool is_folder = false;
  };
  void add(const std::string& path);
  StartFailure make_root() const;
  int bind(const Bind& one) const;

  std::string root_;
  std::string program_;
  std::string folder_;
  std::vector<Bind> binds_;
  std::string tmp_;          // below the new root
  std::string tmp_options_;  // of its tmpfs
  std::string proc_;
  std::string user_map_;
  std::string group_map_;
};

/// The memory that a process and all below it have, and how many they are. Stops at `most` processes.
struct TreeUse {
  std::size_t bytes = 0;
  std::size_t processes = 0;
};
TreeUse use_of_tree(pid_t pid, std::size_t most);

}  // namespace slipway::os
