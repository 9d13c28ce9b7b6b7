#include "control/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slipway::control {

namespace {

constexpr int kMaxDepth = 1000;
/// Runs of fewer equal causes are printed in full.
constexpr int kShortRun = 3;

class Walk {
 public:
  Walk(const std::vector<ExplainRow>& rows, const View& view) : rows_(rows), view_(view) {}

  std::vector<Explanation> visit(const json::Value& object, const std::string& part, int depth) {
    std::vector<Explanation> found;
    const ExplainRow* row = row_of(object);
    if (row == nullptr || !seen_.insert({identity(object), part}).second) return found;
    for (Wait& wait : opened(*row, object)(part)) {
      Explanation explanation{std::move(wait), {}, {}};
      const json::Value next = explanation.wait.next.is_null() ? json::Value() : view_.find(explanation.wait.next);
      if (!next.is_null()) explanation.cut = why_not_followed(next, explanation.wait.part, depth + 1);
      if (!next.is_null() && explanation.cut.empty()) explanation.because = visit(next, explanation.wait.part, depth + 1);
      found.push_back(std::move(explanation));
    }
    return found;
  }

 private:
  std::string why_not_followed(const json::Value& object, const std::string& part, int depth) const {
    if (seen_.contains({identity(object), part})) return "already told above";
    return depth >= kMaxDepth ? "too deep to follow" : "";
  }

  const ExplainRow* row_of(const json::Value& object) const {
    const auto kind = kube::GroupVersionKind::of(object);
    if (!kind) return nullptr;
    const auto at = std::find_if(rows_.begin(), rows_.end(),
                                 [&](const ExplainRow& row) { return row.group == kind->group && row.kind == kind->kind; });
    return at == rows_.end() ? nullptr : &*at;
  }

  const Explainer& opened(const ExplainRow& row, const json::Value& object) {
    std::string which = identity(object);
    const auto found = opened_.find(which);
    if (found != opened_.end()) return found->second;
    return opened_.emplace(std::move(which), row.open(object, view_)).first->second;
  }

  static std::string identity(const json::Value& object) {
    return fmt::format("{}/{}/{}/{}", object["apiVersion"].as_string(), kube::kind(object), kube::ns(object),
                       kube::name(object));
  }

  const std::vector<ExplainRow>& rows_;
  const View& view_;
  std::map<std::string, Explainer> opened_;
  std::set<std::pair<std::string, std::string>> seen_;  // object and part
};

/// The end of a run of single causes of one reason, so that a long chain of steps takes three lines; counts those between.
const Explanation& end_of_run(const Explanation& first, int& skipped) {
  const Explanation* at = &first;
  while (at->because.size() == 1 && at->because[0].because.size() == 1 && at->because[0].wait.reason == first.wait.reason &&
         at->because[0].because[0].wait.reason == first.wait.reason) {
    at = &at->because[0];
    ++skipped;
  }
  return *at;
}

std::string line_of(const Explanation& explanation, Time now) {
  const Wait& wait = explanation.wait;
  std::string line = wait.on;
  if (!wait.reason.empty()) line += " (" + wait.reason + ")";
  if (!wait.message.empty()) line += ": " + wait.message;
  if (wait.since) line += fmt::format(" [{}]", human_duration(std::max(now - *wait.since, Duration{0})));
  if (!explanation.cut.empty()) return line + "  (" + explanation.cut + ")";
  return explanation.because.empty() ? line + "  <- root cause" : line;
}

void print_to(std::string& out, const std::vector<Explanation>& explanations, Time now, int depth) {
  for (const Explanation& explanation : explanations) {
    out += std::string(static_cast<std::size_t>(depth) * 2, ' ') + (depth > 0 ? "because " : "") + line_of(explanation, now) +
           "\n";
    int skipped = 0;
    const Explanation& end = end_of_run(explanation, skipped);
    if (skipped < kShortRun) {
      print_to(out, explanation.because, now, depth + 1);
      continue;
    }
    out +=
        std::string(static_cast<std::size_t>(depth + 1) * 2, ' ') + fmt::format("because … {} more of the same …\n", skipped);
    print_to(out, end.because, now, depth + 2);
  }
}

}  // namespace

ExplainRow ExplainRow::without_parts(std::string group, std::string kind, Explain explain) {
  Open open = [explain = std::move(explain)](const json::Value& object, const View& view) -> Explainer {
    return [explain, object, &view](const std::string&) { return explain(object, view); };
  };
  return {std::move(group), std::move(kind), std::move(open)};
}

std::vector<Explanation> explain(const std::vector<ExplainRow>& rows, const json::Value& object, const std::string& part,
                                 const View& view) {
  return Walk(rows, view).visit(object, part, 0);
}

std::string print(const std::vector<Explanation>& explanations, Time now) {
  std::string out;
  print_to(out, explanations, now, 0);
  return out;
}

}  // namespace slipway::control
