// The forms of output that people choose fields in: -o custom-columns=HEADER:.path,… and -o jsonpath=TEMPLATE, as kubectl and
// Porch's client have them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/package/commands.h"

namespace slipway::delivery::package {

/// BadRequest unless --output is absent, one of `allowed`, or one of the two forms with paths that can be read.
Result<void> check_output(const CommandCall& call, const std::vector<std::string>& allowed);
/// The text; nullopt for another form. REQUIRES: check_output.
std::optional<std::string> chosen_output(const CommandCall& call, const std::vector<kube::Object>& objects);

}  // namespace slipway::delivery::package
