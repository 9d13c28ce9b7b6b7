#include "delivery/jobflow/records.h"

#include "base/digest.h"

namespace slipway::delivery::jobflow {
namespace {

constexpr std::size_t kStepsPerSet = 500;
// At least this many, so that a graph that grows to kMaxSteps keeps each set well below the largest object.
constexpr std::int64_t kMinSets = 16;

}  // namespace

bool is_blank(const StepStatus& record) { return record.phase == graph::Phase::Blocked && record.attempts == 0; }

bool has_started(const StepStatus& record) { return record.phase == graph::Phase::Running || graph::is_terminal(record.phase); }

Records::Records(const Program& program, const kube::Object& workflow, const std::vector<Value>& step_sets)
    : program_(program), records_(program.size()), encoded_(program.size()) {
  read(workflow["status"]["statuses"]);
  sets_ = workflow["status"]["stepSets"].as_int();
  for (const Value& set : step_sets) {
    sets_ = std::max(sets_, set["spec"]["count"].as_int());
    read(set["spec"]["statuses"]);
  }
  const bool moves_now = sets_ == 0 && program.size() > kMaxInlineStatuses;
  if (moves_now) sets_ = std::max(kMinSets, static_cast<std::int64_t>((program.size() + kStepsPerSet - 1) / kStepsPerSet));
  if (sets_ == 0) return;
  members_.resize(static_cast<std::size_t>(sets_));
  for (graph::StepIndex step = 0; step < program.size(); ++step) {
    members_[static_cast<std::size_t>(set_of(step))].push_back(step);
    if (moves_now && !is_blank(records_[step])) changed_.insert(set_of(step));
  }
}

void Records::read(const Value& statuses) {
  for (auto [name, value] : statuses.members()) {
    const auto step = program_.graph().find(name);
    if (!step) continue;
    auto record = json::decode<StepStatus>(value, "", {.allow_unknown = true});
    if (!record) continue;
    records_[*step] = std::move(*record);
    encoded_[*step] = value;
  }
}

StepStatus& Records::edit(graph::StepIndex step) {
  encoded_[step] = Value();
  if (sets_ > 0) changed_.insert(set_of(step));
  return records_[step];
}

const Value& Records::encoded(graph::StepIndex step) {
  if (encoded_[step].is_null()) {
    records_[step].complete = graph::is_terminal(records_[step].phase);
    encoded_[step] = json::encode(records_[step]);
  }
  return encoded_[step];
}

std::int64_t Records::set_of(graph::StepIndex step) const {
  return fnv1a_32(program_.name(step)) % static_cast<std::uint64_t>(sets_);
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
