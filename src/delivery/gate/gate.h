// What may hold a delivery up: webhooks, metrics, approvals by people, windows of time. This header is what users write of them
// and what a gate answers; how a metric is judged is in metric.h, windows in window.h, approvals in approval.h. Everything in
// this room is a pure function; what a gate looks at is fetched by delivery/probe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/codec.h"

namespace slipway::delivery::gate {

/// What whoever judges answers with. Unknown (out of reach) and NoData are never a pass.
struct Verdict {
  enum class Kind : std::uint8_t { Pass, Wait, Fail, Unknown, NoData };
  Kind kind = Kind::Wait;
  std::string text{};  // "success-rate is 93.1, must be at least 99"
  std::string by{};    // who approved

  bool operator==(const Verdict&) const = default;
};

inline auto describe_enum(Verdict::Kind) {
  return json::enum_names<Verdict::Kind>({{Verdict::Kind::Pass, "Pass"},
                                          {Verdict::Kind::Wait, "Wait"},
                                          {Verdict::Kind::Fail, "Fail"},
                                          {Verdict::Kind::Unknown, "Unknown"},
                                          {Verdict::Kind::NoData, "NoData"}});
}

struct WebhookGate {
  std::string url{};
  std::string method = "POST";
  std::vector<std::int64_t> expected_status{};
  std::map<std::string, std::string> metadata{};
  std::optional<json::Value> secret_ref{};  // {name, key}: signs the body
  std::int64_t timeout_seconds = 10;

  static void describe(auto& d) {
    d.doc(
        "A URL that is asked. 2xx, or one of expectedStatus, passes; 4xx other than 408 and 429 rejects; else it is retried.");
    d.field("url", &WebhookGate::url, "Where to send the request.").required().min_length(1);
    d.field("method", &WebhookGate::method, "HTTP method.").one_of({"POST", "GET", "PUT"}).with_default();
    d.field("expectedStatus", &WebhookGate::expected_status, "The statuses that pass, in place of 2xx.").list_type("atomic");
    d.field("metadata", &WebhookGate::metadata, "Sent along in the body.");
    d.field("secretRef", &WebhookGate::secret_ref, "Name and key of a Secret; the body is signed with it (HMAC-SHA256).")
        .any_object();
    d.field("timeoutSeconds", &WebhookGate::timeout_seconds, "How long one try may take.")
        .minimum(1)
        .maximum(300)
        .with_default();
  }
};

/// What is done at the deadline when a metric has no number, too few, or only old ones. Wait: as onDeadline says.
enum class OnNoData : std::uint8_t { Wait, Fail, Pass };
inline auto describe_enum(OnNoData) {
  return json::enum_names<OnNoData>({{OnNoData::Wait, "wait"}, {OnNoData::Fail, "fail"}, {OnNoData::Pass, "pass"}});
}

struct MetricGate {
  std::string provider = "prometheus";  // a row of probe/provider.h
  std::string address{};
  std::string query{};                        // {{ namespace }}, {{ target }}, {{ interval }} … are filled in
  std::optional<json::Value> settings{};      // of the provider: headers, jsonPath, job spec …
  std::optional<json::Value> secret_ref{};    // credentials
  std::optional<json::Value> template_ref{};  // a MetricTemplate of Flagger in place of provider, address and query
  std::optional<json::Value> min{};           // the range that passes; a number, or a string that is one
  std::optional<json::Value> max{};
  std::string success_condition{};  // in Argo's expression language: result >= 0.99
  std::string failure_condition{};
  std::string cel{};             // in place of both: result >= 0.99 && baseline - result < 0.01
  std::string baseline_query{};  // the same of the old version: `baseline` in cel
  Duration interval = std::chrono::minutes{1};
  Duration initial_delay{0};
  std::optional<std::int64_t> count{};  // samples that decide; absent: 1
  std::int64_t failure_limit = 0;       // failed samples that are forgiven; -1: any number
  std::int64_t inconclusive_limit = 0;
  std::int64_t consecutive_error_limit = 4;
  std::optional<std::int64_t> consecutive_success_limit{};
  OnNoData on_no_data = OnNoData::Wait;
  std::optional<Duration> stale_after{};  // numbers older than that, or than the batch's start, are no data

  static void describe(auto& d) {
    d.doc("A number that is asked for again and again, and judged.");
    d.field("provider", &MetricGate::provider, "Who is asked.").with_default();
    d.field("address", &MetricGate::address, "Where it is: a URL.");
    d.field("query", &MetricGate::query, "What is asked, in the provider's language.");
    d.field("settings", &MetricGate::settings, "Of the provider.").any_object();
    d.field("secretRef", &MetricGate::secret_ref, "Name of the Secret with credentials.").any_object();
    d.field("templateRef", &MetricGate::template_ref, "A MetricTemplate in place of provider, address and query.").any_object();
    d.field("min", &MetricGate::min, "The least number that passes.");
    d.field("max", &MetricGate::max, "The greatest number that passes.");
    d.field("successCondition", &MetricGate::success_condition, "An expression over `result`, as Argo's analysis has them.");
    d.field("failureCondition", &MetricGate::failure_condition, "Likewise; wins over successCondition.");
    d.field("cel", &MetricGate::cel, "In place of both: a CEL expression over `result` and `baseline`.");
    d.field("baselineQuery", &MetricGate::baseline_query, "What is asked of the old version.");
    d.field("interval", &MetricGate::interval, "Between two samples.").with_default();
    d.field("initialDelay", &MetricGate::initial_delay, "Before the first sample.");
    d.field("count", &MetricGate::count, "Samples that decide; absent: one.").minimum(1).maximum(1000);
    d.field("failureLimit", &MetricGate::failure_limit, "Failed samples that are forgiven; -1: any number.");
    d.field("inconclusiveLimit", &MetricGate::inconclusive_limit, "Samples that decide nothing and are forgiven.");
    d.field("consecutiveErrorLimit", &MetricGate::consecutive_error_limit, "Errors in a row that are forgiven.").with_default();
    d.field("consecutiveSuccessLimit", &MetricGate::consecutive_success_limit, "Successes in a row that pass at once.");
    d.field("onNoData", &MetricGate::on_no_data, "What is done at the deadline without enough numbers.").with_default();
    d.field("staleAfter", &MetricGate::stale_after, "Numbers older than that are no data.");
  }
};

struct ApprovalGate {
  std::int64_t count = 1;            // people
  std::vector<std::string> users{};  // absent: whoever has the right
  std::vector<std::string> groups{};
  bool by_author = true;  // who wrote the rollout may approve it

  static void describe(auto& d) {
    d.doc("People who say yes.");
    d.field("count", &ApprovalGate::count, "How many.").minimum(1).maximum(20).with_default();
    d.field("users", &ApprovalGate::users, "Only these count.").list_type("set");
    d.field("groups", &ApprovalGate::groups, "Only members of these count.").list_type("set");
    d.field("byAuthor", &ApprovalGate::by_author, "Whether the author's own approval counts.").with_default();
  }
};

struct WindowGate {
  std::string rrule{};  // RFC 5545: when windows begin
  std::string time_zone = "UTC";
  Duration duration = std::chrono::hours{1};
  bool is_freeze = false;  // closed while inside

  static void describe(auto& d) {
    d.doc("Times at which it may go on.");
    d.field("rrule", &WindowGate::rrule, "When windows begin, e.g. `FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9;BYMINUTE=0`.")
        .required()
        .min_length(1);
    d.field("timeZone", &WindowGate::time_zone, "Name of the time zone.").with_default();
    d.field("duration", &WindowGate::duration, "How long a window is.").with_default();
    d.field("freeze", &WindowGate::is_freeze, "Inside is closed, outside is open.");
  }
};

/// One gate as users write it. Exactly one of the four is set.
struct GateSpec {
  std::string name{};
  std::string at = "after";  // before, after, throughout, pre-traffic, post-traffic; of a plan also initialize and finalize
  std::optional<WebhookGate> webhook{};
  std::optional<MetricGate> metric{};
  std::optional<ApprovalGate> approval{};
  std::optional<WindowGate> window{};
  std::optional<std::int64_t> deadline_seconds{};
  std::optional<std::string> on_deadline{};

  static void describe(auto& d) {
    d.doc("Something that must pass before it goes on.");
    d.field("name", &GateSpec::name, "Tells it apart; at most 63 characters.").required().min_length(1).max_length(63);
    d.field("at", &GateSpec::at, "When it is asked.")
        .one_of({"before", "after", "throughout", "pre-traffic", "post-traffic", "initialize", "finalize"})
        .with_default();
    d.field("webhook", &GateSpec::webhook, "Asks a URL.");
    d.field("metric", &GateSpec::metric, "Judges a number.");
    d.field("approval", &GateSpec::approval, "Asks people.");
    d.field("window", &GateSpec::window, "Looks at the time.");
    d.field("deadlineSeconds", &GateSpec::deadline_seconds, "How long it may take from its first question on.").minimum(1);
    d.field("onDeadline", &GateSpec::on_deadline, "What happens then; absent: fail, of approvals and windows hold.")
        .one_of({"hold", "fail", "pass"});
  }
};

/// What an answer of a webhook means: 2xx, or one of expectedStatus, passes; 4xx but 408 and 429 fails; the rest waits.
Verdict webhook_verdict(const WebhookGate& webhook, std::int64_t status, std::string_view text);

/// What is done when the deadline has come and `last` was the verdict: "hold", "fail" or "pass". onNoData decides for a metric
/// without numbers unless it waits; else onDeadline; else metrics and webhooks fail, approvals and windows hold.
std::string_view at_deadline(const GateSpec& gate, Verdict::Kind last);

/// What is wrong with a gate beyond its schema; `field` is its own place. Pure, for admission.
std::vector<Cause> check(const GateSpec& gate, const std::string& field);

}  // namespace slipway::delivery::gate
