#include "delivery/rollout/approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "delivery/rollout/requests.h"
#include "delivery/rollout/show.h"

namespace slipway::delivery::rollout {

std::string log_key(std::int64_t attempt, std::string_view key) { return fmt::format("{}/{}", attempt, key); }

gate::Approvable approvable(std::string_view key, std::int64_t attempt) {
  gate::Approvable what{.attempt = attempt};
  const std::size_t first = std::min(key.find('/'), key.size());
  const std::size_t second = key.find('/', std::min(first + 1, key.size()));
  std::from_chars(key.data(), key.data() + first, what.batch);
  if (second != std::string_view::npos) what.gate = key.substr(second + 1);
  return what;
}

gate::Verdict judge_approvals(const gate::ApprovalGate& rule, const kube::Object& rollout, std::string_view key,
                              ActsAs acts_as) {
  RolloutStatus status = read_status(rollout);
  gate::Approvable what = approvable(key, status.attempt);
  what.author = kube::annotation(rollout, kAuthor.user);
  if (acts_as == ActsAs::Controller) {
    what.author.clear();
    for (gate::Approval& approval : status.approvals) approval.user.clear(), approval.at.reset();
  }
  return gate::judge(rule, status.approvals, what);
}

}  // namespace slipway::delivery::rollout
