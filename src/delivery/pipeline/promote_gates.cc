#include "delivery/pipeline/promote_gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/gate/approval.h"
#include "delivery/gate/condition.h"
#include "delivery/gate/weaker.h"
#include "delivery/gate/window.h"
#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {
namespace {

using gate::Verdict;
using VerdictKind = gate::Verdict::Kind;

constexpr std::string_view kSoakMoment = "soak";
constexpr Duration kAskPause = std::chrono::seconds{10};
constexpr std::size_t kMostVerdictText = 512;

Time in_seconds(Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

/// "before/tests": how the log of verdicts tells gates apart.
std::string log_key(const GateRecord& record) { return fmt::format("{}/{}", record.at, record.name); }

std::string told(const gate::GateSpec& gate, const std::string& text) {
  return text.empty() ? fmt::format("gate {}", gate.name) : fmt::format("gate {}: {}", gate.name, text);
}

std::string told(const Known<ApprovalSpec>& word, std::string_view what) {
  const std::string who = word.spec.by && !word.spec.by->user.empty() ? word.spec.by->user : "Approval " + word.name;
  return fmt::format("{} by {}{}{}", what, who, word.spec.comment.empty() ? "" : ": ", word.spec.comment);
}

/// A signature counts as a person only where a gate names its hook.
bool is_hook(std::string_view user) { return user.starts_with(gate::kHookPrefix); }

VerdictKind kind_of(const GateRecord& record) {
  for (const VerdictKind kind : {VerdictKind::Pass, VerdictKind::Fail, VerdictKind::Unknown, VerdictKind::NoData}) {
    if (json::enum_name(kind) == record.verdict) return kind;
  }
  return VerdictKind::Wait;
}

/// What people said about a gate, without its authors.
std::vector<gate::Approval> approvals_of(const PromotionWorld& world, const KnownPromotion& promotion,
                                         const gate::GateSpec& gate, const std::vector<std::string>& authors) {
  std::vector<gate::Approval> approvals;
  for (const Known<ApprovalSpec>& word : world.words_on(promotion)) {
    if (!word.spec.gate.empty() && word.spec.gate != gate.name) continue;
    gate::Approval one{.gate = gate.name, .attempt = 0, .batch = -1, .comment = word.spec.comment};
    one.decision = word.spec.decision == "reject" ? gate::Approval::Decision::Reject : gate::Approval::Decision::Approve;
    if (word.spec.by) {
      one.user = word.spec.by->user;
      one.groups = word.spec.by->groups;
      one.at = word.spec.by->time;
    }
    if (is_hook(one.user) && std::ranges::find(gate.approval->users, one.user) == gate.approval->users.end()) continue;
    const bool is_authors = std::ranges::find(authors, one.user) != authors.end();
    if (gate.approval->by_author || !is_authors) approvals.push_back(std::move(one));
  }
  return approvals;
}

/// Who wrote what is promoted, and who asked for the promotion.
std::vector<std::string> authors_of(const PromotionWorld& world, const KnownPromotion& promotion) {
  std::vector<std::string> authors;
  if (world.input.acts_as == ActsAs::Controller) return authors;
  const Release* release = world.find_release(promotion.spec.release);
  if (release != nullptr && !release->spec.author.empty()) authors.push_back(release->spec.author);
  if (promotion.spec.by && !promotion.spec.by->user.empty()) authors.push_back(promotion.spec.by->user);
  return authors;
}

class GateCheck {
 public:
  GateCheck(const PromotionWorld& world, KnownPromotion& promotion, const gate::GateSpec& gate, GatesView& view)
      : world_(world), promotion_(promotion), gate_(gate), view_(view), record_(open()) {}

  void run() {
    if (gate_.approval) judge_approval();
    if (gate_.window) judge_window();
    if (gate_.webhook || gate_.metric) judge_machine();
    const VerdictKind kind = kind_of(record_);
    if (kind == VerdictKind::Pass) return;
    if (kind == VerdictKind::Fail) {
      obstruct(gate_.approval ? PromotionCause::RefusedByPerson : PromotionCause::GateFailed, record_.text);
    } else if (!judge_deadline(kind)) {
      obstruct(waiting_cause(kind), record_.text);
    }
  }

 private:
  GateRecord& open() {
    const std::string_view at = moment_of(gate_);
    if (GateRecord* known = find_record(promotion_.status, gate_.name, at)) return *known;
    GateRecord record;
    record.name = gate_.name;
    record.at = at;
    record.since = in_seconds(world_.now());
    record.verdict = json::enum_name(VerdictKind::Wait);
    promotion_.status.gates.push_back(std::move(record));
    return promotion_.status.gates.back();
  }

  PromotionCause waiting_cause(VerdictKind kind) const {
    if (gate_.window) return PromotionCause::WindowClosed;
    if (gate_.approval) return kind == VerdictKind::Unknown ? PromotionCause::ApproverUnknown : PromotionCause::ApprovalMissing;
    return kind == VerdictKind::Wait ? PromotionCause::GatePending : PromotionCause::GateUnknown;
  }

  /// One that rejects wins; else the first stays.
  void obstruct(PromotionCause cause, const std::string& text) {
    const bool rejects = row_of(cause).outcome == CauseOutcome::Rejected;
    if (view_.obstacle && !(rejects && row_of(view_.obstacle->cause).outcome == CauseOutcome::NotYet)) return;
    view_.obstacle = Obstacle{.cause = cause, .text = told(gate_, text), .blockers = {}};
  }

  void look_at(std::optional<Time> when) {
    if (when && *when > world_.now()) view_.next = view_.next ? std::min(*view_.next, *when) : *when;
  }

  void settle(const Verdict& verdict, gate::LogEntry entry) {
    const bool is_news =
        kind_of(record_) != verdict.kind && (verdict.kind == VerdictKind::Pass || verdict.kind == VerdictKind::Fail);
    record_.verdict = json::enum_name(verdict.kind);
    record_.text = gate::cut(verdict.text, kMostVerdictText);
    if (!is_news) return;
    entry.at = in_seconds(world_.now());
    entry.gate = log_key(record_);
    entry.verdict = verdict.kind;
    entry.text = gate::cut(verdict.text, 120);
    entry.by = verdict.by;
    gate::append(promotion_.status.verdicts, std::move(entry));
  }

  void judge_approval() {
    const std::vector<std::string> authors = authors_of(world_, promotion_);
    gate::LogEntry entry;
    entry.approvable =
        gate::Approvable{.gate = gate_.name, .attempt = 0, .batch = -1, .author = authors.empty() ? "" : authors.front()};
    entry.approvals = approvals_of(world_, promotion_, gate_, authors);
    const Verdict verdict = gate::judge(*gate_.approval, entry.approvals, *entry.approvable);
    settle(verdict, std::move(entry));
  }

  void judge_window() {
    const Zone* zone = world_.zone(gate_.window->time_zone);
    if (zone == nullptr) {
      settle({VerdictKind::Unknown, fmt::format("time zone {} is not known here", gate_.window->time_zone), ""}, {});
      return;
    }
    const gate::WindowView seen = gate::look(*gate_.window, *zone, world_.now());
    settle(seen.verdict, {});
    look_at(seen.changes);
  }

  void judge_machine() {
    const VerdictKind kind = kind_of(record_);
    if (kind == VerdictKind::Pass || kind == VerdictKind::Fail) return;
    const std::optional<Time> next = record_.next ? std::optional(world_.input.now.present(*record_.next)) : std::nullopt;
    if (!next || *next <= world_.now()) {
      view_.asks.push_back(gate_.name);
    } else {
      look_at(next);
    }
  }

  /// True: it has come, and decides.
  bool judge_deadline(VerdictKind last) {
    if (!gate_.deadline_seconds || !record_.since) return false;
    const Time deadline = world_.input.now.present(*record_.since) + seconds_saturating(*gate_.deadline_seconds);
    if (world_.now() < deadline) {
      look_at(deadline);
      return false;
    }
    const std::string_view then = gate::at_deadline(gate_, last);
    if (then == "hold") {
      obstruct(PromotionCause::DeadlineHolds, fmt::format("its deadline has come, and it holds: {}", record_.text));
      return true;
    }
    gate::LogEntry entry;
    entry.is_deadline = true;
    const std::string text = fmt::format("deadline: {}", record_.text);
    settle({then == "pass" ? VerdictKind::Pass : VerdictKind::Fail, text, ""}, std::move(entry));
    if (then != "pass") obstruct(PromotionCause::DeadlineFailed, text);
    return true;
  }

  const PromotionWorld& world_;
  KnownPromotion& promotion_;
  const gate::GateSpec& gate_;
  GatesView& view_;
  GateRecord& record_;
};

/// A gate that was taken off the environment is waited for no more; what has passed is remembered.
void forget_removed_gates(const Environment& environment, PromotionStatus& status, std::string_view at) {
  std::erase_if(status.gates, [&](const GateRecord& record) {
    const auto is_it = [&](const gate::GateSpec& one) { return one.name == record.name && moment_of(one) == at; };
    const bool is_open = record.at == at && record.verdict != json::enum_name(VerdictKind::Pass);
    return is_open && std::ranges::none_of(environment.gates, is_it);
  });
}

}  // namespace

GateRecord* find_record(PromotionStatus& status, std::string_view name, std::string_view at) {
  const auto found =
      std::ranges::find_if(status.gates, [&](const GateRecord& one) { return one.name == name && one.at == at; });
  return found == status.gates.end() ? nullptr : &*found;
}

GatesView judge_gates(const PromotionWorld& world, const Environment& environment, KnownPromotion& promotion,
                      std::string_view at) {
  GatesView view;
  forget_removed_gates(environment, promotion.status, at);
  for (const gate::GateSpec& one : environment.gates) {
    const bool goes_back = promotion.spec.action == PromotionAction::Rollback && at == "before";
    const bool is_skipped = !one.approval && (promotion.spec.skips_gates || goes_back);
    if (moment_of(one) == at && !is_skipped) GateCheck(world, promotion, one, view).run();
  }
  return view;
}

GatesView judge_soak(const PromotionWorld& world, const Environment& environment, KnownPromotion& promotion) {
  GatesView view;
  if (!environment.soak || *environment.soak <= Duration::zero() || promotion.spec.skips_gates) return view;
  GateRecord* record = find_record(promotion.status, kSoakMoment, kSoakMoment);
  if (record == nullptr) {
    promotion.status.gates.push_back({});
    record = &promotion.status.gates.back();
    record->name = record->at = kSoakMoment;
  }
  if (!record->since) record->since = std::chrono::ceil<std::chrono::seconds>(world.now());
  const Time ends = world.input.now.present(*record->since) + *environment.soak;
  const bool is_over = world.now() >= ends;
  record->verdict = json::enum_name(is_over ? VerdictKind::Pass : VerdictKind::Wait);
  record->next = is_over ? std::nullopt : std::optional(ends);
  if (is_over) return view;
  view.next = ends;
  view.obstacle = Obstacle{.cause = PromotionCause::Soaking,
                           .text = fmt::format("soaks for {}, until {}", to_string(*environment.soak), to_rfc3339(ends)),
                           .blockers = {}};
  return view;
}

void break_soak(PromotionStatus& status) {
  GateRecord* record = find_record(status, kSoakMoment, kSoakMoment);
  if (record == nullptr) return;
  record->since.reset();
  record->next.reset();
  record->verdict = json::enum_name(VerdictKind::Wait);
}

std::optional<Obstacle> judge_manual(const PromotionWorld& world, const KnownPromotion& promotion) {
  for (const Known<ApprovalSpec>& word : world.words_on(promotion)) {
    const bool is_signature = word.spec.by && is_hook(word.spec.by->user);
    if (word.spec.gate.empty() && word.spec.decision == "approve" && !is_signature) return std::nullopt;
  }
  return Obstacle{.cause = PromotionCause::ApprovalMissing, .text = "somebody has to approve it (manual)", .blockers = {}};
}

std::optional<Obstacle> judge_refusals(const PromotionWorld& world, const KnownPromotion& promotion) {
  std::map<std::string, const Known<ApprovalSpec>*> last;  // by user; of an unknown user each for itself
  const auto words = world.words_on(promotion);
  for (const Known<ApprovalSpec>& word : words) {
    const bool is_known = word.spec.by && !word.spec.by->user.empty();
    if (word.spec.gate.empty()) last[is_known ? "user " + word.spec.by->user : "object " + word.name] = &word;
  }
  for (const auto& [user, word] : last) {
    if (word->spec.decision != "reject") continue;
    return Obstacle{.cause = PromotionCause::RefusedByPerson,
                    .text = told(*word, "refused"),
                    .blockers = {{kApprovalKind.kind, word->name}}};
  }
  return std::nullopt;
}

probe::Question question_for(const PromotionInput& input, const std::string& ns, const Environment& environment,
                             const KnownPromotion& promotion, const gate::GateSpec& gate) {
  PromotionStatus status = promotion.status;
  const GateRecord* record = find_record(status, gate.name, moment_of(gate));
  const auto release = std::ranges::find(input.releases, promotion.spec.release, &Release::name);
  probe::Question asked;
  asked.gate = gate;
  asked.key = fmt::format("{}/{}/{}", promotion.name, moment_of(gate), gate.name);
  asked.name = promotion.name;
  asked.ns = ns;
  asked.phase = fmt::format("{}-promotion", moment_of(gate));
  asked.variables = {{"pipeline", input.pipeline},
                     {"environment", environment.name},
                     {"target", input.spec.app.name},
                     {"release", promotion.spec.release},
                     {"version", release == input.releases.end() ? "" : release->spec.version}};
  const Time now = input.now.time();
  asked.since = record != nullptr && record->since ? input.now.present(*record->since) : now;
  asked.data_since = promotion.status.arrived ? input.now.present(*promotion.status.arrived) : asked.since;
  if (record != nullptr) {
    asked.tries = record->tries;
    asked.samples = record->samples;
  }
  return asked;
}

void take_answer(PromotionStatus& status, const gate::GateSpec& gate, const probe::Answer& answer, Time now) {
  GateRecord* record = find_record(status, gate.name, moment_of(gate));
  if (record == nullptr) return;
  record->tries += 1;
  record->verdict = json::enum_name(answer.verdict.kind);
  record->text = gate::cut(answer.verdict.text, kMostVerdictText);
  record->samples = answer.samples;
  const bool is_decided = answer.verdict.kind == VerdictKind::Pass || answer.verdict.kind == VerdictKind::Fail;
  record->next = is_decided ? std::nullopt
                            : std::optional<Time>(std::chrono::ceil<std::chrono::seconds>(
                                  now + std::max(answer.ask_again.value_or(kAskPause), Duration{1})));
  if (!is_decided) return;
  gate::LogEntry entry;
  entry.at = in_seconds(now);
  entry.gate = log_key(*record);
  entry.verdict = answer.verdict.kind;
  entry.text = gate::cut(answer.verdict.text, 120);
  entry.samples = answer.samples;
  entry.status = answer.status;
  gate::append(status.verdicts, std::move(entry));
}

}  // namespace slipway::delivery::pipeline
