#include "cluster/hpa_metrics.h"

#include <fmt/format.h>

#include "base/text.h"
#include "json/text.h"
#include "kube/quantity.h"

namespace slipway::cluster {

namespace {

using json::Value;

std::optional<ScriptedValue> parse_value(std::string_view text) {
  ScriptedValue value;
  if (text.ends_with("/pods")) {
    value.is_shared = true;
    text.remove_suffix(5);
  }
  if (text.ends_with('%')) {
    value.is_percent = true;
    text.remove_suffix(1);
  }
  const auto amount = kube::Quantity::parse(text);
  if (!amount) return std::nullopt;
  value.millis = amount->millis();
  return value;
}

Result<MetricCourse> parse_course(std::string_view name, std::string_view text) {
  MetricCourse course;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t sign = piece.find('=');
    const auto age = sign == std::string_view::npos ? Duration{0} : parse_duration(trimmed(piece.substr(0, sign)));
    const auto value = parse_value(trimmed(sign == std::string_view::npos ? piece : piece.substr(sign + 1)));
    if (!age || !value) {
      return fail(Reason::BadRequest, fmt::format("annotation {}: {}: not a value such as 80%, 200m or 5m=900/pods: {}",
                                                  kMetrics, name, trimmed(piece)));
    }
    course[*age] = *value;
  }
  return course;
}

}  // namespace

Result<std::map<std::string, MetricCourse>> parse_metrics(std::string_view annotation) {
  std::map<std::string, MetricCourse> courses;
  if (annotation.empty()) return courses;
  const auto parsed = json::parse_yaml(annotation);
  if (!parsed || !parsed->is_object()) {
    return fail(Reason::BadRequest, fmt::format("annotation {}: not a mapping from metrics to values", kMetrics));
  }
  for (const auto [name, text] : parsed->members()) {
    SLIPWAY_TRY(course, parse_course(name, text.is_number() ? text.number_text() : text.str()));
    courses.emplace(name, std::move(course));
  }
  return courses;
}

Result<MetricValues> metrics_at(const kube::Object& object, Time now) {
  SLIPWAY_TRY(courses, parse_metrics(kube::annotation(object, kMetrics)));
  const Duration age = now - kube::creation_time(object).value_or(now);
  MetricValues values;
  for (const auto& [name, course] : courses) {
    const auto after = course.upper_bound(age);
    if (after != course.begin()) values.emplace(name, std::prev(after)->second);
  }
  return values;
}

}  // namespace slipway::cluster
