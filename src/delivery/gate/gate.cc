#include "delivery/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "delivery/gate/condition.h"
#include "delivery/gate/window.h"
#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

using json::Value;

constexpr Duration kLongestWindow = std::chrono::hours{24 * 366};

void check_url(const std::string& url, const std::string& field, std::vector<Cause>& causes) {
  const std::string_view rest = std::string_view(url).substr(std::min(url.find("://"), url.size()));
  const bool is_web = url.starts_with("http://") || url.starts_with("https://");
  if (!is_web || rest.size() <= 3 || url.find_first_of(kBlanks) != std::string::npos) {
    causes.push_back(field::invalid(field, json::print(url), "must be an http:// or https:// URL"));
  }
}

void check_range(const MetricGate& metric, const std::string& field, std::vector<Cause>& causes) {
  const auto bound = [&](const std::optional<Value>& value, const char* name) {
    const auto number = value ? number_of(*value) : std::nullopt;
    if (value && !number) {
      causes.push_back(field::invalid(fmt::format("{}.{}", field, name), json::print(*value), "must be a number"));
    }
    return number;
  };
  const auto min = bound(metric.min, "min");
  const auto max = bound(metric.max, "max");
  if (min && max && *min > *max) {
    causes.push_back(field::invalid(field + ".max", json::print(*metric.max), "must not be less than min"));
  }
}

void check_conditions(const MetricGate& metric, const std::string& field, std::vector<Cause>& causes) {
  const auto condition = [&](const std::string& text, const char* name) {
    if (text.empty()) return;
    if (const auto compiled = Expression::compile(text); !compiled) {
      causes.push_back(field::invalid(fmt::format("{}.{}", field, name), json::print(text), compiled.error()));
    }
  };
  condition(metric.success_condition, "successCondition");
  condition(metric.failure_condition, "failureCondition");
  if (!metric.cel.empty()) {
    const auto compiled = compile_cel(metric.cel);
    if (!compiled) causes.push_back(field::invalid(field + ".cel", json::print(metric.cel), compiled.error()));
    if (!metric.success_condition.empty() || !metric.failure_condition.empty()) {
      causes.push_back(field::forbidden(field + ".cel", "may not be set along with successCondition or failureCondition"));
    }
  } else if (!metric.baseline_query.empty()) {
    causes.push_back(field::required(field + ".cel", "only a CEL expression can compare with the baseline"));
  }
}

void check_metric(const MetricGate& metric, const std::string& field, std::vector<Cause>& causes) {
  check_range(metric, field, causes);
  check_conditions(metric, field, causes);
  if (metric.template_ref) {
    if (metric.template_ref->operator[]("name").as_string().empty()) {
      causes.push_back(field::required(field + ".templateRef.name"));
    }
    if (!metric.address.empty() || !metric.query.empty()) {
      causes.push_back(field::forbidden(field + ".templateRef", "stands in place of provider, address and query"));
    }
  } else if (!metric.address.empty()) {
    check_url(metric.address, field + ".address", causes);
  }
  if (metric.secret_ref && metric.secret_ref->operator[]("name").as_string().empty()) {
    causes.push_back(field::required(field + ".secretRef.name"));
  }
  const auto positive = [&](Duration value, const char* name) {
    if (value > Duration::zero()) return;
    causes.push_back(field::invalid(fmt::format("{}.{}", field, name), json::print(to_string(value)), "must be positive"));
  };
  positive(metric.interval, "interval");
  if (metric.stale_after) positive(*metric.stale_after, "staleAfter");
}

void check_webhook(const WebhookGate& webhook, const std::string& field, std::vector<Cause>& causes) {
  check_url(webhook.url, field + ".url", causes);
  for (std::size_t i = 0; i < webhook.expected_status.size(); ++i) {
    const std::int64_t status = webhook.expected_status[i];
    if (status >= 100 && status <= 599) continue;
    causes.push_back(
        field::invalid(fmt::format("{}.expectedStatus[{}]", field, i), std::to_string(status), "must be between 100 and 599"));
  }
  if (!webhook.secret_ref) return;
  for (const char* name : {"name", "key"}) {
    if ((*webhook.secret_ref)[name].as_string().empty()) {
      causes.push_back(field::required(fmt::format("{}.secretRef.{}", field, name)));
    }
  }
}

/// Where the first part of a name of the time zone database is an area, older names included. Which places an area has, and
/// which names stand without one, the machine that looks at the window knows.
constexpr std::array<std::string_view, 16> kAreas{"Africa",    "America", "Antarctica", "Arctic", "Asia", "Atlantic",
                                                  "Australia", "Brazil",  "Canada",     "Chile",  "Etc",  "Europe",
                                                  "Indian",    "Mexico",  "Pacific",    "US"};

bool is_time_zone(std::string_view name) {
  const bool is_name = !name.empty() && !name.contains("..") && std::ranges::all_of(name, [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || std::string_view("/_+-").contains(c);
  });
  const auto slash = name.find('/');
  return is_name && (slash == std::string_view::npos || std::ranges::find(kAreas, name.substr(0, slash)) != kAreas.end());
}

void check_window(const WindowGate& window, const std::string& field, std::vector<Cause>& causes) {
  if (const auto rule = Recurrence::parse(window.rrule); !rule) {
    causes.push_back(field::invalid(field + ".rrule", json::print(window.rrule), rule.error().message));
  }
  if (!is_time_zone(window.time_zone)) {
    causes.push_back(field::invalid(field + ".timeZone", json::print(window.time_zone),
                                    "must be a name of the time zone database such as Europe/Berlin"));
  }
  if (window.duration <= Duration::zero() || window.duration > kLongestWindow) {
    causes.push_back(
        field::invalid(field + ".duration", json::print(to_string(window.duration)), "must be positive and at most a year"));
  }
}

bool is_label(std::string_view name) {
  const auto is_alphanumeric = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };
  if (name.empty() || name.size() > 63 || !is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_alphanumeric(c) || c == '-'; });
}

}  // namespace

std::optional<double> number_of(const Value& value) {
  if (value.is_number()) return value.as_double();
  const std::string_view text = value.as_string();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string cut(std::string text, std::size_t bytes) {
  constexpr std::string_view kMark = "…";
  if (text.size() <= bytes) return text;
  std::size_t end = bytes - kMark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text += kMark;
}

std::expected<std::shared_ptr<const cel::Program>, std::string> compile_cel(std::string_view text) {
  const auto dyn = cel::type_of(cel::Kind::Dyn);
  auto program = cel::Program::compile(text, {.variables = {{"result", dyn}, {"baseline", dyn}}, .is_kubernetes = true});
  if (!program) return std::unexpected(program.error());
  const cel::Kind kind = (*program)->result_type().kind;
  if (kind != cel::Kind::Bool && kind != cel::Kind::Dyn) {
    return std::unexpected(fmt::format("must give a bool, not {}", cel::to_string((*program)->result_type())));
  }
  return *program;
}

Verdict webhook_verdict(const WebhookGate& webhook, std::int64_t status, std::string_view text) {
  const bool is_ok = status >= 200 && status <= 299;
  const bool is_expected = std::ranges::find(webhook.expected_status, status) != webhook.expected_status.end();
  const bool passes = webhook.expected_status.empty() ? is_ok : is_expected;
  const bool rejects = !passes && status >= 400 && status <= 499 && status != 408 && status != 429;
  return {passes ? Verdict::Kind::Pass : rejects ? Verdict::Kind::Fail : Verdict::Kind::Wait, std::string(text), ""};
}

std::string_view at_deadline(const GateSpec& gate, Verdict::Kind last) {
  if (gate.metric && last == Verdict::Kind::NoData && gate.metric->on_no_data != OnNoData::Wait) {
    return json::enum_name(gate.metric->on_no_data);
  }
  if (gate.on_deadline) return *gate.on_deadline;
  return gate.approval || gate.window ? "hold" : "fail";
}

std::vector<Cause> check(const GateSpec& gate, const std::string& field) {
  std::vector<Cause> causes;
  if (!is_label(gate.name)) {
    causes.push_back(field::invalid(field + ".name", json::print(gate.name),
                                    "must be lower case letters, digits and '-', at most 63, as a label of DNS"));
  }
  const int kinds = (gate.webhook ? 1 : 0) + (gate.metric ? 1 : 0) + (gate.approval ? 1 : 0) + (gate.window ? 1 : 0);
  if (kinds != 1) {
    const char* detail = "exactly one of webhook, metric, approval and window must be set";
    causes.push_back(kinds == 0 ? field::required(field, detail) : field::forbidden(field, detail));
  }
  if (gate.webhook) check_webhook(*gate.webhook, field + ".webhook", causes);
  if (gate.metric) check_metric(*gate.metric, field + ".metric", causes);
  if (gate.window) check_window(*gate.window, field + ".window", causes);
  if (gate.at == "throughout" && (gate.approval || gate.webhook)) {
    causes.push_back(field::invalid(field + ".at", "\"throughout\"", "only metrics and windows are looked at all the time"));
  }
  return causes;
}

}  // namespace slipway::delivery::gate
