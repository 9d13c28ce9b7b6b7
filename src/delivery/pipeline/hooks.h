// Webhooks of pipelines, as paths (client/served.h) that an API server of ours and `slipway controller --webhook-listen` serve:
//
//   POST /promotion/NAMESPACE/PIPELINE/ENVIRONMENT            a Flux event, as the product's pipeline-controller takes it
//   POST /approval/NAMESPACE/PIPELINE/ENVIRONMENT/REVISION    a system elsewhere approves what waits
//   POST /release/NAMESPACE/PIPELINE                          CI announces an artifact
//
// Each is signed with the key `hmac-key` of the Secret that the environment's promotion block names, else the pipeline's;
// without a key nothing is taken. The first is a hint: it writes an annotation on the Pipeline, so that its controllers look
// again, and what they see decides. Its signature covers the body only, since Flux's generic-hmac provider sends no more. The
// other two need a timestamp and a nonce, and their signature covers method, path, timestamp, nonce and body; a call is taken
// once (used_nonces.h) and within five minutes. All calls of a pipeline are limited to 20 in 30 seconds.
//
// DIVERGES from weaveworks/pipeline-controller: a promotion is answered 204 where it answers 201 with the link of a pull
// request, since nothing is opened within the request; apiVersion is compared by its group; only signed calls count for the
// limit, so that strangers cannot use it up; paths match as a whole.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/served.h"
#include "delivery/pipeline/spec.h"
#include "delivery/probe/signed_call.h"

namespace slipway::delivery::pipeline {

using probe::is_signed;
using probe::kHookUser;  // one person for rules that count people, and never an author
using probe::kReplayWindow;
using probe::signed_text;
inline constexpr std::string_view kSignatureHeader = probe::kCallSignature;
inline constexpr std::string_view kTimestampHeader = probe::kCallTimestamp;
inline constexpr std::string_view kNonceHeader = probe::kCallNonce;
inline constexpr std::string_view kHmacKey = probe::kCallKey;
inline constexpr std::size_t kCallsPerWindow = 20;
inline constexpr Duration kCallWindow = std::chrono::seconds{30};
/// On a Release that was there when CI announced it: when its artifact was made.
inline constexpr std::string_view kArtifactCreatedAnnotation = "pipelines.slipway.dev/artifact-created";

/// Counts calls, for all clusters of a process.
class HookMemory {
 public:
  /// Whether one more call of the pipeline is within the limit; counts it.
  bool admit(const std::string& pipeline, Steady now);

 private:
  std::map<std::string, std::deque<Steady>> calls_;
};

/// The Secret that signs calls about `environment`, or about the pipeline as a whole when that is empty; "" when none is named.
std::string secret_of(const PipelineSpec& spec, std::string_view environment);

/// What is wrong with a Flux event about `environment` of the pipeline; its revision otherwise. Invalid (422).
Result<std::string> event_revision(const PipelineSpec& spec, std::string_view environment, const json::Value& event);

/// The rows.
std::vector<client::HttpPath> hook_paths(std::shared_ptr<HookMemory> memory);

}  // namespace slipway::delivery::pipeline
