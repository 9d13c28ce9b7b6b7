// Read your own writes: a Client that notes what it has written, so that the runtime can wait until the caches have it before
// the same object is reconciled again.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"

namespace slipway::control {

/// A write that has been answered.
struct Written {
  kube::Resource resource;
  kube::ObjectKey key;
  kube::Revision revision = 0;  // of the object afterwards; 0 when it is gone
  std::string gone_uid;
};

/// Passes everything on to `inner`, with `user_agent` filled in. Both must outlive it.
class TrackingClient : public client::Client {
 public:
  TrackingClient(client::Client& inner, std::string user_agent) : inner_(inner), user_agent_(std::move(user_agent)) {}

  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;
  std::vector<Written> take_written() { return std::move(written_); }

 private:
  client::Client& inner_;
  std::string user_agent_;
  std::vector<Written> written_;
};

}  // namespace slipway::control
