// The text forms of HTTP/1.1 (RFC 9112) and of request targets (RFC 3986): what is written on the wire, and what a target
// means. Reading messages is in net/http_parser.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/time.h"

namespace slipway::net {

/// "%2F" to "/"; with `plus_is_space` also "+" to " ". BadRequest when a "%" is not followed by two hexadecimal digits.
enum class Plus : bool { literal, space };
Result<std::string> percent_decode(std::string_view text, Plus plus = Plus::literal);
/// Everything but unreserved characters (letters, digits, "-._~") becomes %XX.
std::string percent_encode(std::string_view text);

/// Decoded parameters of a query, in their order.
class Query {
 public:
  Query() = default;
  /// As Go's url.ParseQuery: "&" separates, "+" is a space; BadRequest for broken escapes.
  static Result<Query> parse(std::string_view text);

  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view get(std::string_view name) const { return find(name).value_or(""); }
  std::vector<std::string_view> all(std::string_view name) const;
  void add(std::string name, std::string value) { items_.emplace_back(std::move(name), std::move(value)); }
  /// Without the "?"; empty when there are no parameters.
  std::string encode() const;

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

/// A request target split in its path, still encoded, and its query, still encoded. The views live as long as the target.
struct Target {
  std::string_view path;
  std::string_view query;

  /// Origin form ("/a?b") or absolute form ("http://host/a?b", whose scheme and host are dropped).
  static Target split(std::string_view target);
  /// The decoded segments between slashes: "/api/v1/" gives {"api", "v1", ""}. A "%2F" stays within its segment. BadRequest for
  /// broken escapes.
  Result<std::vector<std::string>> segments() const;
};

/// An http or https URL.
struct Url {
  bool is_tls = false;
  std::string host;  // without brackets
  std::string port;
  std::string target = "/";   // path and query
  std::string user_password;  // decoded; for proxies

  static Result<Url> parse(std::string_view text);
  /// "host:port", brackets around IPv6 addresses.
  std::string authority() const;
  /// As in the Host header: without the scheme's own port.
  std::string host_header() const;
};

/// "Sat, 21 Nov 2026 01:02:03 GMT".
std::string http_date(Time time);
/// Head of a message, with the empty line. Control characters in values become spaces, so nothing can end a line early.
std::string response_head(int status, const http::Headers& headers);
/// BadRequest, naming what is wrong and no value, unless the method is a token, names of headers are tokens and values hold no
/// control characters (RFC 9110): whoever writes one of them may come from a user's object.
Result<void> check_request(std::string_view method, const http::Headers& headers);
std::string request_head(std::string_view method, std::string_view target, const http::Headers& headers);
/// One piece of a chunked body.
std::string chunk(std::string_view piece);
constexpr std::string_view kLastChunk = "0\r\n\r\n";
/// A failed answer in the shape of a Kubernetes Status. `message` and `reason` must need no JSON escapes.
http::Response status_response(int code, std::string_view reason, std::string_view message);

}  // namespace slipway::net
