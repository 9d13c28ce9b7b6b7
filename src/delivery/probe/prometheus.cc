// Prometheus (HTTP API, "Instant queries") and any server that answers in JSON.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"
#include "delivery/probe/prometheus.h"
#include "delivery/probe/provider.h"
#include "json/path.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

Result<double> sample_value(std::string_view text) {
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return fail(Reason::Invalid, fmt::format("{:?} is no number", text));
  }
  return number;
}

Result<HttpCall> prometheus_request(const Query& query) {
  HttpCall call = prometheus_call(query.address, query.text);
  authorize(call.headers, query.credentials);
  return call;
}

Result<Extracted> prometheus_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(numbers, prometheus_numbers(body));
  json::ArrayBuilder list;
  for (const double number : numbers) list.add(number);
  return Extracted{.value = list.build(), .is_series = true};
}

Result<HttpCall> web_request(const Query& query) {
  const Value& settings = query.settings;
  HttpCall call{.url = query.address, .method = settings["method"].str()};
  if (call.method.empty()) call.method = "GET";
  const bool has_json = settings.has("jsonBody");
  if (has_json && settings.has("body")) return fail(Reason::Invalid, "settings.body and settings.jsonBody exclude each other");
  if ((has_json || settings.has("body")) && call.method != "POST" && call.method != "PUT") {
    return fail(Reason::Invalid, "settings.body needs the method POST or PUT");
  }
  call.body = has_json ? json::print(settings["jsonBody"]) : settings["body"].str();
  if (has_json) call.headers.set("Content-Type", "application/json");
  authorize(call.headers, query.credentials);
  return call;
}

/// A body that is no JSON is the text itself.
Result<Extracted> web_extract(const std::string& body, const Query& query) {
  const auto document = json::parse(body);
  if (!document) return Extracted{.value = body};
  const Value& path = query.settings["jsonPath"];
  if (path.as_string().empty() || path.as_string() == "{$}") return Extracted{.value = *document};
  SLIPWAY_TRY(compiled, json::Path::compile(path.as_string()));
  SLIPWAY_TRY(results, compiled.evaluate(*document, json::Path::Missing::Error));
  if (results.empty() || results[0].empty()) return Extracted{};
  return Extracted{.value = results[0][0]};
}

}  // namespace

HttpCall prometheus_call(std::string address, std::string_view query) {
  while (address.ends_with('/')) address.pop_back();
  std::string line;
  for (const char c : trimmed(query)) {
    const bool is_blank = kBlanks.contains(c);
    if (!is_blank || !line.ends_with(' ')) line += is_blank ? ' ' : c;
  }
  return {.url = fmt::format("{}/api/v1/query?query={}", address, percent_encoded(line)), .max_answer_bytes = kMaxStepAnswer};
}

Result<std::vector<double>> prometheus_numbers(std::string_view body) {
  SLIPWAY_TRY(answer, json::parse(body));
  if (answer["status"].as_string() != "success") {
    const std::string error = answer["error"].str();
    return fail(Reason::Invalid, error.empty() ? "the answer is not one of Prometheus" : error);
  }
  const Value& data = answer["data"];
  const std::string_view type = data["resultType"].as_string();
  std::vector<double> numbers;
  if (type == "scalar") {
    SLIPWAY_TRY(number, sample_value(data["result"].item(1).as_string()));
    numbers.push_back(number);
  } else if (type == "vector") {
    for (const Value& series : data["result"].items()) {
      SLIPWAY_TRY(number, sample_value(series["value"].item(1).as_string()));
      numbers.push_back(number);
    }
  } else {
    return fail(Reason::Invalid, fmt::format("the query gives a {}: multiple values; it must give a number or a vector", type));
  }
  return numbers;
}

Provider prometheus_row() {
  return {.name = "prometheus",
          .reducer = Reducer::Only,
          .template_reducer = Reducer::Last,
          .request = prometheus_request,
          .extract = prometheus_extract,
          .no_data = "an empty vector, or NaN",
          .source = "Prometheus HTTP API, GET /api/v1/query"};
}

Provider web_row() {
  return {.name = "web",
          .timeout_seconds = 10,
          .request = web_request,
          .extract = web_extract,
          .no_data = "null at jsonPath",
          .source = "Argo Rollouts, web metrics"};
}

}  // namespace slipway::delivery::probe
