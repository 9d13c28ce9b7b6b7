// Files in memory, for tests and the simulator: folders, files with a mode, symbolic links (followed when reading and writing,
// never when removing). Paths are normalised ("a//b/./c" is "a/b/c"; ".." is not understood). As on a machine, a file needs
// its folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"

namespace slipway {

class MemoryFiles : public Files {
 public:
  /// Bytes all files may have together; writing beyond is ServiceUnavailable "disk full: PATH".
  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  /// Permission bits of a file (tests); 0 when absent.
  unsigned mode(const std::string& path) const;

  Result<std::string> read(const std::string& path) override;
  Result<std::string> read_from(const std::string& path, std::uint64_t offset, std::size_t limit) override;
  Result<void> write(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> make_folders(const std::string& path) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  bool exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;

 private:
  enum class Kind : std::uint8_t { Folder, File, Link };
  struct Node {
    Kind kind = Kind::Folder;
    std::string content;  // of a file, or the target of a link
    unsigned mode = 0;
  };

  const Node* find(const std::string& resolved) const;
  Result<std::string> resolve(const std::string& path) const;
  Result<void> check_parent(const std::string& resolved) const;

  std::map<std::string, Node> nodes_;
  std::size_t used_ = 0;
  std::size_t capacity_ = SIZE_MAX;
};

}  // namespace slipway
