// Requests signed for services of AWS: Signature Version 4, as "AWS Signature Version 4 for API requests" (IAM user guide) has
// it. Pure: the time is given, and nothing is sent.
#pragma once

#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/time.h"

namespace slipway::delivery::probe {

struct AwsIdentity {
  std::string key_id{};
  std::string secret{};
  std::string session_token{};  // of temporary credentials; empty: none
  std::string region{};
  std::string service{};  // "monitoring"
};

/// Adds X-Amz-Date, X-Amz-Security-Token and Authorization. The host, the date and all headers that `call` has are signed;
/// those that are added later are not. The URL's path must be "/" or absent, its query absent.
void sign_for_aws(HttpCall& call, const AwsIdentity& identity, Time now);

}  // namespace slipway::delivery::probe
