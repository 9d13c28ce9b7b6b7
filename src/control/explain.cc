#include "control/explain.h"

#include <algorithm>
#include <set>

namespace slipway::control {

namespace {

constexpr int kMaxDepth = 20;

class Walk {
 public:
  Walk(const std::vector<ExplainRow>& rows, const View& view) : rows_(rows), view_(view) {}

  std::vector<Explanation> visit(const json::Value& object, const std::string& part, int depth) {
    std::vector<Explanation> found;
    const ExplainRow* row = row_of(object);
    if (row == nullptr || depth >= kMaxDepth || !seen_.insert(identity(object, part)).second) return found;
    for (Wait& wait : row->explain(object, part, view_)) {
      Explanation explanation{std::move(wait), {}};
      const json::Value next = explanation.wait.next.is_null() ? json::Value() : view_.find(explanation.wait.next);
      if (!next.is_null()) explanation.because = visit(next, explanation.wait.part, depth + 1);
      found.push_back(std::move(explanation));
    }
    return found;
  }

 private:
  const ExplainRow* row_of(const json::Value& object) const {
    const auto kind = kube::GroupVersionKind::of(object);
    if (!kind) return nullptr;
    const auto at = std::find_if(rows_.begin(), rows_.end(),
                                 [&](const ExplainRow& row) { return row.group == kind->group && row.kind == kind->kind; });
    return at == rows_.end() ? nullptr : &*at;
  }

  static std::string identity(const json::Value& object, const std::string& part) {
    return fmt::format("{}/{}/{}/{}", kube::kind(object), kube::ns(object), kube::name(object), part);
  }

  const std::vector<ExplainRow>& rows_;
  const View& view_;
  std::set<std::string> seen_;
};

void print_to(std::string& out, const std::vector<Explanation>& explanations, Time now, int depth) {
  for (const Explanation& explanation : explanations) {
    const Wait& wait = explanation.wait;
    out += std::string(static_cast<std::size_t>(depth) * 2, ' ');
    if (depth > 0) out += "because ";
    out += wait.on;
    if (!wait.reason.empty()) out += " (" + wait.reason + ")";
    if (!wait.message.empty()) out += ": " + wait.message;
    if (wait.since) out += fmt::format(" [{}]", human_duration(std::max(now - *wait.since, Duration{0})));
    if (explanation.because.empty()) out += "  <- root cause";
    out += '\n';
    print_to(out, explanation.because, now, depth + 1);
  }
}

}  // namespace

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
