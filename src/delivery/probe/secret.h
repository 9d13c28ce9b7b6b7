// Reading credentials, and showing foreign text within bounds.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "client/client.h"

namespace slipway::delivery::probe {

/// The decoded data of the Secret that `reference` {name} names in `ns`. Errors name the Secret, never its content.
Task<Result<std::map<std::string, std::string>>> read_secret(client::Client& client, std::string ns, json::Value reference);

/// The URL as texts may show it: without user and password, query and fragment.
std::string shown_url(std::string_view url);

/// At most `bytes` of the text, on one line.
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace slipway::delivery::probe
