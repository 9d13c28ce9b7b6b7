#include "delivery/application/acting.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {

namespace {

/// What the API server asks for: an apply that creates takes two rights.
std::vector<control::NeededRight> needed_for(const client::Request& request) {
  control::NeededRight right{.verb = std::string(client::to_string(request.verb)),
                             .resource = request.resource,
                             .subresource = request.subresource,
                             .key = {request.ns, request.name}};
  std::vector<control::NeededRight> needed{right};
  if (request.verb == client::Verb::Patch && request.patch_type == client::PatchType::Apply) {
    right.verb = "create";
    needed.push_back(right);
  }
  return needed;
}

bool has_lost_any(const std::string& before, const std::string& now, const std::vector<control::NeededRight>& needed) {
  return std::ranges::any_of(needed, [&](const control::NeededRight& right) {
    return control::rules_grant(before, right) && !control::rules_grant(now, right);
  });
}

}  // namespace

/// Looks at refusals of the home cluster on their way back.
class Acting::LossWatch : public client::Client {
 public:
  LossWatch(Acting& acting, client::Client& inner) : acting_(acting), inner_(inner) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    std::vector<control::NeededRight> needed = needed_for(request);
    auto reply = co_await inner_.call(std::move(request));
    if (reply || !control::lacks_right(reply.error(), acting_.identity())) co_return reply;
    co_return fail(co_await acting_.judge_refusal(std::move(reply).error(), std::move(needed)));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    return inner_.watch(std::move(request));
  }

 private:
  Acting& acting_;
  client::Client& inner_;
};

Acting::Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity)
    : run_(run), identity_(std::move(identity)) {}
Acting::~Acting() = default;

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  Clients& made = clients_[client];
  if (!made.acting) {
    const bool is_home = client == &run_.client;
    const bool is_watched = is_home || (identity_ && control::is_unknown(*identity_));
    if (is_watched) made.watched = std::make_unique<LossWatch>(*this, *client);
    client::Client& inner = is_watched ? *made.watched : *client;
    made.acting = std::make_unique<control::ActingClient>(inner, identity_, &confinement_, is_home);
  }
  return made.acting.get();
}

void Acting::set_rules_at_start(std::string home, std::map<std::string, std::string> rules) {
  home_ = std::move(home);
  rules_at_start_ = std::move(rules);
}

Task<std::string> Acting::rules_now(std::string ns) { return control::rules_text(run_.client, identity_, std::move(ns)); }

std::optional<Duration> Acting::sooner_without_right(std::optional<Duration> again) const {
  return has_lost_right_ ? std::min(again.value_or(control::kAuthorRightPause), control::kAuthorRightPause) : again;
}

Task<Status> Acting::judge_refusal(Status refusal, std::vector<control::NeededRight> needed) {
  if (!control::is_unknown(*identity_)) {
    const std::string ns = needed.front().key.ns.empty() ? home_ : needed.front().key.ns;
    const auto before = rules_at_start_.find(ns);
    if (before == rules_at_start_.end()) co_return refusal;
    if (!rules_now_.contains(ns)) rules_now_[ns] = co_await rules_now(ns);
    if (rules_now_[ns].empty() || !has_lost_any(before->second, rules_now_[ns], needed)) co_return refusal;
  }
  has_lost_right_ = true;
  refusal.reason = Reason::ServiceUnavailable;
  refusal.message =
      fmt::format("{}: {}", control::lacks_right_cause(*identity_), control::lacks_right_text(refusal, *identity_));
  co_return refusal;
}

void Acting::confine(std::string ns, std::string why) {
  if (!confinement_.why.empty()) return;
  confinement_ = {.ns = std::move(ns), .why = std::move(why)};
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application
