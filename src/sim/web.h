// The foreign HTTP servers of a simulated world: they answer at once, and each call is an operation with its two points
// (fault.h).
#pragma once

#include <map>
#include <string>

#include "base/http_client.h"
#include "sim/machine.h"

namespace slipway::sim {

/// Answers by the path that a URL ends in: "/late" 503 at the first try of each Idempotency-Key and 200 after that, "/never"
/// 403, everything else 200.
class Web : public HttpClient {
 public:
  explicit Web(Gate& gate) : gate_(gate) {}

  Task<Result<http::Response>> send(HttpCall call) override;
  /// The last status that was given to a call whose Idempotency-Key ends in "/" and this; 0: no such call.
  int answered(const std::string& key) const;

 private:
  struct Asked {
    int tries = 0;
    int status = 0;
  };
  Gate& gate_;
  std::map<std::string, Asked> asked_;  // by Idempotency-Key
};

}  // namespace slipway::sim
