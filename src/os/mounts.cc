#include "os/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "os/files.h"

namespace slipway::os {
namespace {

/// A folder with more entries is not covered: each costs a mount.
constexpr std::size_t kCoverLimit = 4096;
constexpr const char* kOldRoot = "/.slipway-host";

std::unexpected<std::string> failure(std::string_view what, const std::string& path) {
  return std::unexpected(fmt::format("{} {}: {}", what, path, strerrordesc_np(errno)));
}

/// Without "." and empty parts; nothing when the path is relative or has "..".
std::optional<std::vector<std::string>> parts_of(const std::string& path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += "/" + parts[i];
  return path.empty() ? "/" : path;
}

/// Normal targets, those above others first.
Mounted order(std::vector<PodMount>& mounts) {
  for (auto& mount : mounts) {
    const auto parts = parts_of(mount.target);
    if (!parts || parts->empty()) {
      return std::unexpected(fmt::format("cannot mount at {}: need an absolute path below / without ..", mount.target));
    }
    mount.target = joined(*parts, parts->size());
  }
  std::ranges::sort(mounts, {},
                    [](const PodMount& mount) { return std::pair(std::ranges::count(mount.target, '/'), mount.target); });
  return {};
}

/// The nearest existing folder or file at or above `target`, links followed.
std::string nearest_existing(const std::string& target) {
  std::string path = target;
  struct stat found = {};
  while (path != "/" && stat(path.c_str(), &found) != 0) {
    const auto slash = path.rfind('/');
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
  return path;
}

bool write_text(const char* path, const std::string& text) {
  const Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Mounted unshare_mounts() {
  const auto uid = getuid();
  const auto gid = getgid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return failure("cannot make a mount namespace for", "/");
    write_text("/proc/self/setgroups", "deny");
    if (!write_text("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)) ||
        !write_text("/proc/self/gid_map", fmt::format("{0} {0} 1", gid))) {
      return failure("cannot map the user in", "/proc/self/uid_map");
    }
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failure("cannot make private", "/");
  return {};
}

Mounted bind_mount(const std::string& source, const std::string& target) {
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return failure("cannot bind at", target);
  return {};
}

/// Makes an entry like `source` at `place` and binds `source` to it; links are copied.
Mounted bind_entry(const std::string& source, const std::string& place) {
  struct stat found = {};
  if (lstat(source.c_str(), &found) != 0) return {};  // gone meanwhile
  if (S_ISLNK(found.st_mode)) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlink(source.c_str(), target.data(), target.size());
    if (length < 0) return failure("cannot read", place);
    target.resize(static_cast<std::size_t>(length));
    if (symlink(target.c_str(), place.c_str()) != 0) return failure("cannot link", place);
    return {};
  }
  if (S_ISDIR(found.st_mode)) {
    if (mkdir(place.c_str(), 0755) != 0) return failure("cannot make", place);
  } else if (!Descriptor(open(place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644))) {
    return failure("cannot make", place);
  }
  return bind_mount(source, place);
}

/// Mounts a tmpfs at `place` that shows the entries of `folder` (which may be `place` itself).
Mounted cover(const std::string& folder, const std::string& place) {
  // Opened before it is covered: below the descriptor the old entries stay reachable.
  const Descriptor old(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found = {};
  if (!old || fstat(old.get(), &found) != 0) return failure("cannot open", folder);
  const auto names = MachineFiles().list(folder);
  if (!names) return std::unexpected(names.error().message);
  if (names->size() > kCoverLimit) {
    return std::unexpected(
        fmt::format("cannot add a mount point in {}: more than {} entries; create it there", folder, kCoverLimit));
  }
  const std::string options = fmt::format("mode={:o}", found.st_mode & 07777U);
  if (mount("slipway", place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return failure("cannot mount a tmpfs at", place);
  }
  // Unbindable: a bound entry that holds `place` leaves this mount out.
  if (mount(nullptr, place.c_str(), nullptr, MS_UNBINDABLE, nullptr) != 0) return failure("cannot make unbindable", place);
  // In a user namespace a foreign owner cannot be set; the tmpfs is then the user's own.
  if (chown(place.c_str(), found.st_uid, found.st_gid) != 0) errno = 0;
  for (const auto& name : *names) {
    auto bound = bind_entry(fmt::format("/proc/self/fd/{}/{}", old.get(), name), fmt::format("{}/{}", place, name));
    if (!bound) return bound;
  }
  return {};
}

/// Changes the root to a tmpfs with the entries of the old one, which stays at kOldRoot for the time being.
Mounted cover_root(const std::string& staging) {
  auto covered = cover("/", staging);
  if (!covered) return covered;
  const std::string old_root = staging + kOldRoot;
  if (mkdir(old_root.c_str(), 0700) != 0) return failure("cannot make", old_root);
  if (syscall(SYS_pivot_root, staging.c_str(), old_root.c_str()) != 0) return failure("cannot change the root to", staging);
  if (chdir("/") != 0) return failure("cannot enter", "/");
  return {};
}

Mounted drop_old_root() {
  if (umount2(kOldRoot, MNT_DETACH) != 0) return failure("cannot unmount", kOldRoot);
  if (rmdir(kOldRoot) != 0) return failure("cannot remove", kOldRoot);
  return {};
}

bool is_at_or_below(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

/// The parts of a namespace where a new mount point can be made without a trace on the host.
class OwnPlaces {
 public:
  void add_cover(const std::string& folder) {
    struct stat found = {};
    if (stat(folder.c_str(), &found) == 0) covers_.push_back(found.st_dev);
  }
  void add_volume(const PodMount& mount) { volumes_.push_back(mount); }

  /// In a cover, or in a writable volume: Kubernetes, too, makes missing mount points inside volumes.
  bool contains(const std::string& folder) const {
    struct stat found = {};
    if (stat(folder.c_str(), &found) == 0 && std::ranges::count(covers_, found.st_dev) > 0) return true;
    const PodMount* deepest = nullptr;
    for (const auto& volume : volumes_) {
      if (!is_at_or_below(folder, volume.target)) continue;
      if (deepest == nullptr || volume.target.size() >= deepest->target.size()) deepest = &volume;
    }
    return deepest != nullptr && !deepest->is_read_only;
  }

 private:
  std::vector<dev_t> covers_;  // each tmpfs has a device number of its own
  std::vector<PodMount> volumes_;
};

Mounted make_mount_point(const std::string& target, mode_t type, OwnPlaces& own) {
  const std::string nearest = nearest_existing(target);
  if (nearest == target) return {};
  if (!own.contains(nearest)) {
    auto covered = cover(nearest, nearest);
    if (!covered) return covered;
    own.add_cover(nearest);
  }
  const auto folder = type == S_IFDIR ? target : target.substr(0, target.rfind('/'));
  if (!folder.empty()) {
    if (const auto made = make_folders(folder); !made) return std::unexpected(made.error().message);
  }
  if (type == S_IFDIR) return {};
  if (!Descriptor(open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644))) return failure("cannot make", target);
  return {};
}

Mounted make_read_only(const std::string& target) {
  struct statvfs found = {};
  if (statvfs(target.c_str(), &found) != 0) return failure("cannot look at", target);
  // In a user namespace the flags of the underlying mount must be named again.
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
  if ((found.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((found.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((found.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((found.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((found.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  if (mount(nullptr, target.c_str(), nullptr, flags, nullptr) != 0) return failure("cannot make read-only", target);
  return {};
}

Mounted mount_one(const PodMount& wanted, const Descriptor& source, OwnPlaces& own) {
  struct stat found = {};
  if (fstat(source.get(), &found) != 0) return failure("cannot look at", wanted.source);
  auto made = make_mount_point(wanted.target, found.st_mode & S_IFMT, own);
  if (!made) return made;
  auto bound = bind_mount(fmt::format("/proc/self/fd/{}", source.get()), wanted.target);
  if (!bound) return bound;
  own.add_volume(wanted);
  return wanted.is_read_only ? make_read_only(wanted.target) : Mounted();
}

bool needs_new_root(const std::vector<PodMount>& mounts) {
  return std::ranges::any_of(mounts, [](const PodMount& mount) { return nearest_existing(mount.target) == "/"; });
}

}  // namespace

Mounted enter_mounts(std::vector<PodMount> mounts, const std::string& staging) {
  if (auto ordered = order(mounts); !ordered) return ordered;
  if (auto unshared = unshare_mounts(); !unshared) return unshared;
  // Sources are opened first: a target may hide them.
  std::vector<Descriptor> sources;
  for (const auto& mount : mounts) {
    sources.emplace_back(open(mount.source.c_str(), O_PATH | O_CLOEXEC));
    if (!sources.back()) return failure("cannot open volume", mount.source);
  }
  OwnPlaces own;
  const bool has_new_root = needs_new_root(mounts);
  if (has_new_root) {
    if (auto covered = cover_root(staging); !covered) return covered;
    own.add_cover("/");
  }
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (auto mounted = mount_one(mounts[i], sources[i], own); !mounted) return mounted;
  }
  return has_new_root ? drop_old_root() : Mounted();
}

bool can_mount(const std::string& staging) {
  const pid_t child = fork();
  if (child == 0) {
    const auto entered = enter_mounts({{.source = staging, .target = "/.slipway-probe/a", .is_read_only = true}}, staging);
    _exit(entered ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Mounted map_mounts(std::vector<PodMount> mounts, const std::string& root) {
  if (auto ordered = order(mounts); !ordered) return ordered;
  for (const auto& mount : mounts) {
    const std::string place = root + mount.target;
    const std::string folder = place.substr(0, place.rfind('/'));
    if (const auto made = make_folders(folder); !made) return std::unexpected(made.error().message);
    if (symlink(mount.source.c_str(), place.c_str()) != 0 && errno != EEXIST) return failure("cannot link", place);
  }
  return {};
}

std::string mapped_path(const std::vector<PodMount>& mounts, const std::string& root, const std::string& path) {
  const auto parts = parts_of(path);
  if (!parts) return path;
  const std::string normal = joined(*parts, parts->size());
  const auto covers = [&](const PodMount& mount) {
    const auto target = parts_of(mount.target);
    return target && !target->empty() && is_at_or_below(normal, joined(*target, target->size()));
  };
  return std::ranges::any_of(mounts, covers) ? root + normal : path;
}

}  // namespace slipway::os
