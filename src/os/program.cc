#include "os/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slipway::os {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string_view variable(const std::vector<std::string>& env, std::string_view name) {
  for (const auto& entry : env) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

bool is_program(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string exec_failure(const std::string& name, std::string_view what) { return fmt::format("exec: \"{}\": {}", name, what); }

std::expected<std::string, std::string> find_program(const std::string& name, const std::vector<std::string>& env) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
    struct stat found = {};
    if (stat(name.c_str(), &found) != 0) {
      const std::string_view why = errno == ENOENT ? "no such file or directory" : strerrordesc_np(errno);
      return std::unexpected(exec_failure(name, fmt::format("stat {}: {}", name, why)));
    }
    return std::unexpected(exec_failure(name, S_ISDIR(found.st_mode) ? "is a directory" : "permission denied"));
  }
  std::string_view path = variable(env, "PATH");
  if (path.empty()) path = kDefaultPath;
  while (!name.empty() && !path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const std::string candidate = fmt::format("{}/{}", path.substr(0, end), name);
    if (end > 0 && is_program(candidate)) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return std::unexpected(exec_failure(name, "executable file not found in $PATH"));
}

std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace slipway::os
