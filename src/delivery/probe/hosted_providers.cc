// Metric services that are asked over HTTPS: Datadog (v1 timeseries and v2 scalar), New Relic (Insights query API), Dynatrace
// (metrics v2).
#include <fmt/format.h>

#include "base/text.h"
#include "delivery/probe/provider.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

/// The first of the keys that the Secret has.
Result<std::string> credential(const Query& query, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto found = query.credentials.find(key); found != query.credentials.end()) {
      return std::string(trimmed(found->second));
    }
  }
  return fail(Reason::Invalid, fmt::format("the gate's Secret has no key {}", *keys.begin()));
}

Result<void> authorize_datadog(HttpCall& call, const Query& query) {
  SLIPWAY_TRY(api, credential(query, {"datadog_api_key", "api-key"}));
  SLIPWAY_TRY(application, credential(query, {"datadog_application_key", "app-key"}));
  call.headers.set("DD-API-KEY", api);
  call.headers.set("DD-APPLICATION-KEY", application);
  return {};
}

Result<HttpCall> datadog_request(const Query& query) {
  HttpCall call{.url = fmt::format("{}/api/v1/query?query={}&from={}&to={}", query.address, percent_encoded(query.text),
                                   seconds_of(query.now - kWindow * query.interval), seconds_of(query.now))};
  SLIPWAY_TRY_VOID(authorize_datadog(call, query));
  return call;
}

Result<Extracted> datadog_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  if (answer["series"].is_null() || !answer["series"].is_array())
    return fail(Reason::Invalid, "the answer has no list \"series\"");
  Extracted out{.value = Value::empty_array(), .is_series = true};
  for (const Value& point : answer["series"].item(0)["pointlist"].items()) {
    if (!point.item(1).is_number()) continue;
    out.value = out.value.appended(point.item(1));
    out.newest = time_at(point.item(0).as_double() / 1000);
  }
  return out;
}

Result<HttpCall> datadog_scalar_request(const Query& query) {
  json::ArrayBuilder queries;
  const std::string aggregator = query.settings.has("aggregator") ? query.settings["aggregator"].str() : "last";
  const auto add = [&](std::string_view name, const std::string& text) {
    queries.add(json::object({{"aggregator", aggregator}, {"data_source", "metrics"}, {"name", name}, {"query", text}}));
  };
  std::string formula = query.settings["formula"].str();
  if (query.settings.has("queries")) {
    for (const auto [name, text] : query.settings["queries"].members()) add(name, text.str());
    if (formula.empty()) return fail(Reason::Invalid, "settings.formula must say how settings.queries combine");
  } else {
    add("query", query.text);
    if (formula.empty()) formula = "query";
  }
  const Value attributes = json::object({{"formulas", json::array({json::object({{"formula", formula}})})},
                                         {"from", milliseconds_of(query.now - kWindow * query.interval)},
                                         {"queries", queries.build()},
                                         {"to", milliseconds_of(query.now)}});
  HttpCall call{
      .url = query.address + "/api/v2/query/scalar",
      .method = "POST",
      .body = json::print(json::object({{"data", json::object({{"attributes", attributes}, {"type", "scalar_request"}})}}))};
  call.headers.set("Content-Type", "application/json");
  SLIPWAY_TRY_VOID(authorize_datadog(call, query));
  return call;
}

/// A number; of a query that groups by tags the list of one for each group, also when there is one group only.
Result<Extracted> datadog_scalar_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  const Value& data = answer["data"];
  const Value& errors = data.has("errors") ? data["errors"] : answer["errors"];
  if (!errors.is_null()) return fail(Reason::Invalid, fmt::format("Datadog: {}", json::print(errors)));
  bool is_grouped = false;
  json::ArrayBuilder numbers;
  for (const Value& column : data["attributes"]["columns"].items()) {
    if (!column["values"].is_array()) return fail(Reason::Invalid, "a column of the answer has no list \"values\"");
    const bool is_group = column["type"].as_string() == "group";
    is_grouped = is_grouped || is_group;
    for (const Value& value : column["values"].items()) {
      if (is_group && !value.is_array()) return fail(Reason::Invalid, "the label of a group is no list");
      if (!is_group && !value.is_number() && !value.is_null()) {
        return fail(Reason::Invalid, fmt::format("{} is no number", json::print(value)));
      }
      if (value.is_number()) numbers.add(value);
    }
  }
  const Value list = numbers.build();
  if (is_grouped && !list.empty()) return Extracted{.value = list};
  return Extracted{.value = list, .is_series = true};
}

Result<HttpCall> newrelic_request(const Query& query) {
  SLIPWAY_TRY(account, credential(query, {"newrelic_account_id", "account-id"}));
  SLIPWAY_TRY(key, credential(query, {"newrelic_query_key", "query-key"}));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(query.interval).count();
  const std::string nrql = fmt::format("{} SINCE {} seconds ago", query.text, seconds);
  HttpCall call{
      .url = fmt::format("{}/v1/accounts/{}/query?nrql={}", query.address, percent_encoded(account), percent_encoded(nrql))};
  call.headers.set("X-Query-Key", key);
  return call;
}

/// One row with one number; its name is that of the function that was selected.
Result<Extracted> newrelic_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  const Value& results = answer["results"];
  if (!results.is_array()) return fail(Reason::Invalid, "the answer has no list \"results\"");
  if (results.size() != 1) return Extracted{};
  if (results.item(0)["result"].is_number()) return Extracted{.value = results.item(0)["result"]};
  for (const auto [name, value] : results.item(0).members()) {
    if (value.is_number()) return Extracted{.value = value};
  }
  return Extracted{};
}

Result<HttpCall> dynatrace_request(const Query& query) {
  SLIPWAY_TRY(token, credential(query, {"dynatrace_token", "token"}));
  HttpCall call{.url = fmt::format("{}/api/v2/metrics/query?metricSelector={}&resolution=Inf&from={}&to={}", query.address,
                                   percent_encoded(query.text), milliseconds_of(query.now - kWindow * query.interval),
                                   milliseconds_of(query.now))};
  call.headers.set("Authorization", "Api-Token " + token);
  return call;
}

Result<Extracted> dynatrace_extract(const std::string& body, const Query&) {
  SLIPWAY_TRY(answer, json::parse(body));
  if (!answer["result"].is_array()) return fail(Reason::Invalid, "the answer has no list \"result\"");
  const Value& data = answer["result"].item(0)["data"];
  const Value& series = data.item(data.empty() ? 0 : data.size() - 1);
  Extracted out{.value = Value::empty_array(), .is_series = true};
  for (std::size_t i = 0; i < series["values"].size(); ++i) {
    const Value& value = series["values"].item(i);
    if (!value.is_number()) continue;
    out.value = out.value.appended(value);
    if (const Value& at = series["timestamps"].item(i); at.is_number()) out.newest = time_at(at.as_double() / 1000);
  }
  return out;
}

}  // namespace

std::vector<Provider> datadog_rows() {
  return {{.name = "datadog",
           .address = "https://api.datadoghq.com",
           .reducer = Reducer::Last,
           .template_reducer = Reducer::First,  // the newest bucket is usually incomplete
           .request = datadog_request,
           .extract = datadog_extract,
           .no_data = "no series, or no points",
           .source = "Datadog API v1, Query timeseries points"},
          {.name = "datadog/v2",
           .address = "https://api.datadoghq.com",
           .timeout_seconds = 10,
           .request = datadog_scalar_request,
           .extract = datadog_scalar_extract,
           .no_data = "no values",
           .source = "Datadog API v2, Query scalar data across multiple products"}};
}

std::vector<Provider> hosted_rows() {
  return {{.name = "newrelic",
           .address = "https://insights-api.newrelic.com",
           .request = newrelic_request,
           .extract = newrelic_extract,
           .no_data = "not exactly one result, or no number in it",
           .source = "New Relic, Query Insights event data via API"},
          {.name = "dynatrace",
           .reducer = Reducer::First,
           .template_reducer = Reducer::First,
           .request = dynatrace_request,
           .extract = dynatrace_extract,
           .no_data = "no result, or no values",
           .source = "Dynatrace API, Metrics v2, GET data points"}};
}

}  // namespace slipway::delivery::probe
