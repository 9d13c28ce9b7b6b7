#include "os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slipway::os {
namespace {

constexpr std::size_t kReadLimit = std::size_t{64} << 20;

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

/// 0 or an errno.
int write_whole(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Appends up to `limit` bytes from the descriptor's place; 0 or an errno.
int read_some(int fd, std::size_t limit, std::string& into) {
  constexpr std::size_t kStep = 64 * 1024;
  const std::size_t first = into.size();
  while (into.size() - first < limit) {
    const std::size_t at = into.size();
    const std::size_t step = std::min(kStep, limit - (at - first));
    into.resize(at + step);
    const ssize_t got = read(fd, into.data() + at, step);
    into.resize(at + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
  }
  return 0;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Removes a folder with all that is in it. No link is followed: each step is relative to an opened folder. Each level costs a
/// descriptor, so what lies too deep is moved up and taken in another round.
class TreeRemoval {
 public:
  /// 0 or an errno.
  int remove(const char* path) {
    int failure = 0;
    do {
      has_moved_ = false;
      top_ = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!top_) return errno == ENOENT ? 0 : errno;
      failure = remove_folder(AT_FDCWD, path, 0);
    } while (failure == ENOTEMPTY && has_moved_);
    return failure;
  }

 private:
  static constexpr int kDepthLimit = 100;

  int remove_folder(int parent, const char* name, int depth) {
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : errno;
    DIR* folder = fdopendir(fd);
    int failure = 0;
    while (const dirent* entry = failure == 0 ? readdir(folder) : nullptr) {
      const std::string_view child = entry->d_name;
      if (child != "." && child != "..") failure = remove_entry(fd, entry->d_name, depth + 1);
    }
    closedir(folder);
    if (failure == 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) failure = errno;
    return failure;
  }

  int remove_entry(int folder, const char* name, int depth) {
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 0;
    const int error = errno;  // of a folder: EISDIR (Linux) or EPERM (POSIX)
    if (error != EISDIR && error != EPERM) return error;
    if (depth > kDepthLimit) return move_up(folder, name);
    const int failure = remove_folder(folder, name, depth);
    return failure == ENOTDIR ? error : failure;
  }

  int move_up(int folder, const char* name) {
    const std::string place = fmt::format(".slipway-removed-{}", ++moved_);
    has_moved_ = true;
    return renameat(folder, name, top_.get(), place.c_str()) == 0 ? 0 : errno;
  }

  Descriptor top_;
  int moved_ = 0;
  bool has_moved_ = false;
};

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::unexpected<Status> file_failure(int error, std::string_view verb, const std::string& path) {
  const auto told = [&](Reason reason) {
    return fail(reason, fmt::format("cannot {} {}: {}", verb, path, strerrordesc_np(error)));
  };
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return told(Reason::NotFound);
    case EACCES:
    case EPERM:
    case EROFS:
      return told(Reason::Forbidden);
    case EEXIST:
      return told(Reason::AlreadyExists);
    case ENOSPC:
    case EDQUOT:
      return fail(Reason::ServiceUnavailable, fmt::format("disk full: {}", path));
    default:
      return told(Reason::InternalError);
  }
}

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (!file) return file_failure(errno, "read", path);
  std::string content;
  if (const int error = read_some(file.get(), kReadLimit + 1, content); error != 0) return file_failure(error, "read", path);
  if (content.size() > kReadLimit) {
    return fail(Reason::RequestEntityTooLarge, fmt::format("cannot read {}: larger than {} MiB", path, kReadLimit >> 20));
  }
  return content;
}

Result<void> replace_file(const std::string& path, std::string_view content, unsigned mode, Durability durability) {
  // One writer per thread, and thread numbers are unique on the machine.
  const std::string temporary = fmt::format("{}.{}.tmp", path, gettid());
  Descriptor file(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
  if (!file && errno == EEXIST) {  // left behind by a killed thread of the same number
    unlink(temporary.c_str());
    file = Descriptor(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
  }
  if (!file) return file_failure(errno, "write", path);
  int error = write_whole(file.get(), content);
  if (error == 0 && durability == Durability::Synced && fsync(file.get()) != 0) error = errno;
  if (error == 0 && close(file.release()) != 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return file_failure(error, "write", path);
  }
  if (durability == Durability::Renamed) return {};
  const Descriptor folder(open_retrying(parent_of(path), O_RDONLY | O_DIRECTORY));
  if (!folder || fsync(folder.get()) != 0) return file_failure(errno, "write", path);
  return {};
}

Result<void> make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0755) == 0) return {};
  int error = errno;
  if (error == ENOENT && parent_of(path) != path) {
    SLIPWAY_TRY_VOID(make_folders(parent_of(path)));
    if (mkdir(path.c_str(), 0755) == 0) return {};
    error = errno;
  }
  struct stat found = {};
  const bool is_folder = error == EEXIST && stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  if (!is_folder) return file_failure(error, "make folder", path);
  return {};
}

Result<std::string> MachineFiles::read_from(const std::string& path, std::uint64_t offset, std::size_t limit) {
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (!file || lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return file_failure(errno, "read", path);
  std::string content;
  if (const int error = read_some(file.get(), limit, content); error != 0) return file_failure(error, "read", path);
  return content;
}

Result<void> MachineFiles::write(const std::string& path, std::string_view content, unsigned mode) {
  return replace_file(path, content, mode, Durability::Synced);
}

Result<void> MachineFiles::symlink(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) != 0) return file_failure(errno, "link", path);
  return {};
}

Result<void> MachineFiles::remove_all(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  int error = errno;
  if (error == EISDIR || error == EPERM) error = TreeRemoval().remove(path.c_str());
  if (error != 0) return file_failure(error, "remove", path);
  return {};
}

bool MachineFiles::exists(const std::string& path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0;
}

Result<std::vector<std::string>> MachineFiles::list(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return file_failure(errno, "list", path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace slipway::os
