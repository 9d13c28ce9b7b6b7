#include "base/read_folder.h"

#include <fmt/format.h>

namespace slipway {
namespace {

constexpr int kMaxLevels = 100;

/// `root` ends in "/".
Result<void> read_below(Files& files, const std::string& root, const std::string& inside, int level,
                        std::map<std::string, std::string>& made) {
  if (level > kMaxLevels) {
    return fail(Reason::BadRequest,
                fmt::format("{}: more than {} folders in each other", root.substr(0, root.size() - 1), kMaxLevels));
  }
  SLIPWAY_TRY(names, files.list(root + inside));
  for (const std::string& name : names) {
    if (name == ".git") continue;
    const std::string path = inside + name;
    if (files.list(root + path)) {
      SLIPWAY_TRY_VOID(read_below(files, root, path + "/", level + 1, made));
      continue;
    }
    SLIPWAY_TRY(text, files.read(root + path));
    made[path] = std::move(text);
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> read_folder(Files& files, const std::string& folder) {
  std::map<std::string, std::string> made;
  SLIPWAY_TRY_VOID(read_below(files, folder + "/", "", 0, made));
  return made;
}

}  // namespace slipway
