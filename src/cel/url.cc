#include "cel/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace slipway::cel {
namespace {

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
int hex(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool is_plain_in_path(char c) { return is_alnum(c) || std::string_view("-_.~$&+,/:;=@").find(c) != std::string_view::npos; }

std::string escape_path(std::string_view path) {
  const auto is_valid = [](char c) {
    return is_plain_in_path(c) || std::string_view("!'()*[]%").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(path, is_valid)) return std::string(path);
  std::string out;
  const std::string plain = unescape(path, false).value_or("");
  for (const char c : plain)
    out += is_plain_in_path(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

/// The scheme and what follows its colon; nothing when the text starts with a colon.
std::optional<std::pair<std::string, std::string_view>> split_scheme(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
    if (is_digit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) break;
      continue;
    }
    if (c != ':') break;
    if (i == 0) return std::nullopt;
    return std::pair(lower(text.substr(0, i)), text.substr(i + 1));
  }
  return std::pair(std::string(), text);
}

bool is_port(std::string_view text) {
  return text.empty() || (text[0] == ':' && std::all_of(text.begin() + 1, text.end(), is_digit));
}

bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.rfind(']');
    return end != std::string_view::npos && is_port(host.substr(end + 1));
  }
  if (const auto colon = host.rfind(':'); colon != std::string_view::npos && !is_port(host.substr(colon))) return false;
  return std::ranges::all_of(host, [](char c) {
    return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("-_.~!$&'()*+,;=:[]<>\"%").find(c) != std::string_view::npos;
  });
}

/// A URL without a fragment.
std::expected<Url, std::string> parse_request(std::string_view text) {
  const auto refuse = [&](std::string_view why) { return std::unexpected(fmt::format("parse \"{}\": {}", text, why)); };
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    return refuse("net/url: invalid control character in URL");
  if (text.empty()) return refuse("empty url");
  Url url{.text = std::string(text), .scheme = {}, .host = {}, .escaped_path = {}, .raw_query = {}};
  const auto scheme = split_scheme(text);
  if (!scheme) return refuse("missing protocol scheme");
  url.scheme = scheme->first;
  std::string_view rest = scheme->second;
  if (const auto question = rest.find('?'); question != std::string_view::npos) {
    url.raw_query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) return url;  // opaque
    if (text == "*") return url;
    return refuse("invalid URI for request");
  }
  if (!url.scheme.empty() && rest.starts_with("//")) {
    rest.remove_prefix(2);
    std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
    if (!is_host(authority)) return refuse("invalid character in host name or port");
    url.host = unescape(authority, false).value_or(std::string(authority));
  }
  if (!unescape(rest, false)) return refuse("invalid URL escape");
  url.escaped_path = escape_path(rest);
  return url;
}

}  // namespace

std::string Url::hostname() const {
  if (host.starts_with('[')) return host.substr(1, host.rfind(']') - 1);
  return host.substr(0, host.rfind(':'));
}

std::string Url::port() const {
  const auto after = host.starts_with('[') ? host.rfind(']') : 0;
  const auto colon = host.find(':', after);
  return colon == std::string::npos ? std::string() : host.substr(host.rfind(':') + 1);
}

std::map<std::string, std::vector<std::string>> Url::query_values() const {
  std::map<std::string, std::vector<std::string>> out;
  std::string_view rest = raw_query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const auto equals = pair.find('=');
    const auto key = unescape(pair.substr(0, equals), true);
    const auto value = unescape(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (key && value) out[*key].push_back(*value);
  }
  return out;
}

std::expected<Url, std::string> parse_url(std::string_view text) {
  auto whole = parse_request(text);
  const auto fragment = text.find('#');
  if (!whole || fragment == std::string_view::npos) return whole;
  // As a request the fragment counts as a part of the path or the query: it is judged with them, and then left out.
  auto url = parse_request(text.substr(0, fragment));
  if (url) url->text = text;
  return url;
}

}  // namespace slipway::cel
