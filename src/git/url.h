// What a remote's URL, a reference, a path and an id may look like. Everything is checked before libgit2 sees it: no remote
// helpers ("ext::sh -c …"), no options in place of hosts ("ssh://-oProxyCommand=…"), no path that leaves its tree.
#pragma once

#include <string>
#include <string_view>

#include "base/git.h"

namespace slipway::git {

struct Url {
  enum class Kind : std::uint8_t { Local, Http, Https, Ssh };
  Kind kind = Kind::Local;
  std::string user{};
  std::string host{};
  std::string port{};  // digits; empty: the scheme's own
  std::string path{};  // of a local one: absolute, decoded

  /// BadRequest names what is wrong, without what the URL holds of credentials.
  static Result<Url> parse(std::string_view text);
  /// For messages: without user and password.
  std::string shown() const;
  /// What libgit2 is given; credentials come by its callback.
  std::string text() const;
  bool is_local() const { return kind == Kind::Local; }
  /// "localhost", 127.0.0.0/8 or ::1.
  bool is_loopback() const;
};

/// BadRequest unless `ref` is a full, valid name below refs/heads/ or refs/tags/.
Result<void> check_ref(std::string_view ref);
/// BadRequest unless 40 lower-case hexadecimal digits.
Result<void> check_id(std::string_view id);
/// BadRequest unless `path` can be a file's in any checkout: no segment "", ".", "..", or ".git" in a form that some file
/// system takes for it; no control character, no backslash, not absolute.
Result<void> check_path(std::string_view path);

}  // namespace slipway::git
