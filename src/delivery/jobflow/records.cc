#include "delivery/jobflow/records.h"

#include "base/digest.h"

namespace slipway::delivery::jobflow {
namespace {

constexpr std::size_t kStepsPerSet = 128;
constexpr std::int64_t kNoSet = -1;

}  // namespace

bool is_blank(const StepStatus& record) { return record.phase == graph::Phase::Blocked && record.attempts == 0; }

bool has_started(const StepStatus& record) { return record.phase == graph::Phase::Running || graph::is_terminal(record.phase); }

Records::Records(const Program& program, const kube::Object& workflow, const std::vector<Value>& step_sets)
    : program_(program), records_(program.size()), encoded_(program.size()) {
  set_of_.assign(program.size(), kNoSet);
  read(workflow["status"]["statuses"], std::nullopt);
  sets_ = workflow["status"]["stepSets"].as_int();
  for (const Value& set : step_sets) {
    sets_ = std::max(sets_, set["spec"]["count"].as_int());
    read(set["spec"]["statuses"], set["spec"]["index"].as_int());
  }
  const bool moves_now = sets_ == 0 && program.size() > kMaxInlineStatuses;
  if (moves_now) sets_ = static_cast<std::int64_t>((program.size() + kStepsPerSet - 1) / kStepsPerSet);
  if (sets_ == 0) return;
  spread();
  for (graph::StepIndex step = 0; moves_now && step < program.size(); ++step) {
    if (!is_blank(records_[step])) changed_.insert(set_of_[step]);
  }
}

void Records::spread() {
  members_.resize(static_cast<std::size_t>(sets_));
  const auto count = static_cast<std::int64_t>(program_.size());
  for (graph::StepIndex step = 0; step < program_.size(); ++step) {
    auto& set = set_of_[step];
    if (set < 0 || set >= sets_) set = program_.graph().rank(step) * sets_ / count;
    members_[static_cast<std::size_t>(set)].push_back(step);
  }
}

void Records::read(const Value& statuses, std::optional<std::int64_t> set) {
  for (auto [name, value] : statuses.members()) {
    const auto step = program_.graph().find(name);
    if (!step) continue;
    auto record = json::decode<StepStatus>(value, "", {.allow_unknown = true});
    if (!record) continue;
    records_[*step] = std::move(*record);
    encoded_[*step] = value;
    if (set) set_of_[*step] = *set;
  }
}

StepStatus& Records::edit(graph::StepIndex step) {
  encoded_[step] = Value();
  if (sets_ > 0) changed_.insert(set_of_[step]);
  return records_[step];
}

const Value& Records::encoded(graph::StepIndex step) {
  if (encoded_[step].is_null()) {
    records_[step].complete = graph::is_terminal(records_[step].phase);
    encoded_[step] = json::encode(records_[step]);
  }
  return encoded_[step];
}

Value Records::inline_statuses() {
  json::ObjectBuilder builder;
  for (graph::StepIndex step = 0; step < records_.size(); ++step) {
    if (!is_blank(records_[step])) builder.add(program_.name(step), encoded(step));
  }
  return builder.build();
}

std::vector<StepSetWrite> Records::changed_sets() {
  std::vector<StepSetWrite> writes;
  for (std::int64_t set : changed_) {
    json::ObjectBuilder builder;
    for (graph::StepIndex step : members_[static_cast<std::size_t>(set)]) {
      if (!is_blank(records_[step])) builder.add(program_.name(step), encoded(step));
    }
    writes.push_back({set, sets_, builder.build()});
  }
  changed_.clear();
  return writes;
}

std::string Records::started_bits() const {
  std::string bits((records_.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (has_started(records_[i])) bits[i / 8] = static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | (1U << (i % 8)));
  }
  return base64_encode(bits);
}

}  // namespace slipway::delivery::jobflow
