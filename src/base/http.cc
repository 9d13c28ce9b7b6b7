#include "base/http.h"

#include <algorithm>
#include <array>

namespace slipway::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct StatusRow {
  int code;
  std::string_view text;
};

constexpr std::array kStatuses{
    StatusRow{100, "Continue"},
    StatusRow{101, "Switching Protocols"},
    StatusRow{200, "OK"},
    StatusRow{201, "Created"},
    StatusRow{202, "Accepted"},
    StatusRow{204, "No Content"},
    StatusRow{206, "Partial Content"},
    StatusRow{301, "Moved Permanently"},
    StatusRow{302, "Found"},
    StatusRow{304, "Not Modified"},
    StatusRow{307, "Temporary Redirect"},
    StatusRow{308, "Permanent Redirect"},
    StatusRow{400, "Bad Request"},
    StatusRow{401, "Unauthorized"},
    StatusRow{403, "Forbidden"},
    StatusRow{404, "Not Found"},
    StatusRow{405, "Method Not Allowed"},
    StatusRow{406, "Not Acceptable"},
    StatusRow{408, "Request Timeout"},
    StatusRow{409, "Conflict"},
    StatusRow{410, "Gone"},
    StatusRow{412, "Precondition Failed"},
    StatusRow{413, "Request Entity Too Large"},
    StatusRow{415, "Unsupported Media Type"},
    StatusRow{417, "Expectation Failed"},
    StatusRow{422, "Unprocessable Entity"},
    StatusRow{429, "Too Many Requests"},
    StatusRow{431, "Request Header Fields Too Large"},
    StatusRow{500, "Internal Server Error"},
    StatusRow{501, "Not Implemented"},
    StatusRow{502, "Bad Gateway"},
    StatusRow{503, "Service Unavailable"},
    StatusRow{504, "Gateway Timeout"},
};

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> split_list(std::string_view value) {
  std::vector<std::string_view> parts;
  while (!value.empty()) {
    const auto comma = value.find(',');
    std::string_view part = value.substr(0, comma);
    value = comma == std::string_view::npos ? std::string_view{} : value.substr(comma + 1);
    while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1);
    while (!part.empty() && (part.back() == ' ' || part.back() == '\t')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : fields_) {
    if (equals_ignoring_case(key, name)) values.push_back(value);
  }
  return values;
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  for (const std::string_view value : all(name)) {
    for (const std::string_view part : split_list(value)) {
      if (equals_ignoring_case(part, token)) return true;
    }
  }
  return false;
}

void Headers::set(std::string name, std::string value) {
  erase(name);
  add(std::move(name), std::move(value));
}

void Headers::erase(std::string_view name) {
  std::erase_if(fields_, [name](const Field& field) { return equals_ignoring_case(field.first, name); });
}

std::string_view status_text(int status) {
  const auto row = std::ranges::find(kStatuses, status, &StatusRow::code);
  return row == kStatuses.end() ? std::string_view{} : row->text;
}

}  // namespace slipway::http
