#include "delivery/gate/approval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace slipway::delivery::gate {
namespace {

bool may_decide(const ApprovalGate& rule, const Approval& approval) {
  if (rule.users.empty() && rule.groups.empty()) return true;
  const auto has = [](const std::vector<std::string>& list, const std::string& one) {
    return std::ranges::find(list, one) != list.end();
  };
  return has(rule.users, approval.user) ||
         std::ranges::any_of(approval.groups, [&](const std::string& group) { return has(rule.groups, group); });
}

/// The last word of each person whose word counts, in the order of the list.
std::vector<Approval> last_words(const ApprovalGate& rule, const std::vector<Approval>& approvals, const Approvable& what) {
  std::vector<Approval> out;
  for (const Approval& approval : approvals) {
    const bool is_own = !rule.by_author && approval.user == what.author;
    const bool is_stamped = !approval.user.empty() && approval.at;
    if (!is_about(approval, what) || !is_stamped || is_own || !may_decide(rule, approval)) continue;
    std::erase_if(out, [&](const Approval& earlier) { return earlier.user == approval.user; });
    out.push_back(approval);
  }
  return out;
}

std::string who(const ApprovalGate& rule) {
  std::vector<std::string> parts;
  if (!rule.users.empty()) parts.push_back("users " + joined(rule.users, ", "));
  if (!rule.groups.empty()) parts.push_back("groups " + joined(rule.groups, ", "));
  return parts.empty() ? "" : fmt::format(" of {}", joined(parts, " and "));
}

}  // namespace

bool is_about(const Approval& approval, const Approvable& what) {
  return approval.gate == what.gate && approval.attempt == what.attempt && approval.batch == what.batch;
}

Verdict judge(const ApprovalGate& rule, const std::vector<Approval>& approvals, const Approvable& what) {
  if (!rule.by_author && what.author.empty()) {
    return {Verdict::Kind::Unknown, "ApproverUnknown: the author, whose approval does not count, is not known", ""};
  }
  std::vector<std::string> names;
  for (const Approval& approval : last_words(rule, approvals, what)) {
    if (approval.decision == Approval::Decision::Reject) {
      const std::string why = approval.comment.empty() ? "" : fmt::format(": {}", approval.comment);
      return {Verdict::Kind::Fail, fmt::format("rejected by {}{}", approval.user, why), approval.user};
    }
    names.push_back(approval.user);
  }
  const std::string by = joined(names, ", ");
  if (static_cast<std::int64_t>(names.size()) >= rule.count)
    return {Verdict::Kind::Pass, fmt::format("approved by {}", by), by};
  const bool has_unknown =
      std::ranges::any_of(approvals, [&](const Approval& one) { return is_about(one, what) && (one.user.empty() || !one.at); });
  if (has_unknown) {
    return {Verdict::Kind::Unknown, "ApproverUnknown: an approval came past the admission that says whose it is", by};
  }
  return {Verdict::Kind::Wait, fmt::format("{} of {} approvals{}", names.size(), rule.count, who(rule)), by};
}

}  // namespace slipway::delivery::gate
