// One reconcile of one rollout: read, look, decide, record, carry out. It may be cut off anywhere and made again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.h"
#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/probe/probe.h"
#include "delivery/rollout/behind.h"
#include "delivery/rollout/services.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/status.h"
#include "delivery/rollout/wanted.h"
#include "delivery/rollout/workload_cache.h"

namespace slipway::delivery::rollout {

/// What is kept between the reconciles of a rollout that is under way.
struct Memory {
  std::string uid;
  wave::Record recorded;                            // as the status has it
  wave::Record record;                              // as it was decided on last: only counts and times are newer
  std::map<std::string, wave::GateAnswer> answers;  // by key: not recorded yet
  std::map<std::string, Revision> revisions;        // that were read
  SpecRead spec{};
  json::Value stored{};  // the status that `status` was read from
  RolloutStatus status{};
  TemplateRevision target_revision{};
  std::map<std::string, OpenGate> open;                      // by key: newer than status.openGates
  std::map<std::string, std::vector<gate::Sample>> samples;  // by key, of metrics
  std::vector<gate::LogEntry> verdicts;                      // likewise
  std::optional<std::int64_t> weight;                        // that was seen last on the objects of the traffic, and since when
  Steady weight_since{};
  std::optional<Steady> restored;  // when routes were given back
  bool is_loaded = false;          // `open` was read from the status
  std::uint64_t wall_steps = 0;    // of the wall clock, when `open` was last looked at
  Behind behind{};                 // the status, in what only counts
  bool lacks_right = false;        // the author, in the last pass: what it was to do is still undone
};

struct PassTools {
  Env& env;
  WallSteps& wall;
  HttpClient* http;  // may be null
  WorkloadCache& workloads;
  kube::Resource resource;  // of the rollout
  ActsAs acts_as = ActsAs::User;
};

/// "Pair", and back; Pair where nothing is known.
std::string_view name_of(wave::Shape shape);
wave::Shape shape_named(std::string_view name);
/// status.conditions as the rest of the status has it.
std::vector<RolloutCondition> conditions_of(const RolloutStatus& status, Time now);

class Pass {
 public:
  Pass(PassTools tools, control::Reconcile& run, kube::Object rollout, Memory& memory);

  /// What the author may not do is waited for: the status names the right, and it is tried again within kRightPause.
  Task<control::Outcome> run();
  /// It has ended, and nothing is remembered of it.
  bool is_idle() const { return is_idle_; }

 private:
  // Looking: pass.cc.
  std::shared_ptr<const kube::UserInfo> identity() const;
  Task<control::Outcome> run_as_author();
  void remember();
  Task<Result<void>> look();
  Task<Result<Workload>> find(ObjectReference reference);
  std::vector<ObjectReference> old_references() const;
  wave::Shape choose_shape() const;
  std::string unsupported_kind() const;
  Task<Result<void>> report_faulty_rows();
  bool is_abandoned() const;
  bool has_yielded() const;
  std::optional<std::int64_t> first_size() const;
  Result<RolloutStatus> stored_status();
  wave::World world();
  std::vector<std::string> absent_pods(const wave::World& seen) const;
  void follow();
  bool is_at_rest() const;
  bool is_target_missing() const;
  bool asks(std::string_view request, const std::string& heeded) const;

  // Making what revisions consist of: pass_make.cc.
  Task<Result<void>> make_target();
  /// Whether the spec names a target that no attempt has taken up yet.
  bool is_target_asked() const;
  Task<Result<json::Value>> find_live(kube::Resource resource, kube::ObjectKey key);
  Task<Result<void>> apply_objects(std::vector<json::Value> objects);
  Task<Result<void>> remove_objects(std::vector<json::Value> objects);
  Task<Result<void>> complete();
  Task<Result<void>> record_target();
  Task<Result<std::string>> ask_owner_to_yield();
  Task<Result<kube::Object>> take_fields(kube::Resource resource, kube::Object live);

  // Copies of configuration: pass_config.cc.
  Task<Result<json::Value>> with_copies(json::Value workload);
  Task<Result<void>> freeze_target();

  // Traffic: pass_traffic.cc.
  /// What is written on now: that of the attempt under way, or the plan's. Null: none is moved.
  const Traffic* traffic() const;
  bool drops_traffic() const;
  Task<Result<void>> look_at_traffic();
  Task<Result<void>> drop_void_marks();
  Route route() const;
  Labels source_labels() const;
  Labels target_labels() const;
  Split split_of(std::int64_t weight, std::int64_t batch) const;
  wave::TrafficView traffic_view();
  Task<Result<void>> shift_traffic(wave::Effect effect);
  Duration given_back_after() const;
  Task<Result<void>> restore_traffic(std::int64_t weight);
  Task<Result<void>> write_all(std::vector<Change> changes);

  // Deciding: pass.cc.
  Task<control::Outcome> decide_and_do();
  wave::Decision decide();
  void note_behind(const json::Value& wanted);
  bool is_news(const wave::Decision& decision, const RolloutStatus& next) const;
  Task<Result<bool>> target_is_known();
  std::optional<Duration> next_look(std::optional<Time> wake) const;
  Task<control::Outcome> let_go();
  bool is_let_go() const;
  bool undoes_after_end() const;
  Task<control::Outcome> hold(std::string on, std::string text);
  Task<control::Outcome> hold_for(std::string on, Status missing);
  Task<Result<void>> write(json::Value status);

  // What the status becomes: pass_status.cc.
  RolloutStatus next_status(const wave::Decision& decision) const;
  void note_attempt(RolloutStatus& next, Time now) const;
  void note_traffic(RolloutStatus& next, const wave::Decision& decision) const;
  void add_snapshots(RolloutStatus& next, bool is_new_attempt) const;
  void heed(RolloutStatus& next) const;

  // Doing: pass_effects.cc, pass_gates.cc.
  Task<Result<void>> carry_out(std::vector<wave::Effect> effects);
  bool is_replaced(const std::string& set);
  Task<Result<void>> edit(std::string set, Edit edit);
  Task<Result<kube::Object>> patch_workload(Workload workload, json::Value patch);
  Task<Result<void>> remove_pods(std::vector<std::string> names);
  Task<Result<void>> undo(std::string set);
  Task<Result<void>> mark_pods(wave::Effect effect);
  Task<Result<void>> tell(std::vector<std::string> news);
  Task<> notify(std::vector<std::string> news);
  Task<Result<void>> ask(std::string key);
  probe::Question question(const std::string& key, const gate::GateSpec& spec) const;
  void take_answer(const std::string& key, const gate::GateSpec& spec, const probe::Answer& answer);
  Workload* find_set(const std::string& id);

  PassTools tools_;
  control::Reconcile& run_;
  kube::Object rollout_;
  control::ActingClient author_;  // the home cluster as the rollout's author: for what its spec names
  Memory& memory_;
  RolloutStatus status_{};
  Wanted wanted_{};
  PlanSettings plan_{};
  std::optional<Workload> target_{};
  std::vector<Workload> sources_{};  // oldest first
  Objects traffic_objects_{};
  std::set<WorkloadCache::Looked> traffic_followed_{};
  std::string held_back_{};          // why the attempt that the spec asks for must not begin yet; empty: it may
  std::optional<Steady> settles_{};  // when a weight counts as accepted, or Services that were made may go
  bool is_idle_ = false;
  int rounds_ = 0;
};

}  // namespace slipway::delivery::rollout
