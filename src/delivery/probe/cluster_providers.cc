// Metrics that are objects of the gate's own cluster: KeptnMetrics, and the external metrics API that adapters serve.
#include <fmt/format.h>

#include "base/text.h"
#include "delivery/probe/provider.h"
#include "json/text.h"
#include "kube/quantity.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

const client::Resource kKeptnMetrics{"metrics.keptn.sh", "v1beta1", "keptnmetrics"};

/// A gate reads its own namespace only: whoever may write it need not have rights elsewhere.
Result<void> require_own(std::string_view ns, std::string_view own) {
  if (ns == own) return {};
  return fail(Reason::Invalid, fmt::format("the query names namespace {}; a gate reads its own, {}", ns, own));
}

/// "keptnmetric/NAMESPACE/NAME"
Task<Result<Extracted>> read_keptn(client::Client& client, std::string own, Query query) {
  const auto parts = split(trimmed(query.text), '/');
  if (!parts.empty() && lower(parts[0]) == "analysis") {
    co_return fail(Reason::NotImplemented,
                   "Analysis of Keptn is not run; use keptnmetric/NAMESPACE/NAME for each of its metrics");
  }
  if (parts.size() != 3 || lower(parts[0]) != "keptnmetric") {
    co_return fail(Reason::Invalid, fmt::format("the query is keptnmetric/NAMESPACE/NAME, not {:?}", query.text));
  }
  SLIPWAY_CO_TRY_VOID(require_own(parts[1], own));
  SLIPWAY_CO_TRY(metric, co_await client::get(client, kKeptnMetrics, {own, std::string(parts[2])}));
  const std::string value = metric["status"]["value"].str();
  if (value.empty()) co_return Extracted{};
  const auto number = json::parse(value);
  if (!number || !number->is_number()) co_return fail(Reason::Invalid, fmt::format("status.value {:?} is no number", value));
  Extracted out{.value = *number};
  if (const auto at = parse_rfc3339(metric["status"]["lastUpdated"].as_string())) out.newest = *at;
  co_return out;
}

/// "NAME", "NAMESPACE/NAME", "/NAME", each with "?labelSelector=…".
struct External {
  std::string ns;
  std::string name;
  std::string selector;
};
Result<External> external_of(std::string_view text, const std::string& own) {
  External out{.ns = own, .name = {}, .selector = {}};
  text = trimmed(text);
  const std::size_t mark = text.find('?');
  if (mark != std::string_view::npos) {
    constexpr std::string_view kSelector = "labelSelector=";
    const std::string_view rest = text.substr(mark + 1);
    if (!rest.starts_with(kSelector)) return fail(Reason::Invalid, "after \"?\" the query may have labelSelector= only");
    out.selector = rest.substr(kSelector.size());
    text = text.substr(0, mark);
  }
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (slash > 0) SLIPWAY_TRY_VOID(require_own(text.substr(0, slash), own));
    text = text.substr(slash + 1);
  }
  if (text.empty() || text.contains('/')) {
    return fail(Reason::Invalid, "the query is METRIC or NAMESPACE/METRIC, with ?labelSelector=… where it has labels");
  }
  out.name = text;
  return out;
}

Task<Result<Extracted>> read_external(client::Client& client, std::string own, Query query) {
  SLIPWAY_CO_TRY(wanted, external_of(query.text, own));
  const client::Resource metric{"external.metrics.k8s.io", "v1beta1", wanted.name};
  client::ListQuery asked;
  asked.ns = wanted.ns;
  asked.label_selector = wanted.selector;
  SLIPWAY_CO_TRY(list, co_await client::list(client, metric, asked));
  Extracted out{.value = Value::empty_array(), .is_series = true};
  for (const Value& item : list["items"].items()) {
    SLIPWAY_CO_TRY(quantity, kube::Quantity::parse(item["value"].str()));
    out.value = out.value.appended(static_cast<double>(quantity.millis()) / 1000);
    if (const auto at = parse_rfc3339(item["timestamp"].as_string())) out.newest = std::max(out.newest.value_or(*at), *at);
  }
  co_return out;
}

}  // namespace

std::vector<Provider> cluster_rows() {
  return {{.name = "keptn",
           .is_addressed = false,
           .read = read_keptn,
           .no_data = "no status.value",
           .source = "Keptn, KeptnMetric metrics.keptn.sh/v1beta1"},
          {.name = "externalmetrics",
           .is_addressed = false,
           .reducer = Reducer::First,
           .template_reducer = Reducer::First,
           .read = read_external,
           .no_data = "no items",
           .source = "Kubernetes, External Metrics API v1beta1"}};
}

}  // namespace slipway::delivery::probe
