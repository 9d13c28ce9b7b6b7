// vela/metrics: a Prometheus query whose result must meet a condition for a while. Since when it has, or has not, is a note.
#include <fmt/format.h>

#include "delivery/probe/prometheus.h"
#include "delivery/workflow/condition.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::workflow {
namespace {

/// The one number that a query gives, as text.
Task<Result<std::string>> ask(HttpClient& http, std::string endpoint, std::string query) {
  SLIPWAY_CO_TRY(response, co_await http.send(probe::prometheus_call(std::move(endpoint), query)));
  SLIPWAY_CO_TRY(numbers, probe::prometheus_numbers(response.body));
  if (numbers.size() != 1) {
    co_return fail(Reason::Invalid, fmt::format("the query gives {} results, not one", numbers.size()));
  }
  co_return fmt::format("{}", numbers.front());
}

/// Since when `name` holds; now, when it did not hold before. The other note goes.
Time since(RunStore& store, const std::string& step_id, const char* name, const char* other, Time now) {
  store.notes.erase(fmt::format("{}.metrics.{}.time", step_id, other));
  store.has_changed = true;
  std::string& note = store.notes[fmt::format("{}.metrics.{}.time", step_id, name)];
  if (note.empty()) note = to_rfc3339(now);
  return parse_rfc3339(note).value_or(now);
}

Task<Answer> prom_check(ProviderCall call) {
  if (call.setting.http == nullptr) co_return Answer::error("calls of foreign servers are not available here");
  if (call.store == nullptr) co_return Answer::error("only steps of a workflow can do this");
  auto value = co_await ask(*call.setting.http, call.params["metricEndpoint"].str(), call.params["query"].str());
  if (!value) co_return Answer::error(value.error().message);
  const std::string condition = call.params["condition"].str();
  auto holds = evaluate_condition(fmt::format("{} {}", *value, condition), {}, cue::Limits::for_template());
  if (!holds) co_return Answer::error(fmt::format("condition {}: {}", condition, holds.error()));
  const char* key = *holds ? "duration" : "failDuration";
  auto duration = parse_duration(call.params[key].as_string());
  if (!duration) co_return Answer::error(duration.error().message);
  const Time now = call.setting.env.clock.now();
  const Time began = *holds ? since(*call.store, call.step_id, "success", "fail", now)
                            : since(*call.store, call.step_id, "fail", "success", now);
  const bool is_long_enough = now - began >= *duration;
  const std::string message =
      fmt::format("the query gives {}, which {} {} for {} of {}", *value, *holds ? "has met" : "has not met", condition,
                  slipway::to_string(now - began), slipway::to_string(*duration));
  co_return Answer::done(
      json::object({{"result", *holds && is_long_enough}, {"failed", !*holds && is_long_enough}, {"message", message}}));
}

}  // namespace

std::vector<Provider> metrics_providers() {
  return {{.package = "metrics",
           .function = "promCheck",
           .params = {"query", "metricEndpoint", "condition", "duration", "failDuration"},
           .run = prom_check}};
}

}  // namespace slipway::delivery::workflow
