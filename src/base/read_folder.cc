#include "base/read_folder.h"

#include <fmt/format.h>

namespace slipway {
namespace {

constexpr int kMaxLevels = 100;

Result<void> read_below(Files& files, const std::string& folder, const std::string& inside, int level,
                        std::map<std::string, std::string>& made) {
  if (level > kMaxLevels) {
    return fail(Reason::BadRequest, fmt::format("{}: more than {} folders in each other", folder, kMaxLevels));
  }
  SLIPWAY_TRY(names, files.list(folder + "/" + inside));
  for (const std::string& name : names) {
    if (name == ".git") continue;
    const std::string path = inside + name;
    if (files.list(folder + "/" + path)) {
      SLIPWAY_TRY_VOID(read_below(files, folder, path + "/", level + 1, made));
      continue;
    }
    SLIPWAY_TRY(text, files.read(folder + "/" + path));
    made[path] = std::move(text);
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> read_folder(Files& files, const std::string& folder) {
  std::map<std::string, std::string> made;
  SLIPWAY_TRY_VOID(read_below(files, folder, "", 0, made));
  return made;
}

}  // namespace slipway
