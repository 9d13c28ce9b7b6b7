// Metric providers as rows: how each is asked, and where in its answer the numbers are. Pure: the request is a value, the
// answer is text; a few rows read objects of the cluster instead. A new provider is a new row; what is asked of all alike
// (credentials, time-outs, reducers, judging) is not in it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_client.h"
#include "base/time.h"
#include "client/client.h"
#include "delivery/gate/metric.h"

namespace slipway::delivery::probe {

/// What a provider is asked.
struct Query {
  std::string address{};                             // without slashes at its end
  std::string address_secret{};                      // the Secret that holds the address, which no text may show then
  std::string text{};                                // in the provider's language, variables filled in
  json::Value settings{};                            // of the gate: an object or null
  std::map<std::string, std::string> credentials{};  // the Secret's
  Time now{};
  Duration interval{};
};

/// What several numbers become. Only: the number itself when there is one, the list of them otherwise. All: always the list.
enum class Reducer : std::uint8_t { Only, All, First, Last, Min, Max, Avg, Sum };

/// What stood in an answer: numbers of one or several series, oldest first, or something else as a whole.
struct Extracted {
  json::Value value{};  // of a series: the list
  bool is_series = false;
  std::optional<Time> newest{};  // of the newest point, where the answer tells
};

struct Provider {
  std::string_view name;
  std::string_view address{};      // where it is unless the gate says
  bool is_addressed = true;        // false: no address is needed
  std::string_view token_scope{};  // a serviceAccountKey in the Secret becomes a token for that
  std::int64_t timeout_seconds = 5;
  Reducer reducer = Reducer::Only;
  Reducer template_reducer = Reducer::Only;  // as Flagger's templates count on it
  Result<HttpCall> (*request)(const Query& query) = nullptr;
  Result<Extracted> (*extract)(const std::string& body, const Query& query) = nullptr;
  /// In place of a request: what objects of the cluster say, of the gate's own namespace `ns`.
  Task<Result<Extracted>> (*read)(client::Client& client, std::string ns, Query query) = nullptr;
  std::string_view no_data{};  // which answers are no data
  std::string_view source{};   // where the form is documented
  std::string_view instead{};  // of a provider that is not built: what to use
};

/// All rows, those that are not built included.
const std::vector<Provider>& providers();
/// The row; `settings.apiVersion: v2` asks for datadog's other one. NotImplemented names what to use instead, NotFound the rows
/// there are.
Result<const Provider*> find_provider(std::string_view name, const json::Value& settings);

/// What is wrong with a metric gate beyond gate::check(): a provider that is not there, an address or Job that is missing, a
/// reducer or variables that cannot be read. `field` is the metric's place. Pure, for admission.
std::vector<Cause> check(const gate::MetricGate& metric, const std::string& field);

/// Invalid when an answer's status is an error, with the start of its body; `where` is what was called, as texts may show it.
Result<void> check_status(std::string_view where, int status, std::string_view body);
/// The measurement in an answer, reduced as `settings.reducer`, or else `reducer`, says. NaN among other numbers is left out.
Result<json::Value> reduced(const Extracted& extracted, const json::Value& settings, Reducer reducer);

/// A query text with its `{{ name }}` filled in; Invalid for an unknown variable. "variables.x" and "args.x" are "x".
Result<std::string> filled_in(std::string_view text, const std::map<std::string, std::string>& variables);

/// A moment that an answer tells, in seconds since 1970; held within what a Time can say.
Time time_at(double seconds);
/// Everything but unreserved characters becomes %XX.
std::string percent_encoded(std::string_view text);
/// Sets or adds what `headers` says: {"X": "v"}, {"X": ["v"]} or [{key: X, value: v}].
void add_headers(http::Headers& headers, const json::Value& from);
/// Bearer from `token`, Basic from `username` and `password`, where there are any.
void authorize(http::Headers& headers, const std::map<std::string, std::string>& credentials);

/// Rows by provider, for the table.
Provider prometheus_row();
Provider web_row();
std::vector<Provider> datadog_rows();
std::vector<Provider> hosted_rows();   // newrelic, dynatrace
std::vector<Provider> series_rows();   // graphite, influxdb
std::vector<Provider> cloud_rows();    // cloudwatch, stackdriver, splunk, wavefront, skywalking
std::vector<Provider> cluster_rows();  // keptn, externalmetrics

/// How far back providers of series are asked, in intervals.
inline constexpr int kWindow = 10;

/// Since 1970, as requests carry them.
inline std::int64_t seconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}
inline std::int64_t milliseconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace slipway::delivery::probe
