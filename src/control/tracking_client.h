// Read your own writes: a Client that notes what it has written, so that the runtime can wait until the caches have it before
// the same object is reconciled again. It also carries the deadline of the reconcile into each request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/client.h"

namespace slipway {
class Clock;
}

namespace slipway::control {

/// A write that has been answered.
struct Written {
  std::string cluster;
  kube::Resource resource;
  kube::ObjectKey key;
  kube::Revision revision = 0;  // of the object afterwards; 0 for deletions
  std::string gone_uid;         // deleted, and gone
  std::string deleted_uid;      // deleted: either gone or on its way (the answer shows the object in both cases)
};

/// Passes everything on to `inner`, with `user_agent` and the deadline filled in. Requests made after the deadline are answered
/// with Timeout and never sent.
class TrackingClient : public client::Client {
 public:
  struct Options {
    const Clock& clock;
    std::string user_agent;
    Steady deadline = Steady::max();
  };
  TrackingClient(std::shared_ptr<client::Client> inner, std::string cluster, Options options)
      : inner_(std::move(inner)), cluster_(std::move(cluster)), options_(std::move(options)) {}

  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;
  std::vector<Written> take_written() { return std::move(written_); }

 private:
  Result<void> prepare(client::Request& request) const;

  std::shared_ptr<client::Client> inner_;
  std::string cluster_;
  Options options_;
  std::vector<Written> written_;
};

}  // namespace slipway::control
