#include "net/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace slipway::net {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

/// A token of RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto fits = [&](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || kMarks.contains(c); };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void append_field_text(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? ' ' : c;
}

std::string with_fields(std::string head, const http::Headers& headers) {
  for (const auto& [name, value] : headers) {
    append_field_text(head, name);
    head += ": ";
    append_field_text(head, value);
    head += "\r\n";
  }
  head += "\r\n";
  return head;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return fail(Reason::BadRequest, fmt::format("invalid URL escape \"{}\"", text.substr(i, 3)));
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto end = text.find('&');
    const std::string_view item = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    SLIPWAY_TRY(name, percent_decode(item.substr(0, equals), Plus::space));
    const std::string_view raw = equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    SLIPWAY_TRY(value, percent_decode(raw, Plus::space));
    query.add(std::move(name), std::move(value));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : items_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::string Query::encode() const {
  std::string out;
  for (const auto& [name, value] : items_) {
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", percent_encode(name), percent_encode(value));
  }
  return out;
}

Target Target::split(std::string_view target) {
  if (const auto scheme = target.find("://"); !target.starts_with('/') && scheme != std::string_view::npos) {
    const auto path = target.find_first_of("/?", scheme + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  const auto question = target.find('?');
  if (question == std::string_view::npos) return {.path = target, .query = {}};
  return {.path = target.substr(0, question), .query = target.substr(question + 1)};
}

Result<std::vector<std::string>> Target::segments() const {
  std::vector<std::string> out;
  std::string_view rest = path;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  while (true) {
    const auto slash = rest.find('/');
    SLIPWAY_TRY(segment, percent_decode(rest.substr(0, slash)));
    out.push_back(std::move(segment));
    if (slash == std::string_view::npos) return out;
    rest = rest.substr(slash + 1);
  }
}

Result<Url> Url::parse(std::string_view text) {
  Url url;
  if (text.starts_with("https://")) {
    url.is_tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return fail(Reason::BadRequest, fmt::format("\"{}\" is not an http or https URL", text.substr(0, 100)));
  }
  const auto path = text.find_first_of("/?#");
  std::string_view authority = text.substr(0, path);
  if (path != std::string_view::npos)
    url.target = text.substr(path, text.find('#') == std::string_view::npos ? std::string_view::npos : text.find('#') - path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  for (const char c : url.target) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      return fail(Reason::BadRequest, "a URL must not hold spaces or control characters");
  }
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    SLIPWAY_TRY(user, percent_decode(authority.substr(0, at)));
    url.user_password = std::move(user);
    authority.remove_prefix(at + 1);
  }
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return fail(Reason::BadRequest, "missing ']' in the host of a URL");
    url.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
  } else {
    url.host = authority.substr(0, authority.find(':'));
    authority.remove_prefix(url.host.size());
  }
  int port = url.is_tls ? 443 : 80;
  if (authority.size() > 1) {
    const auto [end, error] = std::from_chars(authority.data() + 1, authority.data() + authority.size(), port);
    if (authority[0] != ':' || error != std::errc{} || end != authority.data() + authority.size() || port < 1 || port > 65535) {
      return fail(Reason::BadRequest, fmt::format("invalid port in a URL: \"{}\"", authority));
    }
  }
  url.port = std::to_string(port);
  if (url.host.empty()) return fail(Reason::BadRequest, "a URL needs a host");
  if (std::ranges::any_of(url.host, [](char c) { return is_control(c) || c == ' '; })) {
    return fail(Reason::BadRequest, "the host of a URL must not hold spaces or control characters");
  }
  return url;
}

std::string Url::authority() const { return host.contains(':') ? fmt::format("[{}]:{}", host, port) : host + ":" + port; }

std::string Url::host_header() const {
  if (port != (is_tls ? "443" : "80")) return authority();
  return host.contains(':') ? "[" + host + "]" : host;
}

std::string http_date(Time time) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string response_head(int status, const http::Headers& headers) {
  return with_fields(fmt::format("HTTP/1.1 {} {}\r\n", status, http::status_text(status)), headers);
}

Result<void> check_request(std::string_view method, const http::Headers& headers) {
  if (!is_token(method)) return fail(Reason::BadRequest, "the HTTP method is no token such as GET");
  for (const auto& [name, value] : headers) {
    if (!is_token(name)) return fail(Reason::BadRequest, "the name of an HTTP header is no token such as Content-Type");
    const auto breaks_out = [](char c) { return is_control(c) && c != '\t'; };
    if (std::ranges::any_of(value, breaks_out)) {
      return fail(Reason::BadRequest, fmt::format("the value of the HTTP header {} holds control characters", name));
    }
  }
  return {};
}

std::string request_head(std::string_view method, std::string_view target, const http::Headers& headers) {
  return with_fields(fmt::format("{} {} HTTP/1.1\r\n", method, target), headers);
}

std::string chunk(std::string_view piece) { return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece); }

http::Response status_response(int code, std::string_view reason, std::string_view message) {
  http::Response response;
  response.status = code;
  response.headers.add("Content-Type", "application/json");
  response.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}","reason":"{}","code":{}}})",
      message, reason, code);
  response.body += '\n';
  return response;
}

}  // namespace slipway::net
