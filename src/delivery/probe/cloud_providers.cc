// Metrics of clouds and their neighbours: CloudWatch (GetMetricData, AWS JSON 1.0), Cloud Monitoring of Google (MQL over REST),
// Splunk Observability (SignalFlow over server-sent events), Wavefront (chart API), SkyWalking (GraphQL).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/probe/aws_signature.h"
#include "delivery/probe/provider.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

constexpr std::int64_t kMaxPoints = 20;

/// From the Secret, else from the gate's settings.
std::string known(const Query& query, const char* name) {
  const auto found = query.credentials.find(name);
  return std::string(trimmed(found == query.credentials.end() ? query.settings[name].as_string() : found->second));
}

Result<std::string> needed(const Query& query, const char* name) {
  std::string value = known(query, name);
  if (!value.empty()) return value;
  return fail(Reason::Invalid, fmt::format("neither the gate's Secret nor its settings have {}", name));
}

/// Points oldest first.
Extracted series(std::vector<std::pair<Time, Value>> points) {
  std::ranges::sort(points, {}, &std::pair<Time, Value>::first);
  Extracted out{.value = Value::empty_array(), .is_series = true};
  for (const auto& [at, value] : points) {
    out.value = out.value.appended(value);
    out.newest = at;
  }
  return out;
}

Result<HttpCall> cloudwatch_request(const Query& query) {
  const auto queries = json::parse(query.text);
  if (!queries || !queries->is_array()) {
    return fail(Reason::Invalid, "the query must be a JSON list of MetricDataQuery, as GetMetricData takes it");
  }
  SLIPWAY_TRY(region, needed(query, "region"));
  SLIPWAY_TRY(key_id, needed(query, "aws_access_key_id"));
  SLIPWAY_TRY(secret, needed(query, "aws_secret_access_key"));
  const std::string host = query.address.empty() ? fmt::format("https://monitoring.{}.amazonaws.com", region) : query.address;
  HttpCall call{.url = host + "/",
                .method = "POST",
                .body = json::print(json::object({{"MetricDataQueries", *queries},
                                                  {"StartTime", seconds_of(query.now - kWindow * query.interval)},
                                                  {"EndTime", seconds_of(query.now)},
                                                  {"MaxDatapoints", kMaxPoints}}))};
  call.headers.set("Content-Type", "application/x-amz-json-1.0");
  call.headers.set("X-Amz-Target", "GraniteServiceVersion20100801.GetMetricData");
  sign_for_aws(call,
               {.key_id = key_id,
                .secret = secret,
                .session_token = known(query, "aws_session_token"),
                .region = region,
                .service = "monitoring"},
               query.now);
  return call;
}

/// The points of the first result; CloudWatch tells the newest first.
Result<Extracted> cloudwatch_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  const Value& results = answer["MetricDataResults"];
  if (!results.is_array()) return fail(Reason::Invalid, "the answer has no list \"MetricDataResults\"");
  const Value& first = results.item(0);
  std::vector<std::pair<Time, Value>> points;
  for (std::size_t i = 0; i < first["Values"].size(); ++i) {
    points.emplace_back(time_at(first["Timestamps"].item(i).as_double()), first["Values"].item(i));
  }
  return series(std::move(points));
}

Result<HttpCall> stackdriver_request(const Query& query) {
  SLIPWAY_TRY(project, needed(query, "project"));
  HttpCall call{.url = fmt::format("{}/v3/projects/{}/timeSeries:query", query.address, percent_encoded(project)),
                .method = "POST",
                .body = json::print(json::object({{"query", query.text}}))};
  call.headers.set("Content-Type", "application/json");
  authorize(call.headers, query.credentials);
  return call;
}

/// Of the first series; of each point the first value. DIVERGES: a value of an integer metric counts, which upstream reads as
/// 0.
Result<Extracted> stackdriver_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  std::vector<std::pair<Time, Value>> points;
  for (const Value& point : answer["timeSeriesData"].item(0)["pointData"].items()) {
    const Value& value = point["values"].item(0);
    const auto at = parse_rfc3339(point["timeInterval"]["endTime"].as_string());
    if (value["doubleValue"].is_number()) {
      points.emplace_back(at.value_or(Time{}), value["doubleValue"]);
    } else if (const auto whole = json::parse(value["int64Value"].as_string()); whole && whole->is_number()) {
      points.emplace_back(at.value_or(Time{}), *whole);  // written as text
    }
  }
  return series(std::move(points));
}

Result<HttpCall> splunk_request(const Query& query) {
  std::string token = known(query, "sf_token_key");
  if (token.empty()) {
    SLIPWAY_TRY(other, needed(query, "token"));
    token = other;
  }
  HttpCall call{.url = fmt::format("{}/v2/signalflow/execute?start={}&stop={}&immediate=true", query.address,
                                   milliseconds_of(query.now - kWindow * query.interval), milliseconds_of(query.now)),
                .method = "POST",
                .body = query.text};
  call.headers.set("Content-Type", "text/plain");
  call.headers.set("X-SF-Token", token);
  return call;
}

/// The data of the server-sent events of that name, parsed.
Result<std::vector<Value>> events_named(std::string_view body, std::string_view name) {
  std::vector<Value> out;
  std::string event, data;
  const auto end = [&]() -> Result<void> {
    if (event == name || event == "error") {
      SLIPWAY_TRY(parsed, json::parse(data));
      if (event == "error") return fail(Reason::Invalid, fmt::format("SignalFlow: {}", json::print(parsed)));
      out.push_back(parsed);
    }
    event.clear();
    data.clear();
    return {};
  };
  for (const std::string_view raw : split(body, '\n')) {
    const std::string_view line = trimmed(raw, "\r\n");
    if (line.empty()) SLIPWAY_TRY_VOID(end());
    if (line.starts_with("event:")) event = trimmed(line.substr(6));
    if (line.starts_with("data:")) data += line.substr(5);
  }
  SLIPWAY_TRY_VOID(end());
  return out;
}

Result<Extracted> splunk_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(messages, events_named(body, "data"));
  std::string id;
  std::vector<std::pair<Time, Value>> points;
  for (const Value& message : messages) {
    for (const Value& point : message["data"].items()) {
      if (!id.empty() && id != point["tsId"].as_string()) {
        return fail(Reason::Invalid, "the program gives multiple values; it must publish one time series");
      }
      id = point["tsId"].str();
      if (!point["value"].is_number()) continue;
      points.emplace_back(time_at(message["logicalTimestampMs"].as_double() / 1000), point["value"]);
    }
  }
  return series(std::move(points));
}

Result<HttpCall> wavefront_request(const Query& query) {
  HttpCall call{.url = fmt::format("{}/api/v2/chart/api?q={}&s={}&e={}&g=m&autoEvents=false", query.address,
                                   percent_encoded(query.text), milliseconds_of(query.now - kWindow * query.interval),
                                   milliseconds_of(query.now))};
  authorize(call.headers, query.credentials);
  return call;
}

/// Of one series its points; of several the newest of each, as a list.
Result<Extracted> wavefront_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  if (const Value& error = answer["errorMessage"]; !error.as_string().empty()) {
    return fail(Reason::Invalid, fmt::format("Wavefront: {}", error.as_string()));
  }
  const Value& all = answer["timeseries"];
  std::vector<std::pair<Time, Value>> points;
  Value newest = Value::empty_array();
  for (const Value& one : all.items()) {
    points.clear();
    for (const Value& point : one["data"].items()) {
      if (point.item(1).is_number()) points.emplace_back(time_at(point.item(0).as_double()), point.item(1));
    }
    if (!points.empty()) newest = newest.appended(std::ranges::max_element(points, {}, &std::pair<Time, Value>::first)->second);
  }
  if (all.size() > 1 && !newest.empty()) return Extracted{.value = newest};
  return series(std::move(points));
}

Result<HttpCall> skywalking_request(const Query& query) {
  const auto minute_of = [](Time time) {  // "2026-01-01 1504"
    const std::string text = to_rfc3339(std::chrono::floor<std::chrono::minutes>(time));
    return fmt::format("{} {}{}", text.substr(0, 10), text.substr(11, 2), text.substr(14, 2));
  };
  const Value duration = json::object(
      {{"start", minute_of(query.now - kWindow * query.interval)}, {"end", minute_of(query.now)}, {"step", "MINUTE"}});
  HttpCall call{
      .url = query.address + "/graphql",
      .method = "POST",
      .body = json::print(json::object({{"query", query.text}, {"variables", json::object({{"duration", duration}})}}))};
  call.headers.set("Content-Type", "application/json");
  authorize(call.headers, query.credentials);
  return call;
}

/// What the query calls `result`.
Result<Extracted> skywalking_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  if (!answer["errors"].empty()) {
    return fail(Reason::Invalid, fmt::format("SkyWalking: {}", answer["errors"].item(0)["message"].as_string()));
  }
  return Extracted{.value = answer["data"]["result"]};
}

}  // namespace

std::vector<Provider> cloud_rows() {
  return {{.name = "cloudwatch",
           .is_addressed = false,  // by its region
           .reducer = Reducer::Last,
           .template_reducer = Reducer::Last,
           .request = cloudwatch_request,
           .extract = cloudwatch_extract,
           .no_data = "no result, or no values",
           .source = "Amazon CloudWatch API, GetMetricData; AWS JSON 1.0 protocol"},
          {.name = "stackdriver",
           .address = "https://monitoring.googleapis.com",
           .token_scope = "https://www.googleapis.com/auth/monitoring.read",
           .reducer = Reducer::Last,
           .template_reducer = Reducer::Last,
           .request = stackdriver_request,
           .extract = stackdriver_extract,
           .no_data = "no series, or no points",
           .source = "Cloud Monitoring API v3, projects.timeSeries.query"},
          {.name = "splunk",
           .timeout_seconds = 15,
           .reducer = Reducer::Last,
           .template_reducer = Reducer::Last,
           .request = splunk_request,
           .extract = splunk_extract,
           .no_data = "no data message with a value",
           .source = "Splunk Observability, SignalFlow API, POST /execute"},
          {.name = "wavefront",
           .reducer = Reducer::Last,
           .request = wavefront_request,
           .extract = wavefront_extract,
           .no_data = "no series, or no points",
           .source = "Wavefront REST API, GET /api/v2/chart/api"},
          {.name = "skywalking",
           .request = skywalking_request,
           .extract = skywalking_extract,
           .no_data = "a null result",
           .source = "SkyWalking, GraphQL query protocol"}};
}

}  // namespace slipway::delivery::probe
