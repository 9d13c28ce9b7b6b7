// For tests of this room: a folder of one's own that goes with the object, and waiting with a deadline instead of sleeping.
#pragma once

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "base/check.h"
#include "os/files.h"

namespace slipway::os {

class TestFolder {
 public:
  TestFolder() {
    char name[] = "/tmp/slipway-os-XXXXXX";
    const char* made = mkdtemp(name);
    SLIPWAY_CHECK(made != nullptr);
    path_ = made;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { SLIPWAY_CHECK(MachineFiles().remove_all(path_).has_value(), path_); }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string text(const std::string& name) const {
    const auto content = read_file(*this / name);
    return content ? *content : content.error().message;
  }

 private:
  std::string path_;
};

/// Looks every few milliseconds until `condition` holds; false after 10 minutes, which only end a broken run.
template <class Condition>
bool eventually(Condition condition) {
  timespec begin = {};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  while (!condition()) {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - begin.tv_sec > 600) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

}  // namespace slipway::os
