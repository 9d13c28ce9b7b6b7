#include "control/leader_election.h"

#include <fmt/format.h>

#include "kube/well_known.h"

namespace slipway::control {

namespace {

using json::Value;

using kube::kLeases;
constexpr const char* kManager = "slipway-leader";
constexpr double kRetryJitter = 0.2;

std::int64_t whole_seconds(Duration duration) { return std::chrono::duration_cast<std::chrono::seconds>(duration).count(); }

}  // namespace

LeaderElection::LeaderElection(Env& env, client::Client& client, Options options)
    : env_(env), client_(client), options_(std::move(options)), changed_(env), tasks_(env) {}

Task<> LeaderElection::acquire() {
  while (!co_await try_to_take()) co_await sleep_for(env_, jitter(env_.random, options_.retry, kRetryJitter));
}

Task<> LeaderElection::hold() {
  tasks_.spawn(keep_renewing());
  // A request that hangs must not keep the leader from seeing that its time is up.
  while (is_leader_ && env_.clock.steady() < renewed_at_ + options_.renew_deadline) {
    co_await changed_.wait_until(renewed_at_ + options_.renew_deadline);
  }
  is_over_ = true;
  if (is_leader_) problem_ = "the lease could not be renewed in time: " + problem_;
  is_leader_ = false;
}

Task<> LeaderElection::keep_renewing() {
  for (;;) {
    co_await sleep_for(env_, options_.retry);
    if (is_over_) co_return;
    co_await try_to_take();
    if (is_over_) co_return;
    if (is_held_by_other()) {
      problem_ = fmt::format("the lease was taken by {}", holder());
      is_leader_ = false;
    }
    changed_.notify();
    if (!is_leader_) co_return;
  }
}

/// One attempt. A holder writes to the record it wrote last and reads only after a conflict; others read first.
Task<bool> LeaderElection::try_to_take() {
  if (!is_leader_ || observed_.is_null()) {
    auto found = co_await read();
    if (!found && found.error().reason != Reason::NotFound) {
      problem_ = found.error().message;
      co_return false;
    }
    observe(found ? std::move(*found) : Value());
    if (is_held_by_other()) co_return false;
  }
  // From the asking on: others may have seen the new record long before its answer is here.
  const Steady asked_at = env_.clock.steady();
  auto written = co_await write(claimed(observed_));
  if (!written) {
    problem_ = written.error().message;
    // Another process wrote it, or an answer was lost: look before the next attempt.
    if (auto found = co_await read()) observe(std::move(*found));
    co_return false;
  }
  observe(std::move(*written));
  renewed_at_ = asked_at;
  is_leader_ = !is_over_;
  co_return true;
}

Task<Result<Value>> LeaderElection::read() {
  co_return co_await client::get(client_, kLeases, kube::ObjectKey{options_.ns, options_.name});
}

Task<Result<Value>> LeaderElection::write(Value lease) {
  const bool is_new = kube::uid(lease).empty();
  if (is_new) co_return co_await client::create(client_, kLeases, std::move(lease), kManager);
  co_return co_await client::update(client_, kLeases, std::move(lease), kManager);
}

/// The lease as this process would have it.
Value LeaderElection::claimed(Value lease) const {
  const std::string now = to_rfc3339_micro(env_.clock.now());
  Value spec = lease["spec"];
  if (spec["holderIdentity"].as_string() != options_.identity) {
    const std::int64_t transitions = spec["leaseTransitions"].as_int();
    spec = spec.with("acquireTime", now).with("leaseTransitions", lease.is_null() ? 0 : transitions + 1);
  }
  spec = spec.with("holderIdentity", options_.identity)
             .with("leaseDurationSeconds", whole_seconds(options_.lease))
             .with("renewTime", now);
  if (lease.is_null()) {
    lease = json::object({{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", json::object({{"name", options_.name}, {"namespace", options_.ns}})}});
  }
  const std::string note = options_.note ? options_.note() : std::string();
  const bool has_note = !lease["metadata"]["annotations"][kNote].is_null();
  if (!note.empty()) lease = lease.with_path({"metadata", "annotations", kNote}, note);
  if (note.empty() && has_note) lease = lease.without_path({"metadata", "annotations", kNote});
  return lease.with("spec", spec);
}

void LeaderElection::observe(Value lease) {
  if (lease["spec"] != observed_["spec"]) observed_at_ = env_.clock.steady();
  observed_ = std::move(lease);
}

bool LeaderElection::is_held_by_other() const {
  const Value& spec = observed_["spec"];
  const std::string_view holder = spec["holderIdentity"].as_string();
  if (holder.empty() || holder == options_.identity) return false;
  const Duration lasts = seconds_saturating(spec["leaseDurationSeconds"].as_int(whole_seconds(options_.lease)));
  return env_.clock.steady() < observed_at_ + lasts;
}

Task<> LeaderElection::release() {
  is_over_ = true;
  if (!std::exchange(is_leader_, false)) co_return;
  const Value spec = observed_["spec"].with("holderIdentity", "").with("leaseDurationSeconds", 1);
  static_cast<void>(co_await write(observed_.with("spec", spec)));
}

}  // namespace slipway::control
