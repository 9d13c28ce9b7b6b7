// A client that stops asking a cluster which does not answer. After three failures in a row (no connection, no answer in time)
// the cluster counts as out of reach: requests are refused at once, so that no worker waits for a dead cluster, but for
// one probe per pause (1 s, doubled up to 30 s). The first answer of any kind, a refusal included, closes the breaker again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/env.h"
#include "client/client.h"
#include "control/clusters.h"

namespace slipway::fleet {

class BreakerClient : public client::Client {
 public:
  static constexpr int kFailures = 3;

  /// `changed` is called after the cluster fell out of reach or came back, on the logic thread.
  BreakerClient(Env& env, std::string cluster, std::shared_ptr<client::Client> inner, std::function<void()> changed);

  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

  const control::Reach& reach() const { return reach_; }
  /// Nothing is reported any more: whoever listens may be gone before the last answer is in.
  void detach() { changed_ = nullptr; }

 private:
  /// An error while the breaker is open and it is not yet time for a probe.
  Result<void> admit();
  void answered();
  void failed(const Status& error);
  /// Takes the outcome of a request into account.
  template <class Answer>
  void learn(const Result<Answer>& answer);

  Env& env_;
  std::string cluster_;
  std::shared_ptr<client::Client> inner_;
  std::function<void()> changed_;
  control::Reach reach_;
  int failures_ = 0;
  int probes_ = 0;
  Steady next_probe_{};
};

}  // namespace slipway::fleet
