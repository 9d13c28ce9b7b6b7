#include "delivery/probe/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/probe/secret.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

constexpr std::size_t kShownBytes = 160;

constexpr std::pair<std::string_view, Reducer> kReducers[] = {
    {"only", Reducer::Only}, {"all", Reducer::All}, {"first", Reducer::First}, {"last", Reducer::Last},
    {"min", Reducer::Min},   {"max", Reducer::Max}, {"avg", Reducer::Avg},     {"sum", Reducer::Sum}};

/// What is known and not built: the reasons are a protocol or a client of its own that a gate does not need.
std::vector<Provider> absent_rows() {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"kayenta", "a webhook gate, or a Job that runs the canary analysis"}, {"plugin", "a webhook gate"}};
  std::vector<Provider> out;
  for (const auto& [name, instead] : rows) out.push_back({.name = name, .instead = instead});
  return out;
}

std::vector<Provider> make_rows() {
  std::vector<Provider> out = {prometheus_row(), web_row()};
  for (auto& rows : {datadog_rows(), hosted_rows(), series_rows(), cloud_rows(), cluster_rows(), absent_rows()})
    out.insert(out.end(), rows.begin(), rows.end());
  out.push_back({.name = "job", .no_data = "the Job has not ended", .source = "batch/v1 Job, conditions Complete and Failed"});
  return out;
}

/// A variable in a query's text.
struct Place {
  std::string_view name;
  std::size_t begin = 0;
  std::size_t end = 0;
};
Result<std::vector<Place>> variables_in(std::string_view text) {
  std::vector<Place> out;
  for (std::size_t open = text.find("{{"); open != std::string_view::npos; open = text.find("{{", out.back().end)) {
    const std::size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return fail(Reason::Invalid, "the query has \"{{\" without \"}}\"");
    std::string_view name = trimmed(text.substr(open + 2, close - open - 2));
    for (const std::string_view prefix : {"variables.", "args.", "."}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    out.push_back({name, open, close + 2});
  }
  return out;
}

Result<Reducer> reducer_of(const Value& settings, Reducer otherwise) {
  const std::string_view name = settings["reducer"].as_string();
  if (name.empty()) return otherwise;
  const auto row = std::ranges::find(kReducers, name, &std::pair<std::string_view, Reducer>::first);
  if (row != std::end(kReducers)) return row->second;
  return fail(Reason::Invalid, fmt::format("reducer {} is none of only, all, first, last, min, max, avg, sum", name));
}

Value one_of(const std::vector<Value>& numbers, Reducer reducer) {
  const auto is_less = [](const Value& a, const Value& b) { return a.as_double() < b.as_double(); };
  double sum = 0;
  for (const Value& number : numbers) sum += number.as_double();
  switch (reducer) {
    case Reducer::First:
      return numbers.front();
    case Reducer::Last:
      return numbers.back();
    case Reducer::Min:
      return *std::ranges::min_element(numbers, is_less);
    case Reducer::Max:
      return *std::ranges::max_element(numbers, is_less);
    case Reducer::Avg:
      return sum / static_cast<double>(numbers.size());
    case Reducer::Sum:
      return sum;
    case Reducer::Only:
    case Reducer::All:
      break;
  }
  return numbers.size() == 1 && reducer == Reducer::Only ? numbers.front() : json::array(numbers);
}

}  // namespace

const std::vector<Provider>& providers() {
  static const std::vector<Provider> rows = make_rows();
  return rows;
}

Result<const Provider*> find_provider(std::string_view name, const Value& settings) {
  std::string wanted = lower(name);
  if (settings["apiVersion"].as_string() == "v2") wanted += "/v2";
  const auto row = std::ranges::find(providers(), wanted, &Provider::name);
  if (row == providers().end()) {
    std::vector<std::string> names;
    for (const Provider& one : providers()) {
      if (one.instead.empty()) names.emplace_back(one.name);
    }
    return fail(Reason::NotFound, fmt::format("there is no metric provider {}; there are {}", wanted, joined(names, ", ")));
  }
  if (!row->instead.empty()) {
    return fail(Reason::NotImplemented, fmt::format("metric provider {} is not implemented; use {}", wanted, row->instead));
  }
  return &*row;
}

std::vector<Cause> check(const gate::MetricGate& metric, const std::string& field) {
  std::vector<Cause> causes;
  const Value settings = metric.settings.value_or(Value());
  const auto invalid = [&](const char* name, std::string_view value, const Status& why) {
    causes.push_back(field::invalid(fmt::format("{}.{}", field, name), json::print(value), why.message));
  };
  if (const auto reducer = reducer_of(settings, Reducer::Only); !reducer) {
    invalid("settings.reducer", settings["reducer"].as_string(), reducer.error());
  }
  if (metric.template_ref) return causes;
  const auto provider = find_provider(metric.provider, settings);
  if (!provider) {
    invalid("provider", metric.provider, provider.error());
    return causes;
  }
  if ((*provider)->request == nullptr && (*provider)->read == nullptr) {  // job
    if (!settings["spec"].is_object()) causes.push_back(field::required(field + ".settings.spec", "a Job's"));
    return causes;
  }
  if ((*provider)->is_addressed && metric.address.empty() && (*provider)->address.empty() && !metric.secret_ref) {
    causes.push_back(field::required(field + ".address"));
  }
  if (metric.query.empty() && (*provider)->name != "web" && !settings.has("queries")) {
    causes.push_back(field::required(field + ".query"));
  }
  for (const auto& [name, text] : {std::pair{"query", metric.query}, {"baselineQuery", metric.baseline_query}}) {
    if (const auto parts = variables_in(text); !parts) invalid(name, text, parts.error());
  }
  return causes;
}

Result<void> check_status(std::string_view where, int status, std::string_view body) {
  if (status >= 200 && status <= 299) return {};
  const std::string text = shortened(body, kShownBytes);
  return fail(Reason::Invalid,
              fmt::format("{}: {} {}{}{}", where, status, http::status_text(status), text.empty() ? "" : ": ", text));
}

Result<Value> reduced(const Extracted& extracted, const Value& settings, Reducer reducer) {
  if (!extracted.is_series) return extracted.value;
  SLIPWAY_TRY(wanted, reducer_of(settings, reducer));
  if (wanted == Reducer::All) return extracted.value;
  std::vector<Value> numbers;
  for (const Value& item : extracted.value.items()) {
    if (!std::isnan(item.as_double())) numbers.push_back(item);
  }
  if (numbers.empty()) return extracted.value.item(0);  // NaN, or null when there is nothing
  return one_of(numbers, wanted);
}

Result<std::string> filled_in(std::string_view text, const std::map<std::string, std::string>& variables) {
  SLIPWAY_TRY(places, variables_in(text));
  std::string out;
  std::size_t at = 0;
  for (const Place& place : places) {
    const auto found = variables.find(std::string(place.name));
    if (found == variables.end()) return fail(Reason::Invalid, fmt::format("the query's variable {} is not known", place.name));
    out += text.substr(at, place.begin - at);
    out += found->second;
    at = place.end;
  }
  return out += text.substr(at);
}

Time time_at(double seconds) {
  constexpr auto kMost = static_cast<double>(kMostSeconds);
  if (std::isnan(seconds)) return {};
  return Time(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::clamp(seconds, -kMost, kMost))));
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || std::string_view("-._~").contains(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void add_headers(http::Headers& headers, const Value& from) {
  for (const auto [name, value] : from.members()) {
    if (value.is_string()) headers.set(std::string(name), value.str());
    for (const Value& one : value.items()) headers.add(std::string(name), one.str());
  }
  for (const Value& item : from.items()) headers.set(item["key"].str(), item["value"].str());
}

void authorize(http::Headers& headers, const std::map<std::string, std::string>& credentials) {
  const auto get = [&](const char* name) {
    const auto found = credentials.find(name);
    return found == credentials.end() ? std::string() : found->second;
  };
  if (const std::string token = get("token"); !token.empty()) {
    headers.set("Authorization", "Bearer " + token);
  } else if (const std::string user = get("username"); !user.empty()) {
    headers.set("Authorization", "Basic " + base64_encode(fmt::format("{}:{}", user, get("password"))));
  }
}

}  // namespace slipway::delivery::probe
