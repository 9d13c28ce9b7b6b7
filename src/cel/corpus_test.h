// Where tests of this room find the conformance data, and what is known not to pass.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace slipway::cel {

/// $SLIPWAY_CORPUS, or beside the source tree; empty when there is none.
std::filesystem::path corpus(const std::string& below);
std::string text_of(const std::filesystem::path& file);
/// The first words of the lines of tests/known_failures/<suite>.txt. The list may only shrink.
std::set<std::string> known_failures(const std::string& suite);

}  // namespace slipway::cel
