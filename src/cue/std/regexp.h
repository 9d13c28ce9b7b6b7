// Regular expressions as the language has them: RE2 with Go's defaults. They are compiled once, with the program when they are
// literals, else once per evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace slipway::cue {

/// Never null; ask ok(). Patterns that need more than a megabyte are refused.
std::shared_ptr<const re2::RE2> compile_regexp(std::string_view pattern);
/// "error parsing regexp: missing closing ): `a(`"
std::string describe_regexp_error(const re2::RE2& expression);

/// What matching a text of that many bytes costs at worst, in steps: each instruction of the expression may look at each byte.
std::uint64_t match_steps(const re2::RE2& expression, std::size_t bytes);

}  // namespace slipway::cue
