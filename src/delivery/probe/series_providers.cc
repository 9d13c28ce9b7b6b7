// Time series databases: Graphite (render API) and InfluxDB 2 (Flux, annotated CSV).
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "delivery/probe/provider.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

std::optional<double> decimal(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

/// A query part as users write it: what is escaped stays, what must be is escaped.
Result<std::string> escaped_query(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
        return fail(Reason::Invalid, fmt::format("the query has an invalid URL escape {:?}", text.substr(i, 3)));
      }
      out += c;
    } else if (std::string_view("&=+").contains(c)) {
      out += c;
    } else {
      out += percent_encoded(std::string_view(&c, 1));
    }
  }
  return out;
}

Result<HttpCall> graphite_request(const Query& query) {
  SLIPWAY_TRY(text, escaped_query(trimmed(query.text)));
  HttpCall call{.url = fmt::format("{}/render?{}&format=json", query.address, text)};
  authorize(call.headers, query.credentials);
  return call;
}

/// [value, seconds]; each may be a string of digits, the value also null.
Result<std::pair<std::optional<double>, Time>> graphite_point(const Value& point) {
  if (point.size() != 2) return fail(Reason::Invalid, fmt::format("{} is no data point", json::print(point)));
  const auto number = [](const Value& from) {
    return from.is_number() ? std::optional(from.as_double()) : decimal(from.as_string());
  };
  const auto at = number(point.item(1));
  const auto value = number(point.item(0));
  if (!at || (!value && !point.item(0).is_null())) {
    return fail(Reason::Invalid, fmt::format("{} is no data point", json::print(point)));
  }
  return std::pair(value, time_at(*at));
}

/// The points of the last target.
Result<Extracted> graphite_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(targets, json::parse(body));
  if (!targets.is_array()) return fail(Reason::Invalid, "the answer is no list of targets");
  Extracted out{.value = Value::empty_array(), .is_series = true};
  if (targets.empty()) return out;
  for (const Value& point : targets.item(targets.size() - 1)["datapoints"].items()) {
    SLIPWAY_TRY(read, graphite_point(point));
    if (!read.first) continue;
    out.value = out.value.appended(*read.first);
    out.newest = read.second;
  }
  return out;
}

Result<HttpCall> influxdb_request(const Query& query) {
  const auto get = [&](const char* name) {
    const auto found = query.credentials.find(name);
    return found == query.credentials.end() ? query.settings[name].str() : found->second;
  };
  HttpCall call{.url = fmt::format("{}/api/v2/query?org={}", query.address, percent_encoded(get("org"))),
                .method = "POST",
                .body = query.text};
  call.headers.set("Authorization", "Token " + get("token"));
  call.headers.set("Content-Type", "application/vnd.flux");
  call.headers.set("Accept", "application/csv");
  return call;
}

/// The cells of a line; quotes hold commas, two quotes are one.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::size_t column_of(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
}

/// The _value of each record of each table. A table begins after an empty line with annotations (#) and its header.
Result<Extracted> influxdb_extract(const std::string& body, const Query&) {
  Extracted out{.value = Value::empty_array(), .is_series = true};
  std::vector<std::string> header;
  for (const std::string_view raw : split(body, '\n')) {
    const std::string_view line = trimmed(raw, "\r\n");
    if (line.empty()) header.clear();
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string> row = cells(line);
    if (header.empty()) {
      header = std::move(row);
      if (const std::size_t error = column_of(header, "error"); error < header.size()) header = {"error"};
      continue;
    }
    if (header.front() == "error") return fail(Reason::Invalid, fmt::format("InfluxDB: {}", row.size() > 1 ? row[1] : row[0]));
    const std::size_t at = column_of(header, "_value");
    if (at >= row.size()) return fail(Reason::Invalid, "the answer has no column _value");
    if (row[at].empty()) continue;
    const auto number = decimal(row[at]);
    if (!number) return fail(Reason::Invalid, fmt::format("{:?} is no number", row[at]));
    out.value = out.value.appended(*number);
    if (const std::size_t time = column_of(header, "_time"); time < row.size()) {
      if (const auto parsed = parse_rfc3339(row[time])) out.newest = std::max(out.newest.value_or(*parsed), *parsed);
    }
  }
  return out;
}

}  // namespace

std::vector<Provider> series_rows() {
  return {{.name = "graphite",
           .reducer = Reducer::Last,
           .template_reducer = Reducer::Last,
           .request = graphite_request,
           .extract = graphite_extract,
           .no_data = "no target, or only null points",
           .source = "Graphite, The Render URL API"},
          {.name = "influxdb",
           .timeout_seconds = 15,
           .reducer = Reducer::Only,
           .template_reducer = Reducer::First,
           .request = influxdb_request,
           .extract = influxdb_extract,
           .no_data = "no records",  // upstream reads that as 0
           .source = "InfluxDB API v2, POST /api/v2/query; annotated CSV"}};
}

}  // namespace slipway::delivery::probe
