#include "git/url.h"

#include <fmt/format.h>
#include <git2/refs.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "git/handle.h"

namespace slipway::git {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::unexpected<Status> bad(std::string message) { return fail(Reason::BadRequest, std::move(message)); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes %XX; a broken escape stands for itself.
std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (!is_escape) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return result;
}

Result<Url> local(std::string path) {
  if (path.find('\0') != std::string::npos || std::ranges::any_of(path, is_control)) {
    return bad("git URL: control characters in the path");
  }
  return Url{.kind = Url::Kind::Local, .path = std::move(path)};
}

Result<void> take_host(Url& url, std::string_view authority) {
  std::string_view host = authority;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return bad("git URL: '[' without ']' in the host");
    url.host = host.substr(1, end - 1);
    host.remove_prefix(end + 1);
    if (!host.empty() && host.front() != ':') return bad("git URL: ':PORT' expected after ']'");
    if (!host.empty()) url.port = host.substr(1);
  } else {
    const auto colon = host.rfind(':');
    url.host = host.substr(0, colon);
    if (colon != std::string_view::npos) url.port = host.substr(colon + 1);
  }
  const auto is_odd = [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-' && c != '_' && c != ':'; };
  if (url.host.empty() || url.host.front() == '-' || std::ranges::any_of(url.host, is_odd)) {
    return bad("git URL: the host is not a host's name or address");
  }
  const bool is_number = url.port.size() <= 5 && std::ranges::all_of(url.port, [](unsigned char c) { return std::isdigit(c); });
  if (!is_number) return bad("git URL: the port is not a number");
  return {};
}

/// `rest` is "[user[:password]@]host[:port]/path".
Result<Url> network(Url::Kind kind, std::string_view rest) {
  Url url{.kind = kind};
  const auto slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  url.path = slash == std::string_view::npos ? "" : std::string(rest.substr(slash));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = authority.substr(0, at);
    if (user.contains(':')) return bad("git URL: it holds a password; give it as credentials instead (a Secret)");
    url.user = percent_decoded(user);
    authority.remove_prefix(at + 1);
  }
  SLIPWAY_TRY_VOID(take_host(url, authority));
  if (url.path.size() < 2) return bad(fmt::format("git URL of host {}: no path of a repository", url.host));
  if (url.path.find_first_of("?#") != std::string::npos) return bad("git URL: a query or fragment");
  if (url.path.contains("/../") || url.path.ends_with("/..")) return bad("git URL: '..' in the path");
  return url;
}

/// "[user@]host:path"
Result<Url> scp_like(std::string_view text, std::size_t colon) {
  Url url{.kind = Url::Kind::Ssh};
  std::string_view host = text.substr(0, colon);
  if (const auto at = host.rfind('@'); at != std::string_view::npos) {
    url.user = host.substr(0, at);
    host.remove_prefix(at + 1);
  }
  SLIPWAY_TRY_VOID(take_host(url, host));
  const std::string_view path = text.substr(colon + 1);
  if (path.empty()) return bad(fmt::format("git URL of host {}: no path of a repository", url.host));
  if (path.contains("../")) return bad("git URL: '..' in the path");
  url.path = path.starts_with('/') ? std::string(path) : fmt::format("/{}", path);
  return url;
}

/// Case, NTFS short names, trailing dots and spaces, and the code points that HFS+ ignores.
bool is_dot_git(std::string_view segment) {
  std::string plain;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const auto three = segment.substr(i, 3);
    const bool is_ignored =
        three.size() == 3 &&
        ((three[0] == '\xe2' && (three[1] == '\x80' || three[1] == '\x81') && static_cast<unsigned char>(three[2]) >= 0x8c) ||
         three == "\xef\xbb\xbf");
    if (is_ignored) {
      i += 2;
      continue;
    }
    plain += segment[i];
  }
  if (const auto stream = plain.find(':'); stream != std::string::npos) plain.resize(stream);
  while (!plain.empty() && (plain.back() == '.' || plain.back() == ' ')) plain.pop_back();
  plain = lower(plain);
  return plain == ".git" || plain == "git~1";
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (text.empty()) return bad("git URL: empty");
  if (text.size() > Git::kMaxUrlBytes) return bad(fmt::format("git URL: longer than {} bytes", Git::kMaxUrlBytes));
  if (std::ranges::any_of(text, [](char c) { return is_control(c) || c == ' '; })) {
    return bad("git URL: spaces or control characters");
  }
  if (text.starts_with('/')) return local(std::string(text));
  const auto scheme_end = text.find("://");
  const auto colon = text.find(':');
  if (text.substr(0, scheme_end).contains("::")) return bad("git URL: remote helpers (NAME::ADDRESS) are not used");
  if (scheme_end == std::string_view::npos) {
    const auto slash = text.find('/');
    if (colon == std::string_view::npos || slash < colon) {
      return bad("git URL: neither a URL, an absolute path nor user@host:path");
    }
    return scp_like(text, colon);
  }
  const std::string scheme = lower(text.substr(0, scheme_end));
  const std::string_view rest = text.substr(scheme_end + 3);
  if (scheme == "file") {
    if (!rest.starts_with('/')) return bad("git URL: file:// needs an absolute path");
    return local(percent_decoded(rest));
  }
  if (scheme == "http") return network(Kind::Http, rest);
  if (scheme == "https") return network(Kind::Https, rest);
  if (scheme == "ssh") return network(Kind::Ssh, rest);
  return bad(fmt::format("git URL: scheme {}:// is not supported; use https, ssh, http, file or an absolute path", scheme));
}

std::string Url::shown() const {
  constexpr const char* kSchemes[] = {"", "http", "https", "ssh"};
  if (is_local()) return path;
  const std::string name = host.contains(':') ? fmt::format("[{}]", host) : host;
  return fmt::format("{}://{}{}{}{}", kSchemes[static_cast<std::size_t>(kind)], name, port.empty() ? "" : ":", port, path);
}

std::string Url::text() const {
  if (is_local()) return path;
  const std::string plain = shown();
  const auto at = plain.find("://") + 3;
  return kind == Kind::Ssh && !user.empty() ? fmt::format("{}{}@{}", plain.substr(0, at), user, plain.substr(at)) : plain;
}

bool Url::is_loopback() const { return host == "localhost" || host.starts_with("127.") || host == "::1"; }

Result<void> check_ref(std::string_view ref) {
  const bool is_known = ref.starts_with("refs/heads/") || ref.starts_with("refs/tags/");
  if (!is_known) return bad(fmt::format("git reference \"{}\": must begin with refs/heads/ or refs/tags/", ref));
  start_library();
  const std::string name(ref);
  int is_valid = 0;
  if (name.size() > 1024 || name.find('\0') != std::string::npos || git_reference_name_is_valid(&is_valid, name.c_str()) != 0 ||
      is_valid == 0 || name.contains("/-")) {
    return bad(fmt::format("git reference \"{}\" is not a valid name (git-check-ref-format)", ref));
  }
  return {};
}

Result<void> check_id(std::string_view id) {
  const bool is_hex =
      id.size() == 40 && std::ranges::all_of(id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!is_hex) return bad(fmt::format("git id \"{}\": 40 lower-case hexadecimal digits expected", id.substr(0, 80)));
  return {};
}

Result<void> check_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) { return bad(fmt::format("git path \"{}\": {}", path.substr(0, 200), why)); };
  if (path.empty()) return refuse("empty");
  if (path.size() > Git::kMaxPathBytes) return refuse("too long");
  if (std::ranges::any_of(path, is_control)) return refuse("control characters");
  if (path.contains('\\')) return refuse("a backslash");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment.empty()) return refuse("absolute, or an empty segment");
    if (segment == "." || segment == "..") return refuse("a '.' or '..' segment");
    if (is_dot_git(segment)) return refuse("a '.git' segment");
    begin = end + 1;
  }
  return {};
}

}  // namespace slipway::git
