// What is left out of objects before they are compared with the oracle's, and nothing else is (kubevela/ORACLE.md, "Dropped
// because they differ from run to run"): uids, times, revision and render hashes, last-applied annotations, cluster IPs, node
// ports, volume names. Also the version of the controller that wrote an object.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace slipway::oracle_test {

using json::Value;

/// An object of any kind. Its status goes whole: how objects stand is compared through services.
Value normalised(const Value& object);
/// A status text with cluster IPs as "<ip>".
std::string normalised_text(std::string_view text);

}  // namespace slipway::oracle_test
