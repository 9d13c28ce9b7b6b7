// What upstream's workload controllers did step by step (oam-workload-scenarios.json), played against decide(): the state
// before a call is set up, decide() takes its pass, and what the corpus says of sizes and of being done is compared.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <iostream>
#include <map>

#include "delivery/wave/corpus_test.h"
#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {
namespace {

/// Differences on purpose; at most five are allowed.
const std::map<std::string, std::string> kDifferences = {
    {"finalize one batch needs source+target == rolloutTargetSize",
     "upstream fails the rollout when somebody else has resized a workload; here T follows, or the size is put back"},
    {"scale down check ignores maxUnavailable",
     "20 % of 7 pods: upstream rounds each batch up (goal 9), here the sum (goal 10)"},
    {"finalize during decrease", "as the batch of the case before; a size beyond the goal is waited for, not an error"},
};

class Player {
 public:
  explicit Player(const json::Value& row, std::string_view group) : row_(row), is_scale_(group.ends_with("-scale")) {
    is_in_place_ = group.starts_with("cloneset");
    settings_.shape = is_in_place_ ? Shape::InPlace : is_scale_ ? Shape::Scale : Shape::Pair;
    if (row["strategy"].as_string() == "DecreaseFirst") settings_.strategy = Strategy::DecreaseFirst;
    for (const json::Value& value : row["batches"].items()) {
      settings_.batches.emplace_back().sizes.amount = parse_amount(value, "replicas").value();
    }
    settings_.batch_deadline = std::chrono::hours{1};
    record_.attempt = 1;
    if (const json::Value* size = row.find("targetSize")) settings_.target_size = size->as_int();
    total_ = number(row, "rolloutTargetSize", number(row, "size", number(row, "targetSize", 0)));
    begin(row["start"]);
  }

  std::string play() {
    if (const json::Value* batch = row_.find("currentBatch")) record_.current_batch = batch->as_int();
    std::size_t index = 0;
    for (const json::Value& step : row_["steps"].items()) {
      if (std::string wrong = one(step); !wrong.empty()) return fmt::format("step {}: {}", index, wrong);
      ++index;
    }
    return "";
  }

 private:
  static std::int64_t number(const json::Value& from, std::string_view key, std::int64_t otherwise) {
    const json::Value* found = from.find(key);
    return found == nullptr ? otherwise : found->as_int();
  }

  static SetView seen(const std::string& id, std::int64_t size, std::int64_t ready) {
    SetView view;
    view.id = view.uid = id;
    view.desired = view.present = view.stamped = size;
    view.ready = ready;
    view.stamp = 1;
    view.owner = Owner::Us;
    return view;
  }

  static SetRecord recorded(const SetView& view) {
    SetRecord set;
    set.id = view.id, set.uid = view.uid;
    set.original = set.written = set.before = view.desired;
    set.stamp = set.claim = 1, set.is_claimed = true;
    return set;
  }

  void begin(const json::Value& start) {
    const std::int64_t from = number(row_, "originalSize", 0);
    // A check alone has no sizes of its own: the batch is rolled as far as it goes.
    source_ = number(start, "source", -1);
    target_ = number(start, "target", is_scale_ ? from : 0);
    target_ready_ = number(start, "targetReady", target_);
    source_present_ = number(start, "sourceReplicas", -1);
  }

  /// Goals as decide() would have recorded them.
  void set_up(BatchState state) {
    std::vector<Batch> sizes;
    for (const RollBatch& batch : settings_.batches) sizes.push_back(batch.sizes);
    const std::int64_t from = is_scale_ ? number(row_, "originalSize", 0) : 0;
    record_.target_size = total_;
    record_.original_size = is_scale_ ? from : total_;
    record_.goals = goals(sizes, from, total_);
    record_.rolling = Rolling::RollingInBatches;
    record_.batch = state;
    const std::int64_t goal = record_.goals[static_cast<std::size_t>(record_.current_batch)];
    if (source_ < 0) source_ = is_scale_ || is_in_place_ ? 0 : total_ - goal;
    if (state == BatchState::Verifying) target_ = goal;
    SetView target = seen("target", is_in_place_ ? total_ : target_, target_ready_);
    if (is_in_place_) {
      target.updated = target.updated_ready = updated_ready_;
      target.asked_new = target.stamped = state == BatchState::Verifying ? goal : 0;
      target.ready = total_;
    }
    record_.target = recorded(target);
    if (is_in_place_) record_.target->written = target.asked_new;
    world_.target = target;
    world_.sources.clear();
    record_.sources.clear();
    if (is_scale_ || is_in_place_) return;
    SetView source = seen("source", source_, source_);
    if (source_present_ >= 0) source.present = source.ready = source_present_;
    record_.sources = {recorded(source)};
    record_.sources.front().original = std::max<std::int64_t>(1, source_);
    world_.sources = {source};
  }

  std::string one(const json::Value& step) {
    record_.current_batch = number(step, "currentBatch", record_.current_batch);
    if (const json::Value* at = step.find("setBatch")) {
      RollBatch& batch = settings_.batches[static_cast<std::size_t>((*at)["index"].as_int())];
      if (const json::Value* value = at->find("maxUnavailable")) batch.max_unavailable = parse_amount(*value, "").value();
      if (const json::Value* value = at->find("replicas")) batch.sizes.amount = parse_amount(*value, "").value();
    }
    if (const json::Value* seen_now = step.find("observe")) {
      target_ready_ = number(*seen_now, "targetReady", number(*seen_now, "ready", target_ready_));
      updated_ready_ = number(*seen_now, "updatedReady", updated_ready_);
      source_present_ = number(*seen_now, "sourceReplicas", source_present_);
    }
    const std::string_view call = step["call"].as_string();
    if (call == "RolloutOneBatchPods") return roll(step);
    if (call == "CheckOneBatchPods") return check(step);
    if (call == "Initialize") return initialize(step);
    if (call == "VerifySpec") return verify(step);
    return call.empty() ? "" : fmt::format("{} has no counterpart", call);
  }

  /// Passes until nothing more is decided on; workloads have the sizes at once, but not their pods.
  std::string roll(const json::Value& step) {
    set_up(BatchState::InRolling);
    settings_.partition = record_.current_batch;
    if (source_present_ < 0 && settings_.strategy == Strategy::DecreaseFirst && !world_.sources.empty()) {
      world_.sources[0].present = world_.sources[0].desired;
    }
    bool is_rolled = false;
    for (int pass = 0; pass < 8 && !is_rolled; ++pass) {
      const Decision decision = decide(settings_, record_, world_);
      record_ = decision.record;
      for (const Effect& effect : decision.effects) carry_out(effect);
      is_rolled = record_.batch != BatchState::InRolling;
    }
    target_ = is_in_place_ ? 0 : world_.target->desired;
    if (!world_.sources.empty()) source_ = world_.sources[0].desired;
    if (step["done"].as_bool() != is_rolled) return fmt::format("done is {}", is_rolled);
    const auto differs = [&](std::string_view key, std::int64_t made) {
      const json::Value* wanted = step.find(key);
      return wanted != nullptr && wanted->as_int() != made;
    };
    if (differs("source", source_)) return fmt::format("the source has {}", source_);
    if (differs("target", target_)) return fmt::format("the target has {}", target_);
    if (is_rolled && differs("upgradedReplicas", record_.upgraded)) return fmt::format("{} are upgraded", record_.upgraded);
    if (differs("partition", world_.target->desired - world_.target->asked_new)) return "another partition";
    return "";
  }

  void carry_out(const Effect& effect) {
    SetView& view = effect.set == "target" ? *world_.target : world_.sources[0];
    if (effect.kind == Effect::Kind::Renew) view.asked_new = effect.number;
    if (effect.kind == Effect::Kind::Resize || effect.kind == Effect::Kind::Claim) view.desired = effect.number;
    if (effect.kind == Effect::Kind::Claim) view.owner = Owner::Us;
    view.stamp = effect.stamp, view.stamped = effect.number;
  }

  std::string check(const json::Value& step) {
    set_up(BatchState::Verifying);
    if (settings_.strategy == Strategy::IncreaseFirst && !is_scale_ && !is_in_place_) world_.target->ready = target_;
    const Decision decision = decide(settings_, record_, world_);
    const bool is_done = decision.record.batch != BatchState::Verifying || decision.record.rolling != Rolling::RollingInBatches;
    return is_done == step["done"].as_bool() ? "" : fmt::format("done is {}", is_done);
  }

  void set_up_start(bool is_settled) {
    record_ = {};
    SetView target = seen("target", target_, target_ready_), source = seen("source", source_, source_);
    target.owner = source.owner = Owner::Nobody;
    target.stamp = source.stamp = 0;
    if (!is_settled) source.present = source.ready = source_present_;
    world_.target = target;
    world_.sources = {source};
  }

  std::string initialize(const json::Value& step) {
    settings_.target_size = total_;
    set_up_start(true);
    const Decision decision = decide(settings_, record_, world_);
    for (const Effect& effect : decision.effects) carry_out(effect);
    const bool is_same =
        world_.target->desired == step["target"].as_int() && world_.sources[0].desired == step["source"].as_int();
    if (!is_same) return fmt::format("{} and {}", world_.sources[0].desired, world_.target->desired);
    return world_.target->owner == Owner::Us && world_.sources[0].owner == Owner::Us ? "" : "not claimed";
  }

  std::string verify(const json::Value& step) {
    if (const json::Value* size = step.find("targetSize")) settings_.target_size = size->as_int();
    set_up_start(source_present_ < 0 || source_present_ == source_);
    const Decision decision = decide(settings_, record_, world_);
    const bool is_done = decision.record.rolling != Rolling::VerifyingSpec && decision.record.rolling != Rolling::Failed;
    const bool fits = !decision.record.failure.contains("the batches make");
    if (step.has("errorNotContains")) return fits ? "" : decision.record.failure;
    if (step["errorContains"].as_string() == "batch size mismatch") return fits ? "the batches are accepted" : "";
    const std::int64_t total = number(step, "rolloutTargetSize", decision.record.target_size);
    if (total != decision.record.target_size) return fmt::format("T is {}", decision.record.target_size);
    return is_done == step["done"].as_bool() ? "" : fmt::format("done is {}: {}", is_done, decision.record.failure);
  }

  const json::Value& row_;
  bool is_scale_, is_in_place_ = false;
  Settings settings_;
  Record record_;
  World world_;
  std::int64_t total_ = 0, source_ = -1, target_ = 0, target_ready_ = 0, source_present_ = -1, updated_ready_ = 0;
};

TEST(CorpusScenarios, workloads_are_edited_as_recorded) {
  const json::Value file = corpus("oam-workload-scenarios.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0, different = 0;
  for (const json::Value& one : file["groups"].items()) {
    for (const json::Value& row : one["cases"].items()) {
      ++all;
      const std::string wrong = Player(row, one["id"].as_string()).play();
      const auto known = kDifferences.find(row["name"].str());
      if (wrong.empty()) {
        ++passed;
        EXPECT_TRUE(known == kDifferences.end()) << row["name"].as_string() << " passes: take it off the list";
      } else if (known != kDifferences.end()) {
        ++different;
        std::cout << "  differs: " << known->first << ": " << known->second << " (" << wrong << ")\n";
      } else {
        ADD_FAILURE() << row["name"].as_string() << ": " << wrong;
      }
    }
  }
  std::cout << "rollouts/oam-workload-scenarios " << passed << "/" << all << " (" << different << " differ on purpose)\n";
  EXPECT_LE(different, 5u);
}

}  // namespace
}  // namespace slipway::delivery::wave
