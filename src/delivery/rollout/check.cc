#include <fmt/format.h>

#include <set>

#include "delivery/gate/condition.h"
#include "delivery/probe/provider.h"
#include "delivery/rollout/admission.h"
#include "delivery/rollout/http_match.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"
#include "delivery/rollout/traffic.h"
#include "delivery/rollout/workload.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::quoted;
using json::Value;

constexpr const char* kPlan = "spec.rolloutPlan";
constexpr const char* kBatches = "spec.rolloutPlan.rolloutBatches";

/// Collects what is wrong with one spec.
class Check {
 public:
  Check(const kube::Object& rollout, const Subject& subject) : rollout_(rollout), subject_(subject), plan_(subject.plan) {}

  std::vector<Cause> run() {
    if (auto read = read_plan(plan_, wave::Shape::Pair)) {
      settings_ = std::move(read->settings);
    } else {
      add_all(read.error().causes);
    }
    check_references();
    check_spellings();
    check_provider();
    check_hooks(plan_.webhooks, fmt::format("{}.rolloutWebhooks", kPlan), true);
    check_metrics(plan_.canary_metric, fmt::format("{}.canaryMetric", kPlan));
    for (std::size_t i = 0; i < plan_.batches.size(); ++i) check_batch(plan_.batches[i], fmt::format("{}[{}]", kBatches, i));
    check_gates();
    check_extras();
    if (causes_.empty()) check_sizes();
    return std::move(causes_);
  }

 private:
  void add(Cause cause) { causes_.push_back(std::move(cause)); }
  void add_all(std::vector<Cause> causes) { std::ranges::move(causes, std::back_inserter(causes_)); }

  void check_namespace(const Value& reference, const std::string& field) {
    const std::string_view ns = reference["namespace"].as_string();
    if (ns.empty() || ns == kube::ns(rollout_)) return;
    add(field::invalid(field + ".namespace", quoted(ns),
                       fmt::format("a rollout works in its own namespace {} only", quoted(kube::ns(rollout_)))));
  }

  void check_references() {
    const Value& spec = rollout_["spec"];
    check_namespace(spec["targetRef"], "spec.targetRef");
    check_namespace(spec["rolloutPlan"]["traffic"]["ingressRef"], fmt::format("{}.traffic.ingressRef", kPlan));
    std::set<std::string> known;
    for (std::size_t i = 0; i < spec["sourceRef"].size(); ++i) {
      const Value& source = spec["sourceRef"].item(i);
      const std::string field = fmt::format("spec.sourceRef[{}]", i);
      check_namespace(source, field);
      const std::string id = fmt::format("{}/{}", source["kind"].as_string(), source["name"].as_string());
      if (!known.insert(id).second) add(field::duplicate(field, quoted(id)));
      check_pair(spec["targetRef"], source, field);
    }
  }

  /// What takes turns by size cannot take them with itself.
  void check_pair(const Value& target, const Value& source, const std::string& field) {
    const auto kind = kube::GroupVersionKind::of(target);
    if (!kind || kube::GroupVersionKind::of(source) != *kind || source["name"] != target["name"]) return;
    const WorkloadRow* row = find_row(workload_rows(), *kind);
    if (row == nullptr || row->with_sources != wave::Shape::Pair) return;
    const std::string id = fmt::format("{}/{}", kind->kind, source["name"].as_string());
    add(field::invalid(field, quoted(id), "is the target itself: name the workload that it takes the place of"));
  }

  /// The same said twice must be the same; the partition's two names are read_plan's.
  void check_spellings() {
    if (kube::kind(rollout_) != kAppRolloutKind.kind) return;
    const Value& own = rollout_["spec"]["revertOnDelete"];
    const Value& of_plan = rollout_["spec"]["rolloutPlan"]["revertOnDelete"];
    if (own.is_null() || of_plan.is_null() || own == of_plan) return;
    add(field::invalid("spec.revertOnDelete", json::print(own),
                       fmt::format("rolloutPlan.revertOnDelete says {}: give one of them", json::print(of_plan))));
  }

  void check_provider() {
    if (!plan_.traffic) return;
    const std::vector<std::string> known = traffic_providers();
    if (std::ranges::find(known, plan_.traffic->provider) != known.end()) return;
    add(field::not_supported(fmt::format("{}.traffic.provider", kPlan), quoted(plan_.traffic->provider), known));
  }

  void check_hooks(const std::vector<RolloutWebhook>& hooks, const std::string& list, bool is_of_plan) {
    for (std::size_t i = 0; i < hooks.size(); ++i) {
      const std::string& type = hooks[i].type;
      const bool is_of_ends = type == "initialize-rollout" || type == "finalize-rollout";
      const bool is_of_batch = type == "pre-batch-rollout" || type == "post-batch-rollout";
      const std::string field = fmt::format("{}[{}].type", list, i);
      if (is_of_plan && is_of_batch) {
        add(field::invalid(field, quoted(type), "hooks of batches belong into their batchRolloutWebhooks"));
      } else if (!is_of_plan && is_of_ends) {
        add(field::invalid(field, quoted(type), "hooks of the beginning and the end belong into rolloutPlan.rolloutWebhooks"));
      }
    }
  }

  void check_metrics(const std::vector<CanaryMetric>& metrics, const std::string& list) {
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const CanaryMetric& metric = metrics[i];
      const std::string field = fmt::format("{}[{}]", list, i);
      if (!metric.interval.empty() && !parse_duration(metric.interval)) {
        add(field::invalid(field + ".interval", quoted(metric.interval), "must be a duration like 30s"));
      } else if (!metric.template_ref) {
        add(field::required(field + ".templateRef",
                            fmt::format("it says what is asked: {{name}} of a MetricTemplate; without one write the metric as "
                                        "gates: [{{name: {}, metric: {{provider, address, query, min, max}}}}]",
                                        metric.name)));
      }
      if (metric.range) check_bound(metric.range->min, field + ".metricsRange.min");
      if (metric.range) check_bound(metric.range->max, field + ".metricsRange.max");
    }
  }

  void check_bound(const std::optional<Value>& bound, const std::string& field) {
    if (bound && !gate::number_of(*bound)) add(field::invalid(field, json::print(*bound), "must be a number"));
  }

  void check_batch(const RolloutBatch& batch, const std::string& field) {
    if (std::set<std::string>(batch.pod_list.begin(), batch.pod_list.end()).size() != batch.pod_list.size()) {
      add(field::invalid(field + ".podList", "", "names a pod twice"));
    }
    check_hooks(batch.webhooks, field + ".batchRolloutWebhooks", false);
    check_metrics(batch.canary_metric, field + ".canaryMetric");
    for (std::size_t i = 0; batch.traffic && i < batch.traffic->matches.size(); ++i) {
      const std::string place = fmt::format("{}.traffic.matches[{}]", field, i);
      const auto match = HttpMatch::of(batch.traffic->matches[i], place);
      if (!match) add({"FieldValueInvalid", match.error().message, place});
    }
    if (batch.traffic && !plan_.traffic) {
      add(field::required(fmt::format("{}.traffic.provider", kPlan),
                          fmt::format("{}.traffic says how to split, nothing says who splits", field)));
    }
  }

  void check_gates() {
    const auto check_list = [this](const std::vector<gate::GateSpec>& gates, const std::string& list, bool is_of_plan) {
      for (std::size_t i = 0; i < gates.size(); ++i) {
        const std::string field = fmt::format("{}.gates[{}]", list, i);
        add_all(gate::check(gates[i], field));
        if (gates[i].metric) add_all(probe::check(*gates[i].metric, field + ".metric"));
        if (!is_of_plan && (gates[i].at == "initialize" || gates[i].at == "finalize")) {
          add(field::invalid(field + ".at", quoted(gates[i].at), "is for gates of the plan, a batch has before and after"));
        }
      }
    };
    check_list(plan_.gates, kPlan, true);
    for (std::size_t i = 0; i < plan_.batches.size(); ++i) {
      check_list(plan_.batches[i].gates, fmt::format("{}[{}]", kBatches, i), false);
    }
  }

  void check_extras() {
    for (std::size_t i = 0; i < plan_.notifications.size(); ++i) {
      add_all(probe::check(plan_.notifications[i], fmt::format("{}.notifications[{}]", kPlan, i)));
    }
  }

  /// Percents add up the same at every size; whole numbers can be judged only where the size is known.
  void check_sizes() {
    std::vector<wave::Batch> sizes;
    for (const wave::RollBatch& batch : settings_.batches) sizes.push_back(batch.sizes);
    if (sizes.empty()) return;
    const bool has_numbers = std::ranges::any_of(
        sizes, [](const wave::Batch& batch) { return !batch.pods.empty() || (batch.amount && !batch.amount->is_percent); });
    if (has_numbers && (!plan_.target_size || subject_.sources.empty())) return check_rest(sizes);
    add_all(wave::check_batches(sizes, 0, has_numbers ? *plan_.target_size : 100, kBatches));
  }

  void check_rest(const std::vector<wave::Batch>& sizes) {
    const auto rest = std::ranges::find_if(sizes, [](const wave::Batch& one) { return one.pods.empty() && !one.amount; });
    if (rest == sizes.end() || rest + 1 == sizes.end()) return;
    add(field::required(fmt::format("{}[{}].replicas", kBatches, rest - sizes.begin()),
                        "only the last batch takes what is left"));
  }

  const kube::Object& rollout_;
  const Subject& subject_;
  const RolloutPlan& plan_;
  wave::Settings settings_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> check_spec(const kube::Object& rollout) {
  const auto subject = read_subject(rollout);
  if (!subject) return subject.error().causes;
  return Check(rollout, *subject).run();
}

}  // namespace slipway::delivery::rollout
