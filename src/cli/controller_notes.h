// What controllers that run elsewhere wait for: `slipway controller` writes it into its Lease (control/leader_election.h),
// where whoever asks `why` finds it, over the wire or in a data directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"

namespace slipway::cli {

/// A sentence each, of Leases that are held. None for a user who may not see Leases.
Task<std::vector<std::string>> controller_notes(client::Client& client);

/// The lines of a text that are not empty.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace slipway::cli
