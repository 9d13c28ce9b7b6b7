// One pass of decide(), as an object: the record as it becomes, and what comes out. The states are walked in roll.cc; a subject
// each has a source of its own: sizes.cc (who has how many pods, and what others did to that), batch.cc (a batch's work),
// traffic.cc, gates.cc, ending.cc (reverting, winding up). Functions that say `bool` answer: this is done, go on.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "delivery/wave/sets.h"

namespace slipway::delivery::wave {

class Pass : private Sets {
 public:
  Pass(const Settings& settings, const Record& record, const World& world) : Sets(settings, record, world), old_(record) {}
  Decision run();

 private:
  // roll.cc: states
  void walk();
  void count_new_pods();
  bool restarts();
  bool heeds_orders();
  bool yield();
  bool is_held();
  bool step();
  bool step_in_batches();
  bool may_begin();
  bool is_rescaled() const;
  bool verify_spec();
  bool initialize();
  void move(Event event);
  std::string progress_text() const;
  void fail(const std::string& why, Position (*to)(Position) = failing);
  bool wait(std::string on, std::string text, std::optional<Time> since = std::nullopt);
  /// That long after what was recorded, however the wall clock was set since.
  Time later(Time recorded, Duration time) const { return world_.now.present(recorded) + time; }
  void wake_at(Time at);
  bool is_urgent() const;

  // sizes.cc
  bool begin();
  void set_first_sizes(bool is_continued);
  bool owners_allow();
  bool follow_outside_resizes();
  bool follow_resize(SetRecord& set, const SetView& view, std::int64_t diff);
  bool follow_size_in_place();
  bool contest(SetRecord& set, const SetView& view);
  void emit_writes();
  void wait_for_writes();
  std::string kind_of_writes() const;
  bool counts_are_current();
  bool drain_sources(std::int64_t to, std::int64_t least_ready);
  std::int64_t take_from_sources(std::int64_t surplus, std::int64_t spare);
  std::vector<Batch> sizes() const;
  std::int64_t batch_count() const;
  void set_goals(std::int64_t begun_batches);

  // batch.cc: the current batch
  const RollBatch& batch() const;
  std::int64_t goal() const { return r_.goals[std::min(static_cast<std::size_t>(r_.current_batch), r_.goals.size() - 1)]; }
  std::int64_t goal_before() const;
  std::int64_t max_unavailable() const;
  bool is_last() const { return r_.current_batch + 1 >= batch_count(); }
  bool adds_no_pod() const { return goal() == goal_before(); }
  bool named_pods_are_there();
  bool roll();
  bool roll_increase_first();
  bool roll_decrease_first();
  bool roll_in_place();
  bool old_pods_are_removed();
  bool roll_scale();
  bool shift_early(std::int64_t& next);
  bool may_start();
  void plan_start();
  void note_planned_start();
  bool start_is_ahead() const;
  bool starts_later();
  bool verify();
  bool new_pods_ready(std::int64_t wanted);
  std::string ready_text(std::int64_t wanted) const;

  // traffic.cc
  std::int64_t batch_weight() const;
  bool drop_traffic();
  bool restore_traffic();
  bool shift_for_batch();
  bool shift_to(std::int64_t weight);
  bool is_drained();

  // gates.cc
  bool pass_gates(Moment at);
  bool pass_gate(const Gate& gate, const std::string& key);
  bool judge(const Gate& gate, GateRecord& record);
  bool ask_throughout();
  GateRecord& gate_record(const std::string& key);

  // ending.cc
  bool revert();
  bool revert_pair();
  struct RevertStep {
    std::int64_t stay;  // pods of the target after it
    bool is_old_first;  // old pods come before these go
  };
  RevertStep revert_step() const;
  void bring_back(std::int64_t to);
  bool finish_revert(std::int64_t wanted);
  bool lower_weight(std::int64_t wanted);
  bool undo();
  bool drop_surplus();
  bool wind_up();
  bool release();
  void forget_attempt(bool keeps_sets);
  void revert_after_end();
  void reclaim();

  const Record& old_;
  Decision out_;
  bool writes_ = false;  // sizes that do not stand on their objects yet are written at the end of the pass
};

}  // namespace slipway::delivery::wave
