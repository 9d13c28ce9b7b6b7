// A URL as Go's net/url.ParseRequestURI takes it: an absolute URI, or an absolute path. A fragment may follow and is left out.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cel {

struct Url {
  std::string text;
  std::string scheme;  // lower case
  std::string host;    // with its port, without a user
  std::string escaped_path;
  std::string raw_query;

  std::string hostname() const;  // without brackets and port
  std::string port() const;      // empty when there is none
  /// Pairs that are malformed are left out.
  std::map<std::string, std::vector<std::string>> query_values() const;
};

/// The error is worded as Go's.
std::expected<Url, std::string> parse_url(std::string_view text);

}  // namespace slipway::cel
