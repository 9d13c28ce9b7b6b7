#include "delivery/application/acting.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "delivery/application/kind.h"

namespace slipway::delivery::application {

/// Looks at refusals on their way back.
class Acting::LossWatch : public client::Client {
 public:
  LossWatch(Acting& acting, client::Client& inner) : acting_(acting), inner_(inner) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    auto reply = co_await inner_.call(std::move(request));
    if (reply || !control::lacks_right(reply.error(), acting_.identity())) co_return reply;
    co_return fail(co_await acting_.judge_refusal(std::move(reply).error()));
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
    made.watched = std::make_unique<LossWatch>(*this, *client);
    made.acting = std::make_unique<control::ActingClient>(*made.watched, identity_, &confinement_, client == &run_.client);
  }
  return made.acting.get();
}

void Acting::set_rights_at_start(std::string ns, std::string digest) {
  ns_ = std::move(ns);
  rights_at_start_ = std::move(digest);
}

Task<std::string> Acting::rights_now(std::string ns) { return control::rights_digest(run_.client, identity_, std::move(ns)); }

std::optional<Duration> Acting::sooner_without_right(std::optional<Duration> again) const {
  return has_lost_right_ ? std::min(again.value_or(control::kAuthorRightPause), control::kAuthorRightPause) : again;
}

Task<Status> Acting::judge_refusal(Status refusal) {
  if (rights_at_start_.empty()) co_return refusal;
  if (!rights_now_) rights_now_ = co_await rights_now(ns_);
  if (rights_now_->empty() || *rights_now_ == rights_at_start_) co_return refusal;
  has_lost_right_ = true;
  refusal.reason = Reason::ServiceUnavailable;
  refusal.message = fmt::format("{}: {}", control::kAuthorLacksRight, control::lacks_right_text(refusal, *identity_));
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
