// What errors say beside upstream's text: what was expected and got, the name that may have been meant, and of a disjunction
// the disjunct that came closest.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cue/cue.h"
#include "cue/evaluation.h"

namespace slipway::cue {
namespace {

// Letters to change, add or take away to get from one name to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t i = 0; i <= b.size(); ++i) row[i] = i;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      std::size_t above = row[k];
      row[k] = std::min({above + 1, row[k - 1] + 1, corner + (a[i - 1] == b[k - 1] ? 0 : 1)});
      corner = above;
    }
  }
  return row[b.size()];
}

// Names this far apart are different names.
std::size_t too_far(std::string_view name) { return std::min<std::size_t>(3, name.size() / 2 + 1); }

std::string hint(std::string_view meant) { return fmt::format("did you mean \"{}\"?", meant); }

int depth_of(const Vertex* v) {
  int depth = 0;
  for (; v != nullptr; v = v->parent) ++depth;
  return depth;
}

bool is_conflict(const Bottom& reason) { return std::string_view(reason.format).starts_with("conflicting values {"); }

bool is_refusal(const Bottom& reason) { return std::string_view(reason.format).starts_with("invalid value {0} ("); }

// "kind: web" met "kind: cron": another disjunct is meant.
bool is_other_kind(const Bottom& reason) {
  return is_conflict(reason) && reason.operands[0].is_concrete_scalar() && reason.operands[1].is_concrete_scalar();
}

}  // namespace

void Evaluation::advise(const Bottom& reason, Error& error) {
  error.hint = hint_for(reason);
  say_operands(reason, error);
  if (!reason.branches.empty() && reason.source == nullptr) compare_branches(reason, error);
}

std::string Evaluation::hint_for(const Bottom& reason) {
  if (!reason.is_close_check || reason.node == nullptr || reason.node->parent == nullptr) return "";
  if (!reason.node->label.is_regular()) return "";
  const Labels& labels = evaluator_.labels();
  std::string_view name = labels.text(reason.node->label);
  std::string_view best;
  std::size_t least = too_far(name);
  for (const Vertex* one : deref(reason.node->parent)->arcs) {
    if (one == reason.node || !one->label.is_regular()) continue;
    bool is_refused = one->base.is_bottom() && one->base.bottom->is_close_check;
    std::size_t apart = is_refused ? least : distance(name, labels.text(one->label));
    if (apart >= least) continue;
    least = apart;
    best = labels.text(one->label);
  }
  return best.empty() ? "" : hint(best);
}

// Of two values the one that is data was got; of two that are, the one that no reference led to.
void Evaluation::say_operands(const Bottom& reason, Error& error) {
  if (!is_conflict(reason) && !is_refusal(reason)) return;
  std::size_t got = 0;
  if (is_conflict(reason)) {
    bool is_data[2] = {reason.operands[0].is_concrete_scalar(), reason.operands[1].is_concrete_scalar()};
    bool is_led_to[2] = {reason.trails[0] != nullptr, reason.trails[1] != nullptr};
    if (is_data[0] != is_data[1]) {
      got = is_data[0] ? 0 : 1;
    } else if (is_led_to[0] != is_led_to[1]) {
      got = is_led_to[0] ? 1 : 0;
    } else {
      return;
    }
  }
  error.got = evaluator_.show(reason.operands[got]);
  error.expected = evaluator_.show(reason.operands[1 - got]);
}

std::vector<const Bottom*> Evaluation::failures_of(const Branch& branch, const Bottom& reason) {
  std::vector<const Bottom*> all;
  if (branch.tried != nullptr) evaluator_.collect_errors(branch.tried, all);
  for (const Bottom* at = branch.tried == nullptr ? branch.reason : nullptr; at != nullptr; at = at->next) all.push_back(at);
  std::erase_if(all, [&](const Bottom* one) { return is_incomplete(one->code) != is_incomplete(reason.code); });
  return all;
}

// A disjunct whose fields are wrong came closer than one that is of another type, or has another word in a field that tells
// which one is meant; then fewer errors are closer. Where none is, none is told. Of a choice among scalars, the one that is
// nearly written so.
void Evaluation::compare_branches(const Bottom& reason, Error& error) {
  using Score = std::tuple<bool, std::size_t, std::size_t>;
  constexpr std::size_t kMost = 64;  // disjuncts; more would not be read
  if (reason.branches.size() > kMost) return;
  std::vector<std::pair<Score, const Bottom*>> scores;
  std::vector<const Bottom*> scalars;
  for (const Branch& one : reason.branches) {
    std::vector<const Bottom*> failures = failures_of(one, reason);
    if (failures.empty()) continue;
    bool is_here = std::ranges::any_of(
        failures, [&](const Bottom* at) { return at->node == nullptr || depth_of(at->node) <= depth_of(reason.node); });
    auto others =
        static_cast<std::size_t>(std::ranges::count_if(failures, [](const Bottom* at) { return is_other_kind(*at); }));
    auto told = std::ranges::find_if_not(failures, [](const Bottom* at) { return is_other_kind(*at); });
    scores.emplace_back(Score{is_here, others, failures.size()}, told == failures.end() ? failures[0] : *told);
    if (is_here && failures.size() == 1 && (is_conflict(*failures[0]) || is_refusal(*failures[0])))
      scalars.push_back(failures[0]);
  }
  if (scores.empty()) return;
  if (scalars.size() == reason.branches.size()) return compare_scalars(scalars, error);
  auto best = std::ranges::min_element(scores, {}, [](const auto& one) { return one.first; });
  bool is_only = std::ranges::count_if(scores, [&](const auto& one) { return one.first == best->first; }) == 1;
  if (is_only && !std::get<0>(best->first)) error.closest = {error_of(evaluator_.in_full(*best->second))};
}

// "prdo" met "dev" | "prod": what all errors have in common was got.
void Evaluation::compare_scalars(const std::vector<const Bottom*>& failures, Error& error) {
  for (std::size_t got : {std::size_t{0}, std::size_t{1}}) {
    std::string common = evaluator_.show(failures[0]->operands[got]);
    auto side_of = [&](const Bottom* one) -> std::size_t {
      return evaluator_.show(one->operands[0]) == common ? 0 : evaluator_.show(one->operands[1]) == common ? 1 : 2;
    };
    if (std::ranges::any_of(failures, [&](const Bottom* one) { return side_of(one) == 2; })) continue;
    error.got = common;
    std::size_t least = failures[0]->operands[got].tag == Value::Tag::String ? too_far(failures[0]->operands[got].str()) : 0;
    for (const Bottom* one : failures) {
      const Value& wanted = one->operands[1 - side_of(one)];
      error.expected += (error.expected.empty() ? "" : " | ") + evaluator_.show(wanted);
      if (least == 0 || wanted.tag != Value::Tag::String) continue;
      std::size_t apart = distance(failures[0]->operands[got].str(), wanted.str());
      if (apart >= least) continue;
      least = apart;
      error.hint = hint(wanted.str());
      error.closest = {error_of(*one)};
    }
    return;
  }
}

}  // namespace slipway::cue
