#include "delivery/application/acting.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/family/identity.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {

namespace {

constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

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

/// A service account of this cluster and one of the same name in another cluster are different identities. Requests to the
/// other cluster are allowed only if the user who named the account may impersonate the account of that name there.
class Acting::AccountGuard : public client::Client {
 public:
  AccountGuard(const Acting& acting, client::Client& cluster, client::Client& inner, std::string name)
      : acting_(acting), cluster_(cluster), inner_(inner), name_(std::move(name)) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    SLIPWAY_CO_TRY_VOID(co_await check());
    co_return co_await inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    SLIPWAY_CO_TRY_VOID(co_await check());
    co_return co_await inner_.watch(std::move(request));
  }

 private:
  Task<Result<void>> check() {
    const std::string& account = acting_.identity_->name;
    if (acting_.named_by_ == nullptr) {
      co_return fail(Reason::Forbidden,
                     fmt::format("{} is a service account of this cluster, and cannot act in cluster {}: have a user write the "
                                 "object, with annotation {} where it is to act as the account",
                                 account, name_, kServiceAccount));
    }
    if (is_allowed_) co_return Result<void>{};
    const auto colon = account.rfind(':');
    const std::string ns = account.substr(kAccountPrefix.size(), colon - kAccountPrefix.size());
    control::NeededRight right{"impersonate", kube::kServiceAccounts, "", {ns, account.substr(colon + 1)}};
    SLIPWAY_CO_TRY_VOID(co_await control::require_right(cluster_, acting_.named_by_, std::move(right)));
    is_allowed_ = true;
    co_return Result<void>{};
  }

  const Acting& acting_;
  client::Client& cluster_;  // as the process
  client::Client& inner_;
  std::string name_;
  bool is_allowed_ = false;
};

Acting::Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity,
               std::shared_ptr<const kube::UserInfo> named_by)
    : run_(run), identity_(std::move(identity)), named_by_(std::move(named_by)) {}
Acting::~Acting() = default;

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  Clients& made = clients_[client];
  if (!made.acting) {
    const bool is_home = client == &run_.client;
    const bool is_watched = is_home || (identity_ && control::is_unknown(*identity_));
    if (is_watched) made.watched = std::make_unique<LossWatch>(*this, *client);
    client::Client* inner = is_watched ? made.watched.get() : client;
    if (!is_home && identity_ && identity_->name.starts_with(kAccountPrefix)) {
      made.guard = std::make_unique<AccountGuard>(*this, *client, *inner, cluster);
      inner = made.guard.get();
    }
    made.acting = std::make_unique<control::ActingClient>(*inner, identity_, &confinement_, is_home);
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

void Acting::confine(const std::string& ns, std::string why, const kube::UserInfo& by) {
  if (confinement_.ns.empty()) confinement_.why = std::move(why);
  confinement_.ns = ns;
  if (const kube::UserInfo* user = identity()) {
    confinement_.user = std::make_shared<const kube::UserInfo>(narrowed(*user, ns, {by}));
  }
}

void Acting::narrow(const kube::UserInfo& by) {
  if (const kube::UserInfo* user = identity()) {
    confinement_.user = std::make_shared<const kube::UserInfo>(narrowed(*user, "", {by}));
  }
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application
