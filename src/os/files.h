// The machine's files, as base/env.h describes them. Every failure is a Status that names the path: ENOENT and ENOTDIR are
// NotFound, EACCES, EPERM and EROFS Forbidden, EEXIST AlreadyExists, ENOSPC and EDQUOT ServiceUnavailable "disk full: PATH",
// anything else InternalError. Only POSIX calls; the free functions serve the pod supervisor too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"

namespace slipway::os {

/// A file descriptor, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// The Status of a failed call; `error` is an errno.
std::unexpected<Status> file_failure(int error, std::string_view verb, const std::string& path);

/// 64 MiB at most (RequestEntityTooLarge beyond): whatever Slipway reads whole is small.
Result<std::string> read_file(const std::string& path);

/// Synced: the new content is on the disk when the call returns. Renamed: it is seen whole or not at all, but may be lost with
/// the power.
enum class Durability : std::uint8_t { Synced, Renamed };
Result<void> replace_file(const std::string& path, std::string_view content, unsigned mode, Durability durability);
Result<void> make_folders(const std::string& path);

class MachineFiles : public Files {
 public:
  Result<std::string> read(const std::string& path) override { return read_file(path); }
  Result<std::string> read_from(const std::string& path, std::uint64_t offset, std::size_t limit) override;
  Result<void> write(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> make_folders(const std::string& path) override { return os::make_folders(path); }
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  bool exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
};

}  // namespace slipway::os
