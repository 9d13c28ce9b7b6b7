#include "delivery/rollout/settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::delivery::rollout {
namespace {

using wave::Moment;

constexpr std::pair<std::string_view, std::string_view> kHookMoments[] = {
    {"initialize-rollout", "initialize"}, {"pre-batch-rollout", "before"}, {"post-batch-rollout", "after"},
    {"finalize-rollout", "finalize"},     {"pre-traffic", "pre-traffic"},  {"post-traffic", "post-traffic"}};

gate::GateSpec gate_of(const RolloutWebhook& hook) {
  gate::GateSpec made;
  made.name = hook.name;
  const auto* at = std::ranges::find(kHookMoments, hook.type, &std::pair<std::string_view, std::string_view>::first);
  if (at != std::end(kHookMoments)) made.at = at->second;
  made.webhook.emplace();
  made.webhook->url = hook.url;
  if (!hook.method.empty()) made.webhook->method = hook.method;
  made.webhook->expected_status = hook.expected_status;
  made.webhook->metadata = hook.metadata;
  return made;
}

gate::GateSpec gate_of(const CanaryMetric& metric) {
  gate::GateSpec made;
  made.name = metric.name;
  made.metric.emplace();
  made.metric->template_ref = metric.template_ref;
  if (const auto interval = parse_duration(metric.interval)) made.metric->interval = *interval;
  if (metric.range) {
    made.metric->min = metric.range->min;
    made.metric->max = metric.range->max;
  }
  return made;
}

/// Hooks, metrics and gates of one place, in this order.
std::vector<gate::GateSpec> gates_of(const std::vector<RolloutWebhook>& hooks, const std::vector<CanaryMetric>& metrics,
                                     const std::vector<gate::GateSpec>& gates) {
  std::vector<gate::GateSpec> all;
  for (const RolloutWebhook& hook : hooks) all.push_back(gate_of(hook));
  for (const CanaryMetric& metric : metrics) all.push_back(gate_of(metric));
  all.insert(all.end(), gates.begin(), gates.end());
  return all;
}

Moment moment_of(const gate::GateSpec& spec) {
  for (const Moment at : {Moment::Initialize, Moment::BeforeBatch, Moment::BeforeTraffic, Moment::AfterTraffic,
                          Moment::AfterBatch, Moment::Throughout, Moment::Finalize}) {
    if (json::enum_name(at) == spec.at) return at;
  }
  return Moment::AfterBatch;
}

wave::OnDeadline deadline_rule(const gate::GateSpec& spec, gate::Verdict::Kind last) {
  const std::string_view then = gate::at_deadline(spec, last);
  if (then == "hold") return wave::OnDeadline::Hold;
  return then == "pass" ? wave::OnDeadline::Pass : wave::OnDeadline::Fail;
}

wave::Gate wave_gate(const gate::GateSpec& spec, bool is_of_plan) {
  wave::Gate made{
      .name = spec.name, .at = moment_of(spec), .is_of_plan = is_of_plan, .needs_new_pods = spec.metric.has_value()};
  if (spec.deadline_seconds) made.deadline = seconds_saturating(*spec.deadline_seconds);
  made.on_deadline = deadline_rule(spec, gate::Verdict::Kind::Wait);
  made.on_no_data = deadline_rule(spec, gate::Verdict::Kind::NoData);
  return made;
}

bool is_of_whole_rollout(Moment at) { return at == Moment::Initialize || at == Moment::Finalize || at == Moment::Throughout; }

class SettingsReader {
 public:
  SettingsReader(const RolloutPlan& plan, wave::Shape shape, std::string field) : plan_(plan), field_(std::move(field)) {
    made_.settings.shape = shape;
  }

  Result<PlanSettings> read() {
    read_scalars();
    read_partition();
    plan_gates_ = gates_of(plan_.webhooks, plan_.canary_metric, plan_.gates);
    for (gate::GateSpec& spec : plan_gates_) add_plan_gate(spec);
    read_batches();
    if (causes_.empty()) return std::move(made_);
    Status invalid;
    invalid.reason = Reason::Invalid;
    for (const Cause& cause : causes_) {
      invalid.message += fmt::format("{}{}: {}", invalid.message.empty() ? "" : ", ", cause.field, cause.message);
    }
    invalid.causes = std::move(causes_);
    return fail(std::move(invalid));
  }

 private:
  void read_scalars() {
    wave::Settings& settings = made_.settings;
    settings.strategy = plan_.strategy.value_or(wave::Strategy::IncreaseFirst);
    settings.target_size = plan_.target_size;
    settings.is_paused = plan_.is_paused;
    settings.on_failure = plan_.on_failure.value_or(wave::OnFailure::Stop);
    settings.reverts_on_delete = plan_.revert_on_delete;
    if (plan_.batch_deadline_seconds) settings.batch_deadline = seconds_saturating(*plan_.batch_deadline_seconds);
    if (!plan_.traffic) return;
    settings.has_traffic = true;
    settings.settle = seconds_saturating(plan_.traffic->settle_seconds);
    settings.drain = seconds_saturating(plan_.traffic->drain_seconds);
  }

  void read_partition() {
    const auto& by_name = plan_.batch_partition;
    const auto& by_old_name = plan_.last_batch_to_rollout;
    if (by_name && by_old_name && *by_name != *by_old_name) {
      causes_.push_back(field::invalid(field_ + ".lastBatchToRollout", std::to_string(*by_old_name),
                                       fmt::format("is batchPartition by its older name, which is {} here", *by_name)));
    }
    made_.settings.partition = by_name ? by_name : by_old_name;
  }

  /// A name that its moment has already gets a number.
  static void make_distinct(gate::GateSpec& spec, const std::vector<wave::Gate>& known) {
    const std::string name = spec.name;
    for (int number = 2;
         std::ranges::any_of(known, [&](const wave::Gate& one) { return one.name == spec.name && one.at == moment_of(spec); });
         ++number) {
      spec.name = fmt::format("{}#{}", name, number);
    }
  }

  void add_plan_gate(gate::GateSpec& spec) {
    auto& known = is_of_whole_rollout(moment_of(spec)) ? made_.settings.gates : made_.settings.every_batch.gates;
    make_distinct(spec, known);
    known.push_back(wave_gate(spec, true));
    made_.gates[fmt::format("{}/{}", spec.at, spec.name)] = spec;
  }

  void read_batches() {
    if (plan_.batches.empty()) {
      made_.settings.num_batches = plan_.num_batches.value_or(1);
      return;
    }
    if (plan_.num_batches && *plan_.num_batches != static_cast<std::int64_t>(plan_.batches.size())) {
      causes_.push_back(
          field::invalid(field_ + ".numBatches", std::to_string(*plan_.num_batches),
                         fmt::format("rolloutBatches has {} batches: leave one of the two away", plan_.batches.size())));
    }
    for (std::size_t i = 0; i < plan_.batches.size(); ++i) add_batch(plan_.batches[i], i);
  }

  std::optional<wave::Amount> amount(const std::optional<json::Value>& value, const std::string& at) {
    if (!value || value->is_null()) return std::nullopt;
    auto read = wave::parse_amount(*value, at);
    if (read) return *read;
    if (read.error().causes.empty()) causes_.push_back({"FieldValueInvalid", read.error().message, at});
    causes_.insert(causes_.end(), read.error().causes.begin(), read.error().causes.end());
    return std::nullopt;
  }

  void add_batch(const RolloutBatch& batch, std::size_t index) {
    const std::string at = fmt::format("{}.rolloutBatches[{}]", field_, index);
    wave::RollBatch made = made_.settings.every_batch;
    if (batch.replicas && !batch.pod_list.empty()) {
      causes_.push_back(field::forbidden(at + ".podList", "may not be set together with replicas"));
    }
    made.sizes = {.amount = amount(batch.replicas, at + ".replicas"), .pods = batch.pod_list};
    made.max_unavailable = amount(batch.max_unavailable, at + ".maxUnavailable").value_or(wave::Amount{});
    if (batch.instance_interval) made.instance_interval = seconds_saturating(*batch.instance_interval);
    if (batch.traffic) {
      made.weight = batch.traffic->weight;
      made.routes_matches = !batch.traffic->matches.empty() || batch.traffic->mirror_percent.value_or(0) > 0;
    }
    for (gate::GateSpec& spec : gates_of(batch.webhooks, batch.canary_metric, batch.gates)) {
      make_distinct(spec, made.gates);
      made.gates.push_back(wave_gate(spec, false));
      made_.gates[wave::gate_key(static_cast<std::int64_t>(index), moment_of(spec), spec.name)] = spec;
    }
    made_.settings.batches.push_back(std::move(made));
  }

  const RolloutPlan& plan_;
  std::string field_;
  PlanSettings made_{};
  std::vector<gate::GateSpec> plan_gates_{};
  std::vector<Cause> causes_{};
};

}  // namespace

const gate::GateSpec* PlanSettings::find_gate(const std::string& key) const {
  if (const auto own = gates.find(key); own != gates.end()) return &own->second;
  const auto slash = key.find('/');
  if (slash == std::string::npos) return nullptr;
  const auto of_plan = gates.find(key.substr(slash + 1));
  return of_plan == gates.end() ? nullptr : &of_plan->second;
}

Result<PlanSettings> read_plan(const RolloutPlan& plan, wave::Shape shape, const std::string& field) {
  return SettingsReader(plan, shape, field).read();
}

}  // namespace slipway::delivery::rollout
