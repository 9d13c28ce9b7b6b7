// An nginx of one's own: its configuration, pid and logs lie in a folder that goes with the object, and the process ends with
// it (also when this program is killed: the kernel then ends the master, which ends its worker).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "os/test_folder.h"

namespace slipway::nginx {

/// Where the program is; nullopt when it is not installed.
std::optional<std::string> program();

class Process {
 public:
  /// `http` is the content of the http block. Ends this program when nginx does not take it.
  explicit Process(const std::string& http);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Takes a new configuration without dropping a request; until then the old one serves.
  void reload(const std::string& http);
  /// Whether workers of an older configuration may still take requests: more than one takes them.
  bool has_old_workers() const;
  /// What it wrote to its error log.
  std::string log() const { return folder_.text("error.log"); }

 private:
  void write(const std::string& http) const;

  os::TestFolder folder_;
  pid_t pid_ = 0;
};

}  // namespace slipway::nginx
