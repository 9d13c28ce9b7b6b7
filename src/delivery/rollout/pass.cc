#include "delivery/rollout/pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/author_right.h"
#include "control/events.h"
#include "control/object_writes.h"
#include "delivery/rollout/application_template.h"
#include "delivery/rollout/kind.h"

namespace slipway::delivery::rollout {

using control::Outcome;
using json::Value;
using kube::Object;

namespace {

/// What is named (a revision, a ConfigMap) may be written a little later.
constexpr Duration kMissingPause = std::chrono::seconds{5};
constexpr Duration kCachePause = std::chrono::seconds{1};  // a cache is on its way

constexpr int kMostRounds = 3;  // of asking gates in one reconcile

ObjectReference reference_of(const Snapshot& snapshot) {
  return {.api_version = snapshot.api_version, .kind = snapshot.kind, .name = snapshot.name, .ns = "", .uid = ""};
}

void for_times(wave::Record& record, const std::function<void(std::optional<Time>&)>& visit) {
  for (std::optional<Time>* time : {&record.weight_accepted, &record.batch_started, &record.last_start}) visit(*time);
  for (wave::GateRecord& gate : record.gates) {
    visit(gate.since);
    visit(gate.ended);
  }
}

constexpr std::string_view kGate = "gate ";  // a wait for one begins so

/// A status but for how often the gates that are asked now were asked, what they said last, when they will be asked again, and
/// new pods of a batch that are not ready yet: the wait for them is recorded with the size that was decided on.
Value without_asking(const Value& status) {
  Value gates = status["gates"], waits = status["waits"], conditions = status["conditions"];
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const Value& gate = gates.item(i);
    if (gate["state"].as_string() == "Asked")
      gates = gates.with_item(i, gate.without("tries").without("text").without("noData"));
  }
  bool waits_for_gate = false;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (!waits.item(i)["on"].as_string().starts_with(kGate)) continue;
    waits = waits.with_item(i, waits.item(i).without("text"));
    waits_for_gate = true;
  }
  for (std::size_t i = 0; waits_for_gate && i < conditions.size(); ++i) {  // they repeat it
    conditions = conditions.with_item(i, conditions.item(i).without("message"));
  }
  return status.without("openGates")
      .without("upgradedReplicas")
      .with("gates", gates)
      .with("waits", waits)
      .with("conditions", conditions);
}

/// What holds the rollout: people look for it.
std::string hold_of(const RolloutStatus& status) {
  const auto holds = std::ranges::find(status.conditions, "Holding", &RolloutCondition::type);
  return holds == status.conditions.end() ? "" : holds->status + holds->reason;
}

/// The same with each gate that is waited for, and whether it has answered.
std::string hold_of(const Value& status) {
  std::string text;
  for (const Value& one : status["conditions"].items()) {
    if (one["type"].as_string() == "Holding") text = one["status"].str() + one["reason"].str();
  }
  for (const Value& wait : status["waits"].items()) {
    const bool has_answered = wait["text"].as_string() != wave::kNoAnswerYet;
    if (wait["on"].as_string().starts_with(kGate)) text += fmt::format(" {} {}", wait["on"].as_string(), has_answered);
  }
  return text;
}

/// As long as it takes, pods that are not ready would be a false cause.
bool waits_for_drain(const Value& status) {
  return std::ranges::any_of(status["waits"].items(), [](const Value& wait) { return wait["on"].as_string() == "drain"; });
}

}  // namespace

Pass::Pass(PassTools tools, control::Reconcile& run, Object rollout, Memory& memory)
    : tools_(tools), run_(run), rollout_(std::move(rollout)), author_(run_.client, identity()), memory_(memory) {}

/// Whom the rollout acts as; null: the process.
std::shared_ptr<const kube::UserInfo> Pass::identity() const { return author_of(kAuthor, rollout_, tools_.acts_as); }

Task<Outcome> Pass::run() {
  Outcome outcome = co_await run_as_author();
  const auto author = identity();
  const bool lacks_right = outcome.kind == Outcome::Kind::Failed && control::lacks_right(outcome.error, author.get());
  const bool had_it = !std::exchange(memory_.lacks_right, lacks_right);
  if (!had_it && outcome.kind == Outcome::Kind::Settled)
    co_return Outcome::retries_after(kCachePause);  // to say that it goes on
  if (!lacks_right) co_return outcome;
  // batchDeadlineSeconds limits the pods, not the missing right: the deadline starts again on every refused pass.
  if (status_.batch_started) memory_.record.batch_started = status_.batch_started = tools_.env.clock.now();
  outcome = co_await hold(control::lacks_right_cause(*author), control::lacks_right_text(outcome.error, *author));
  co_return outcome.kind == Outcome::Kind::Settled ? Outcome::retries_after(control::kAuthorRightPause) : outcome;
}

Task<Outcome> Pass::run_as_author() {
  auto status = stored_status();
  if (!status) co_return Outcome::failed(std::move(status).error());
  status_ = std::move(*status);
  remember();
  auto wants = co_await find_wanted({run_.client, author_, tools_.workloads, tools_.acts_as, memory_.revisions, memory_.spec},
                                    rollout_, status_);
  if (!wants && wants.error().reason == Reason::Forbidden) co_return Outcome::failed(wants.error());
  if (!wants) co_return co_await hold_for("spec", wants.error());
  wanted_ = std::move(*wants);
  // Others than the rollout's author had a say in what is applied: it is done with the rights of all.
  if (const auto user = identity(); user != nullptr && !wanted_.authors.empty()) {
    const std::string_view ns = wanted_.is_as_rendered ? std::string_view() : std::string_view(run_.key.ns);
    author_.act_as(std::make_shared<const kube::UserInfo>(narrowed(*user, ns, wanted_.authors)));
  }
  if (auto looked = co_await look(); !looked) co_return Outcome::failed(std::move(looked).error());
  if (is_target_missing()) memory_.revisions.clear();  // perhaps it went with its revision: that is read anew
  ApplicationTemplate application(author_, rollout_, is_target_asked() ? wanted_.application : Value());
  const auto taken = co_await application.take();
  if (!taken && taken.error().reason == Reason::NotFound) co_return co_await hold_for("template", taken.error());
  if (!taken) co_return Outcome::failed(taken.error());
  const auto turn = co_await application.await_turn(wanted_.target_name);
  if (!turn && turn.error().reason != Reason::NotFound) co_return Outcome::failed(turn.error());
  if (!turn && is_at_rest()) {
    follow();
    co_return co_await hold_for("application", turn.error());
  }
  held_back_ = turn ? "" : turn.error().message;
  auto owned = co_await ask_owner_to_yield();
  if (!owned) co_return Outcome::failed(std::move(owned).error());
  if (!owned->empty()) {
    follow();
    co_return co_await hold("owner", *owned);
  }
  auto made = co_await make_target();
  if (made && !target_->object.is_null()) made = co_await application.release();
  if (made) made = co_await freeze_target();
  if (!made && made.error().reason == Reason::NotFound) co_return co_await hold_for("config", made.error());
  if (!made) co_return Outcome::failed(made.error());
  if (auto done = co_await complete(); !done) co_return Outcome::failed(std::move(done).error());
  if (auto looked = co_await look_at_traffic(); !looked) co_return co_await hold("traffic", looked.error().message);
  follow();
  if (kube::is_deleting(rollout_) && is_let_go()) co_return co_await let_go();
  if (auto reported = co_await report_faulty_rows(); !reported) co_return Outcome::failed(std::move(reported).error());
  if (target_->row == nullptr && is_at_rest()) {
    tools_.workloads.await_row(run_.key);
    co_return co_await hold("target", unsupported_kind());
  }
  // Whether it has old pods, its own controller must say first.
  const bool is_unseen = is_at_rest() && target_->row != nullptr && !target_->object.is_null() &&
                         target_->row->alone != wave::Shape::Scale && !view_of(*target_, "").is_current;
  if (is_unseen) co_return co_await hold(target_->id, fmt::format("the controller of {} has not seen it yet", target_->id));
  const wave::Shape shape = choose_shape();
  auto plan = read_plan(wanted_.plan, shape);
  if (!plan) co_return co_await hold("spec", plan.error().message);
  plan_ = std::move(*plan);
  plan_.settings.first_size = first_size();
  plan_.settings.drops_traffic = drops_traffic();
  if (status_.held_traffic && !is_at_rest()) plan_.settings.has_traffic = true;  // what is under way goes on as it began
  if (has_yielded()) {
    plan_.settings.is_paused = plan_.settings.reverts_on_delete = false;
    plan_.settings.on_failure = wave::OnFailure::Stop;
    plan_.settings.leaves_whole = true;
  }
  status_.shape = std::string(name_of(shape));
  co_return co_await decide_and_do();
}

std::string Pass::unsupported_kind() const {
  std::string text =
      fmt::format("unsupported workload kind {}; describe it in a ConfigMap of namespace {} labelled {}: \"true\"",
                  target_->kind.kind, kRowNamespace, kRowLabel);
  for (const auto& [map, fault] : tools_.workloads.row_faults()) {
    text += fmt::format("; ConfigMap {} cannot be used: {}", map.to_string(), fault);
  }
  return text;
}

Task<Result<void>> Pass::report_faulty_rows() {
  for (const Object& map : tools_.workloads.take_faulty_rows()) {
    const auto fault = tools_.workloads.row_faults().find(kube::key_of(map));
    if (fault == tools_.workloads.row_faults().end()) continue;
    control::EventText event;
    event.type = "Warning";
    event.reason = "InvalidWorkloadRow";
    event.message = fmt::format("it describes no kind for rollouts: {}", fault->second);
    event.instance = event.message;
    auto recorded = co_await control::record_event(tools_.env, run_.client, map, std::move(event), std::string(kFieldManager));
    const bool is_going =
        !recorded && (recorded.error().reason == Reason::Forbidden || recorded.error().reason == Reason::NotFound);
    if (!recorded && !is_going) co_return fail(std::move(recorded).error());
  }
  co_return Result<void>{};
}

Result<RolloutStatus> Pass::stored_status() {
  const Value stored = rollout_["status"].is_null() ? Value::empty_object() : rollout_["status"];
  if (!memory_.stored.is_same(stored)) {
    SLIPWAY_TRY(status, json::decode<RolloutStatus>(stored, "status", {.allow_unknown = true}));
    memory_.stored = stored;
    memory_.status = std::move(status);
  }
  return memory_.status;
}

/// What was decided on last goes on where it is, as long as no other writer has changed the status.
void Pass::remember() {
  const wave::Record& stored = status_;
  if (!memory_.is_loaded || !(memory_.recorded == stored)) {
    memory_.recorded = memory_.record = stored;
    memory_.open.clear();
    for (const OpenGate& gate : status_.open_gates) memory_.open[gate.key] = gate;
    memory_.is_loaded = true;
  }
  static_cast<wave::Record&>(status_) = memory_.record;
  // When a gate is asked again was said by a clock that was set since: it is asked now.
  const std::uint64_t steps = tools_.wall.now().steps();
  if (std::exchange(memory_.wall_steps, steps) == steps) return;
  for (auto& [key, gate] : memory_.open) gate.next.reset();
}

Task<Result<Workload>> Pass::find(ObjectReference reference) {
  SLIPWAY_CO_TRY(kind,
                 kube::GroupVersionKind::of(json::object({{"apiVersion", reference.api_version}, {"kind", reference.kind}})));
  SLIPWAY_CO_TRY(found, co_await tools_.workloads.find(run_.client, kind, {run_.key.ns, reference.name}));
  if (!reference.uid.empty() && reference.uid != kube::uid(found.object)) found.object = Object();
  co_return found;
}

/// The workloads of the present attempt, oldest first; of one that succeeded none, for it has let go of them.
std::vector<ObjectReference> Pass::old_references() const {
  std::vector<ObjectReference> all;
  if (status_.rolling == wave::Rolling::Succeeded) return all;
  const auto add = [&](const std::string& id) {
    const auto known = std::ranges::find(status_.snapshots, id, &Snapshot::id);
    if (known != status_.snapshots.end()) all.push_back(reference_of(*known));
  };
  for (const wave::SetRecord& source : status_.sources) add(source.id);
  if (status_.target) add(status_.target->id);
  return all;
}

Task<Result<void>> Pass::look() {
  SLIPWAY_CO_TRY(target, co_await find(wanted_.target));
  target_ = std::move(target);
  std::vector<ObjectReference> references = old_references();
  references.insert(references.end(), wanted_.sources.begin(), wanted_.sources.end());
  for (const ObjectReference& one : references) {
    SLIPWAY_CO_TRY(source, co_await find(one));
    const bool is_known = source.id == target_->id || std::ranges::find(sources_, source.id, &Workload::id) != sources_.end();
    if (is_known || source.object.is_null() || source.row == nullptr) continue;
    sources_.push_back(std::move(source));
  }
  co_return Result<void>{};
}

void Pass::follow() {
  const bool is_over = status_.position().is_end();
  std::set<WorkloadCache::Looked> looked = traffic_followed_;
  const auto add = [&](const Workload& workload, const ObjectReference* reference) {
    const std::string name = reference != nullptr ? reference->name : std::string(kube::name(workload.object));
    const auto resource = tools_.workloads.known_resource(workload.kind);
    if (!resource) return;
    const std::string uid = is_over ? "" : std::string(kube::uid(workload.object));
    looked.insert({*resource, {run_.key.ns, name}, uid});
  };
  add(*target_, &wanted_.target);
  for (const Workload& source : sources_) add(source, nullptr);
  tools_.workloads.follow(run_.key, std::move(looked));
}

/// No attempt is under way: what begins next may have another shape.
bool Pass::is_at_rest() const { return status_.position().is_end() || status_.rolling == wave::Rolling::LocatingTarget; }

/// Of a revision: what was made of it has gone in the midst of an attempt.
bool Pass::is_target_missing() const {
  return !is_at_rest() && target_->object.is_null() && !wanted_.target_name.empty() && kube::kind(rollout_) != kTraitKind.kind;
}

/// Another deliverer has asked for what this target's attempt works on: the rollout makes nothing of it any more.
bool Pass::has_yielded() const {
  return is_asked_to_yield(rollout_, status_.attempt) && status_.last_target_revision == wanted_.target_name;
}

/// Another target is asked for in the midst of an attempt: with it another one begins.
bool Pass::is_abandoned() const {
  return status_.rolling == wave::Rolling::Abandoning || (status_.target && status_.target->id != target_->id);
}

wave::Shape Pass::choose_shape() const {
  const WorkloadRow* row = target_->row;
  if (row == nullptr || !(is_at_rest() || is_abandoned())) return shape_named(status_.shape);
  if (row->with_sources == wave::Shape::Pair && !sources_.empty()) return wave::Shape::Pair;
  if (row->alone == wave::Shape::InPlace && !has_old_pods(*target_)) return wave::Shape::Scale;
  return row->alone;
}

wave::World Pass::world() {
  wave::World seen{.now = tools_.wall.now(),
                   .target_revision = memory_.target_revision.of(*target_),
                   .target = {},
                   .target_id = target_->id,
                   .sources = {}};
  const auto view = [&](const Workload& workload) {
    const auto known = std::ranges::find(status_.snapshots, workload.id, &Snapshot::id);
    const bool is_by_label = status_.is_reverting && known != status_.snapshots.end();
    wave::SetView made = view_of(workload, kube::uid(rollout_), is_by_label ? known->new_label : "");
    const bool is_mixed = workload.row->alone == wave::Shape::InPlace || workload.row->alone == wave::Shape::Replace;
    made.can_be_undone = is_mixed && known != status_.snapshots.end() && known->fields.contains(workload.row->template_path);
    return made;
  };
  if (!target_->object.is_null()) seen.target = view(*target_);
  for (const Workload& source : sources_) seen.sources.push_back(view(source));
  seen.absent_pods = absent_pods(seen);
  seen.traffic = traffic_view();
  seen.answers = memory_.answers;
  seen.held_back = held_back_;
  seen.is_deleted = kube::is_deleting(rollout_);
  // Between attempts `target_` is the abandoned one (remembered()), which may well exist; the one asked for does not.
  seen.is_gone = wanted_.is_gone && (target_->object.is_null() || !status_.target);
  seen.aborts = asks(kAbortRequest, status_.heeded.abort);
  seen.reverts = asks(kRevertRequest, status_.heeded.revert);
  seen.retries = asks(kRetryRequest, status_.heeded.retry);
  const auto yields = kube::annotation(rollout_, kYieldRequest);
  const bool yields_now = is_asked_to_yield(rollout_, status_.attempt) && yields != status_.heeded.yield;
  // What failed before it began has recorded no target by which another would be known.
  seen.retries |= status_.rolling == wave::Rolling::Failed && !status_.target && !status_.last_target_revision.empty() &&
                  status_.last_target_revision != wanted_.target_name;
  if (yields_now) seen.yields_to = yields.substr(0, yields.rfind('@'));
  return seen;
}

/// Of kinds whose pods are not their own nothing is known.
std::vector<std::string> Pass::absent_pods(const wave::World& seen) const {
  std::vector<std::string> absent, old_pods;
  for (const wave::RollBatch& batch : plan_.settings.batches) std::ranges::copy(batch.sizes.pods, std::back_inserter(absent));
  if (absent.empty()) return absent;
  const bool is_pair = shape_named(status_.shape) == wave::Shape::Pair;
  if (!is_pair && seen.target) old_pods = seen.target->old_pods;
  for (const Workload& workload : is_pair ? sources_ : std::vector{*target_}) {
    if (workload.row == nullptr || !workload.row->ready.empty()) return {};
    if (is_pair) std::ranges::copy(pod_names(workload), std::back_inserter(old_pods));
  }
  std::erase_if(absent, [&](const std::string& name) { return std::ranges::find(old_pods, name) != old_pods.end(); });
  return absent;
}

bool Pass::asks(std::string_view request, const std::string& heeded) const {
  const auto id = kube::annotation(rollout_, request);
  return !id.empty() && id != heeded;
}

/// Times of the record were written under the wall clock as it was then; the roll reckons with what it would have shown as it
/// is set now. Those that it leaves as they are stay as they were written.
wave::Decision Pass::decide() {
  const Now now = tools_.wall.now();
  wave::Record record = memory_.record;
  std::map<Time, Time> written;  // by what it is taken for
  for_times(record, [&](std::optional<Time>& time) {
    if (!time) return;
    const Time present = now.present(*time);
    written[present] = *time;
    time = present;
  });
  wave::World seen = world();
  seen.now = now;
  wave::Decision decision = wave::decide(plan_.settings, record, seen);
  for_times(decision.record, [&](std::optional<Time>& time) {
    if (!time) return;
    if (const auto known = written.find(*time); known != written.end()) time = known->second;
  });
  return decision;
}

/// The record is durable before what it decides is carried out; what only counts pods may wait for the next such write, and how
/// often gates were asked still longer: after a crash they are asked again all the same.
Task<Outcome> Pass::decide_and_do() {
  const wave::Decision decision = decide();
  // What an attempt is at is looked up: a cache may not have seen yet what the rollout was written for.
  if (decision.record.attempt != memory_.recorded.attempt) {
    auto is_known = co_await target_is_known();
    if (!is_known) co_return Outcome::failed(std::move(is_known).error());
    if (!*is_known) co_return Outcome::retries_after(kCachePause);
  }
  RolloutStatus next = next_status(decision);
  // "Works only once": what becomes of the pods of a rollout that is over is no news.
  const bool was_over = memory_.recorded.position().is_end() && decision.record.position().is_end();
  if (was_over && decision.effects.empty() && !decision.is_urgent) next.upgraded_ready = memory_.recorded.upgraded_ready;
  const Value wanted = json::encode(next);
  const Steady now = tools_.env.clock.steady();
  const bool is_held_anew = hold_of(next) != hold_of(status_);
  note_behind(wanted);
  const bool is_due = memory_.behind && (memory_.behind.due() <= now || decision.record.position().is_end());
  const bool is_urgent = decision.is_urgent || !(next.heeded == status_.heeded) ||
                         next.snapshots.size() != status_.snapshots.size() ||
                         next.observed_generation != status_.observed_generation || (is_held_anew && is_news(decision, next));
  if (is_due || (is_urgent && memory_.behind)) {
    if (auto written = co_await write(wanted); !written) co_return Outcome::failed(std::move(written).error());
    memory_.recorded = decision.record;
    memory_.verdicts.clear();
    memory_.behind.reset();
  }
  memory_.record = decision.record;  // not before: what could not be written is decided on again
  memory_.answers.clear();
  if (decision.has_dropped_traffic) memory_.restored.reset();
  status_ = next;
  auto told = co_await tell(decision.news);
  if (!told) co_return Outcome::failed(std::move(told).error());
  auto done = co_await carry_out(decision.effects);
  if (!done) co_return Outcome::failed(std::move(done).error());
  co_await notify(decision.news);
  // What gates said at once is judged now; but what was written is waited for first.
  const bool has_only_asked =
      std::ranges::all_of(decision.effects, [](const wave::Effect& effect) { return effect.kind == wave::Effect::Kind::Ask; });
  if (has_only_asked && !memory_.answers.empty() && ++rounds_ < kMostRounds) co_return co_await decide_and_do();
  is_idle_ = decision.record.position().is_end() && decision.effects.empty() && !memory_.behind;
  if (kube::is_deleting(rollout_) && decision.effects.empty() && is_let_go()) {
    if (auto completed = co_await complete(); !completed) co_return Outcome::failed(std::move(completed).error());
    co_return co_await let_go();
  }
  std::optional<Duration> again = next_look(decision.wake);
  if (const auto due = memory_.behind.due()) {
    const Duration left = std::max<Duration>(*due - now, Duration{1});
    again = again ? std::min(*again, left) : left;
  }
  if (is_target_missing() || !held_back_.empty()) again = std::min(again.value_or(kMissingPause), kMissingPause);
  co_return again ? Outcome::retries_after(*again) : Outcome::settled();
}

/// Since when the status is behind in something that is told that soon.
void Pass::note_behind(const Value& wanted) {
  const Value& stored = rollout_["status"];
  if (wanted == stored) {
    memory_.behind.reset();
    return;
  }
  const std::string hold = hold_of(wanted);
  const bool has_untold_hold = hold.starts_with("True") && hold != hold_of(stored);
  const bool has_untold_drain = waits_for_drain(wanted) && !waits_for_drain(stored);
  const Duration pause = has_untold_hold || has_untold_drain                ? kHoldPause
                         : without_asking(wanted) == without_asking(stored) ? kAskingPause
                                                                            : kCountPause;
  memory_.behind.note(tools_.env.clock.steady(), pause);
}

/// Whether what holds it now is told at once: it does not but when people, or time, can end it.
bool Pass::is_news(const wave::Decision& decision, const RolloutStatus& next) const {
  const bool is_held = hold_of(next).starts_with("True");
  const bool is_by_traffic = std::ranges::find(next.waits, "traffic", &Wait::on) != next.waits.end();
  if (!is_held || is_by_traffic) return false;
  if (hold_of(next) != "TrueGate") return true;
  return std::ranges::any_of(decision.effects, [&](const wave::Effect& effect) {
    const gate::GateSpec* spec = effect.kind == wave::Effect::Kind::Ask ? plan_.find_gate(effect.key) : nullptr;
    return spec != nullptr && (spec->approval || spec->window);
  });
}

Task<Result<bool>> Pass::target_is_known() {
  const auto resource = tools_.workloads.known_resource(target_->kind);
  if (!resource || target_->object.is_null()) co_return true;
  auto live = co_await client::get(author_, *resource, {run_.key.ns, std::string(kube::name(target_->object))});
  if (!live && live.error().reason != Reason::NotFound) co_return fail(std::move(live).error());
  if (!live) co_return false;
  const bool is_same = kube::uid(*live) == kube::uid(target_->object);
  co_return is_same&& kube::generation(*live) == kube::generation(target_->object);
}

/// When nothing changes before: what the roll asks for, and gates that are asked again.
std::optional<Duration> Pass::next_look(std::optional<Time> wake) const {
  if (!memory_.answers.empty()) return Duration{0};
  const Now now = tools_.wall.now();
  std::optional<Time> at = wake;
  for (const auto& [key, gate] : memory_.open) {
    if (!gate.next) continue;
    const Time next = now.present(*gate.next);
    at = at ? std::min(*at, next) : next;
  }
  std::optional<Duration> left;
  if (at) left = *at - now.time();
  if (settles_) left = std::min(left.value_or(Duration::max()), *settles_ - tools_.env.clock.steady());
  return left ? std::optional(std::max(*left, Duration{1})) : std::nullopt;
}

/// Nothing of what it claimed is still its own.
bool Pass::is_let_go() const {
  const bool is_before = status_.rolling == wave::Rolling::LocatingTarget || status_.rolling == wave::Rolling::VerifyingSpec;
  const bool is_over = status_.position().is_end() || (is_before && !status_.held_traffic);
  const auto has = [&](const Workload& workload) {
    return !workload.object.is_null() && kube::controller_of(workload.object)["uid"].as_string() == kube::uid(rollout_);
  };
  return is_over && !has(*target_) && std::ranges::none_of(sources_, has) && !undoes_after_end();
}

/// Deleted after a failure that left things as they stood: with revertOnDelete they are put back now.
bool Pass::undoes_after_end() const {
  return status_.rolling == wave::Rolling::Failed && wanted_.plan.revert_on_delete && !status_.is_reverting && !has_yielded();
}

Task<Outcome> Pass::let_go() {
  // What it wrote itself it may take away, whatever its author may do by now.
  ApplicationTemplate application(run_.client, rollout_, wanted_.application);
  const auto given = status_.is_reverting ? co_await application.give_back_undone() : co_await application.give_back();
  if (!given) co_return Outcome::failed(given.error());
  is_idle_ = true;
  tools_.workloads.forget(run_.key);
  const auto freed =
      co_await control::remove_finalizer(run_.client, tools_.resource, rollout_, kFinalizer, std::string(kFieldManager));
  co_return freed ? Outcome::settled() : Outcome::failed(freed.error());
}

/// Nothing can be decided: the status says why. What is under way stays as it is.
Task<Outcome> Pass::hold(std::string on, std::string text) {
  RolloutStatus next = status_;
  next.waits = {{.on = std::move(on), .text = std::move(text), .since = std::nullopt}};
  next.conditions = conditions_of(next, tools_.env.clock.now());
  next.observed_generation = kube::generation(rollout_);
  if (is_at_rest()) next.heeded.yield = kube::annotation(rollout_, kYieldRequest);  // there is nothing to give back
  const Value wanted = json::encode(next);
  if (wanted != rollout_["status"]) {
    if (auto written = co_await write(wanted); !written) co_return Outcome::failed(std::move(written).error());
    memory_.recorded = next;
  }
  const bool is_over = !status_.target || status_.rolling == wave::Rolling::LocatingTarget;
  const bool can_go = kube::is_deleting(rollout_) && is_at_rest() && is_over && !holds_any(status_);
  if (can_go) co_return co_await let_go();
  co_return Outcome::settled();
}

/// What is missing may come.
Task<Outcome> Pass::hold_for(std::string on, Status missing) {
  const Outcome held = co_await hold(std::move(on), missing.message);
  const bool may_come = held.kind == Outcome::Kind::Settled && missing.reason == Reason::NotFound;
  co_return may_come ? Outcome::retries_after(kMissingPause) : held;
}

Task<Result<void>> Pass::write(Value status) {
  auto written =
      co_await control::write_status(run_.client, tools_.resource, rollout_, std::move(status), std::string(kFieldManager));
  if (!written) co_return fail(std::move(written).error());
  rollout_ = std::move(*written);
  co_return Result<void>{};
}

}  // namespace slipway::delivery::rollout
