// The digest of a package's content, by which conditions and approvals say what they are about: SHA-256 over a line "path NUL
// SHA-256 of the bytes" for each file, sorted by path, so that a changed file costs only its own hash. The Kptfile counts
// without its status, where conditions are shown: a condition does not change the content that it judges.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::delivery::package {

/// Bytes of each file by its path, "/" between folders.
using Files = std::map<std::string, std::string>;

/// "sha256:" and 64 digits. Only the Kptfile of the root has its status taken out.
std::string content_digest(const Files& files);
/// Of the files that one of the patterns matches; those that match nothing give the digest of no file.
std::string scope_digest(const Files& files, std::span<const std::string> patterns);
/// Of one file, as it counts: the hash of its bytes, of the Kptfile without status.
std::string file_digest(std::string_view path, std::string_view bytes);
/// From file_digest() of each file.
std::string digest_of(const std::map<std::string, std::string>& file_digests);

/// What conditions need to know of a content: its digest, and that of any part of it.
class ContentView {
 public:
  /// Of no file.
  ContentView() : digest_(digest_of({})) {}
  explicit ContentView(const Files& files);
  /// From file_digest() of each file, and digest_of() them.
  ContentView(std::map<std::string, std::string> file_digests, std::string digest)
      : file_digests_(std::move(file_digests)), digest_(std::move(digest)) {}

  const std::map<std::string, std::string>& file_digests() const { return file_digests_; }
  const std::string& digest() const { return digest_; }
  /// As scope_digest().
  std::string scope(std::span<const std::string> patterns) const;

 private:
  std::map<std::string, std::string> file_digests_;
  std::string digest_;
};

/// A glob over paths: `*` and `?` stay within a folder's name, `**` crosses folders ("**/x" matches "x" too).
bool matches_pattern(std::string_view pattern, std::string_view path);

/// A Kptfile without its top-level member `status`, every other byte as it was. Where the status is not a block of lines of its
/// own (flow style), the rest in canonical JSON; text that is no YAML is given back as it is.
std::string without_status(std::string_view kptfile);

}  // namespace slipway::delivery::package
