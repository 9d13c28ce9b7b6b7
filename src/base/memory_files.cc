#include "base/memory_files.h"

#include <algorithm>

namespace slipway {
namespace {

constexpr int kMaxLinks = 40;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::string root_of(std::string_view path) { return path.starts_with('/') ? "/" : ""; }

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder == "/" ? folder + name : folder + "/" + name;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::unexpected<Status> absent(const std::string& path) { return fail(Reason::NotFound, "no such file or directory: " + path); }

bool is_root(const std::string& path) { return path.empty() || path == "/"; }

}  // namespace

const MemoryFiles::Node* MemoryFiles::find(const std::string& resolved) const {
  static const Node kRoot{};
  if (is_root(resolved)) return &kRoot;
  const auto at = nodes_.find(resolved);
  return at == nodes_.end() ? nullptr : &at->second;
}

Result<std::string> MemoryFiles::resolve(const std::string& path) const {
  std::vector<std::string> todo = parts_of(path);
  std::string at = root_of(path);
  std::reverse(todo.begin(), todo.end());
  for (int links = 0; !todo.empty();) {
    const std::string next = joined(at, todo.back());
    todo.pop_back();
    const Node* node = find(next);
    if (node == nullptr || node->kind != Kind::Link) {
      at = next;
      continue;
    }
    if (++links > kMaxLinks) return fail(Reason::InternalError, "too many levels of symbolic links: " + path);
    if (node->content.starts_with('/')) at = "/";
    auto inner = parts_of(node->content);
    todo.insert(todo.end(), inner.rbegin(), inner.rend());
  }
  return at;
}

Result<void> MemoryFiles::check_parent(const std::string& resolved) const {
  const Node* parent = find(parent_of(resolved));
  if (parent == nullptr || parent->kind != Kind::Folder) return absent(resolved);
  return {};
}

unsigned MemoryFiles::mode(const std::string& path) const {
  const auto resolved = resolve(path);
  const Node* node = resolved ? find(*resolved) : nullptr;
  return node == nullptr ? 0 : node->mode;
}

Result<std::string> MemoryFiles::read(const std::string& path) { return read_from(path, 0, SIZE_MAX); }

Result<std::string> MemoryFiles::read_from(const std::string& path, std::uint64_t offset, std::size_t limit) {
  SLIPWAY_TRY(resolved, resolve(path));
  const Node* node = find(resolved);
  if (node == nullptr) return absent(path);
  if (node->kind != Kind::File) return fail(Reason::InternalError, "is a directory: " + path);
  if (offset >= node->content.size()) return std::string();
  return node->content.substr(offset, limit);
}

Result<void> MemoryFiles::write(const std::string& path, std::string_view content, unsigned mode) {
  SLIPWAY_TRY(resolved, resolve(path));
  SLIPWAY_TRY_VOID(check_parent(resolved));
  const Node* before = find(resolved);
  if (before != nullptr && before->kind == Kind::Folder) return fail(Reason::InternalError, "is a directory: " + path);
  const std::size_t freed = before == nullptr ? 0 : before->content.size();
  if (content.size() > capacity_ - std::min(capacity_, used_ - freed))
    return fail(Reason::ServiceUnavailable, "disk full: " + path);
  used_ += content.size() - freed;
  nodes_[resolved] = Node{Kind::File, std::string(content), mode};
  return {};
}

Result<void> MemoryFiles::make_folders(const std::string& path) {
  SLIPWAY_TRY(resolved, resolve(path));
  std::string at = root_of(resolved);
  for (const std::string& part : parts_of(resolved)) {
    at = joined(at, part);
    const auto [node, is_new] = nodes_.try_emplace(at, Node{Kind::Folder, {}, 0755});
    if (!is_new && node->second.kind != Kind::Folder) return fail(Reason::AlreadyExists, "not a directory: " + at);
  }
  return {};
}

Result<void> MemoryFiles::symlink(const std::string& target, const std::string& path) {
  SLIPWAY_TRY(folder, resolve(parent_of(path)));
  const auto parts = parts_of(path);
  if (parts.empty()) return fail(Reason::AlreadyExists, "file exists: " + path);
  const std::string link = joined(folder.empty() ? root_of(path) : folder, parts.back());
  SLIPWAY_TRY_VOID(check_parent(link));
  if (!nodes_.try_emplace(link, Node{Kind::Link, target, 0777}).second)
    return fail(Reason::AlreadyExists, "file exists: " + path);
  return {};
}

Result<void> MemoryFiles::remove_all(const std::string& path) {
  SLIPWAY_TRY(folder, resolve(parent_of(path)));
  const auto parts = parts_of(path);
  if (parts.empty()) return fail(Reason::Forbidden, "will not remove: " + path);
  const std::string victim = joined(folder.empty() ? root_of(path) : folder, parts.back());
  const std::string below = victim + "/";
  const auto gone = [&](const std::string& name) { return name == victim || name.starts_with(below); };
  std::erase_if(nodes_, [&](const auto& entry) {
    if (!gone(entry.first)) return false;
    if (entry.second.kind == Kind::File) used_ -= entry.second.content.size();
    return true;
  });
  return {};
}

bool MemoryFiles::exists(const std::string& path) {
  const auto resolved = resolve(path);
  return resolved && find(*resolved) != nullptr;
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& path) {
  SLIPWAY_TRY(resolved, resolve(path));
  const Node* node = find(resolved);
  if (node == nullptr || node->kind != Kind::Folder) return absent(path);
  const std::string below = is_root(resolved) ? resolved : resolved + "/";
  std::vector<std::string> names;
  for (auto at = nodes_.lower_bound(below); at != nodes_.end() && at->first.starts_with(below); ++at) {
    const std::string name = at->first.substr(below.size());
    if (!name.empty() && name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

}  // namespace slipway
