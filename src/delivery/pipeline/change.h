// "Bring version V into environment E": how a promotion's change is made. A strategy is a row: commit (to the branch itself),
// pull-request, notification, none. Each is carried out under the promotion's name as key, and carrying it out again finds what
// was done under that key (a commit by its trailer, a pull request by its branch, an event by its name), so that a crash at any
// point makes no second change. A failure says which cause of outcome.h it is; none of them rejects a release.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/http_client.h"
#include "client/client.h"
#include "delivery/pipeline/promote.h"

namespace slipway::delivery::pipeline {

struct ChangeOrder {
  std::string key{};        // name of the Promotion; empty: to withdraw whatever any promotion has proposed
  kube::Object pipeline{};  // its namespace and name go into markers and Secrets' places
  std::string environment{};
  ReleaseSpec release{};
  PromotionSpec promotion{};
  PromotionStatus status{};  // as it was recorded before
  Promotion settings{};      // of the environment, or else the pipeline
  bool is_frozen = false;    // a pull request must not be merged now: it gets a failing commit status
};

struct ChangeState {
  enum class Stage : std::uint8_t {
    Made,      // the change is in the branch
    Proposed,  // a pull request is open
    Closed,    // it was closed without a merge, or there is none
    Told,      // the event is recorded
  };
  Stage stage = Stage::Made;
  std::string commit{};
  std::string pull_request{};  // URL
  bool is_marked_frozen = false;
};

struct ChangeFailure {
  PromotionCause cause = PromotionCause::PushFailed;
  Status error{};
};
using ChangeResult = std::expected<ChangeState, ChangeFailure>;

struct ChangeTools {
  Env& env;
  client::Client& own;     // of the pipeline's cluster, as the process: for events
  client::Client& author;  // of the same as the Pipeline's author: for Secrets
  HttpClient* http = nullptr;
};

/// Makes changes. There is one for the program (changes()); tests bring their own.
class Changes {
 public:
  virtual ~Changes() = default;
  /// Kind Ask is nothing to it.
  virtual Task<ChangeResult> carry_out(ChangeTools tools, PromotionEffect::Kind kind, ChangeOrder order) = 0;
};
Changes& changes();

/// A failure of reading or writing, told apart where the reason tells more than where it happened. A right that the author
/// lacks is waited for: it counts as no try.
ChangeFailure change_failure(PromotionCause where, Status error);
/// Records what came of a change: the phase is decided by the next look.
void take_change(PromotionStatus& status, PromotionEffect::Kind kind, const ChangeResult& result, Time now);

}  // namespace slipway::delivery::pipeline
