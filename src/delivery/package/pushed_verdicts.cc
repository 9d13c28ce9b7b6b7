#include "delivery/package/pushed_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace slipway::delivery::package {
namespace {

Conditions conditions_in(const Verdicts& said) { return said.conditions.value_or(Conditions{}); }
std::vector<std::string> gates_in(const Verdicts& said) { return said.gates.value_or(std::vector<std::string>{}); }

bool is_same(const Condition* one, const Condition* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->status == other->status && one->reason == other->reason && one->message == other->message;
}

bool has(const std::vector<std::string>& types, const std::string& type) {
  return std::ranges::find(types, type) != types.end();
}

/// Takes one push into one record.
class Taking {
 public:
  Taking(RevisionRecord& record, const PushedVerdicts& pushed, const Conditions& logged, const ContentView& content, Time now)
      : record_(record), pushed_(pushed), logged_(logged), content_(content), now_(now) {}

  void run() {
    const Gates gates = record_.gates;
    const Conditions before = conditions_in(pushed_.before);
    const Conditions after = conditions_in(pushed_.commits.back().said);
    std::set<std::string> types;
    for (const Conditions* all : {&before, &after}) {
      for (const Condition& one : *all) types.insert(one.type);
    }
    for (const std::string& type : types) {
      const bool is_changed = !is_computed(type) && !is_same(find(before, type), find(after, type));
      if (is_changed) take_condition(type, find(before, type), find(after, type));
    }
    take_gates();
    if (record_.gates != gates) record_.settled = now_;
  }

 private:
  /// The author of the last commit that changed what `said` takes out of the Kptfile.
  template <class Said>
  std::string author_of(const Said& has_changed) const {
    std::string author = pushed_.commits.back().author;
    const Verdicts* was = &pushed_.before;
    for (const PushedCommit& one : pushed_.commits) {
      if (has_changed(*was, one.said)) author = one.author;
      was = &one.said;
    }
    return std::string(kGitSource) + author;
  }

  void take_condition(const std::string& type, const Condition* before, const Condition* after) {
    const std::string by = author_of([&](const Verdicts& was, const Verdicts& is) {
      const Conditions one = conditions_in(was);
      const Conditions other = conditions_in(is);
      return !is_same(find(one, type), find(other, type));
    });
    const Condition* logged = find(logged_, type);
    if (is_same(logged, after)) return;
    const ReadinessGate* gate = find(record_.gates, type);
    const bool is_owned = gate != nullptr && !gate->owner.empty();
    const bool has_moved = !is_same(logged, before);
    if (after == nullptr) return take_removal(type, by, is_owned, has_moved);
    if (find(record_.conditions, type) == nullptr && record_.conditions.size() == kMostConditions) return;
    const Write write{.object = {}, .by = by, .now = now_, .content = content_, .generation = std::nullopt};
    if (!is_owned && !has_moved) return set_condition(record_.conditions, *after, write);
    Condition claim = made_unknown({.type = type, .status = after->status, .reason = after->reason, .message = after->message},
                                   kImported, now_);
    if (has_moved && logged != nullptr) {
      claim.message = fmt::format("{} committed {}{}{}; {} had set it to {} meanwhile", by, json::enum_name(after->status),
                                  after->message.empty() ? "" : ": ", after->message,
                                  logged->owner.empty() ? "another writer" : logged->owner, json::enum_name(logged->status));
    }
    set_condition(record_.conditions, claim, write);
  }

  void take_removal(const std::string& type, const std::string& by, bool is_owned, bool has_moved) {
    const auto at = std::ranges::find(record_.conditions, type, &Condition::type);
    if (has_moved || at == record_.conditions.end()) return;
    if (!is_owned) {
      record_.conditions.erase(at);
    } else if (at->status == Truth::True) {
      *at = made_unknown(*at, kImported, now_);
      at->message = fmt::format("{} removed it with a commit; {}", by, at->message);
    }
  }

  void take_gates() {
    const std::vector<std::string> before = gates_in(pushed_.before);
    const std::vector<std::string> after = gates_in(pushed_.commits.back().said);
    const auto author = [&](const std::string& type) {
      return author_of(
          [&](const Verdicts& was, const Verdicts& is) { return has(gates_in(was), type) != has(gates_in(is), type); });
    };
    for (const std::string& type : after) {
      const bool is_new = !has(before, type) && !is_computed(type) && find(record_.gates, type) == nullptr;
      if (is_new && record_.gates.size() < kMostGates) add_gate(record_.gates, type, author(type));
    }
    for (const std::string& type : before) {
      if (!has(after, type)) remove_gate(type, author(type));
    }
  }

  /// Gates of a proposal stay, as by the API.
  void remove_gate(const std::string& type, const std::string& by) {
    const ReadinessGate* gate = find(record_.gates, type);
    if (gate == nullptr) return;
    Gates sent = record_.gates;
    std::erase_if(sent, [&](const ReadinessGate& one) { return one.type == type; });
    const auto merged = merge_gates(record_.gates, record_.gates, sent, {.source = by, .names = {by}}, "");
    const bool is_removed = record_.lifecycle == Lifecycle::Draft && merged && find(*merged, type) == nullptr;
    if (!is_removed) {
      record_.notes.add(kGateKept, fmt::format("{} (asked for by {})", type, joined(gate->sources, ", ")));
    }
    if (record_.lifecycle == Lifecycle::Draft && merged) record_.gates = *merged;
  }

  RevisionRecord& record_;
  const PushedVerdicts& pushed_;
  const Conditions& logged_;
  const ContentView& content_;
  Time now_;
};

}  // namespace

RevisionRecord with_pushed(RevisionRecord record, const PushedVerdicts& pushed, const Conditions& logged,
                           const ContentView& content, Time now) {
  if (!pushed.commits.empty()) Taking(record, pushed, logged, content, now).run();
  return record;
}

}  // namespace slipway::delivery::package
