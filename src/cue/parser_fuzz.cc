// Whatever bytes come: scanning and parsing end in a tree or in errors whose places lie in the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cue/syntax/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway::cue;
  if (size > (std::size_t{64} << 10)) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool is_new : {false, true}) {
    const ParseOptions options{.has_experiments = is_new, .wants_list_newlines = is_new};
    Arena arena;
    Diagnostics diagnostics;
    const ast::File* file = parse_file("x.cue", text, 1, arena, diagnostics, options);
    SLIPWAY_CHECK(file != nullptr || !diagnostics.empty());
    for (const Diagnostic& one : diagnostics) SLIPWAY_CHECK(!one.message.empty() && one.pos <= size + 2, one.message);
    diagnostics.clear();
    const ast::Node* node = parse_expression(text, 1, arena, diagnostics, options);
    SLIPWAY_CHECK((node != nullptr) == diagnostics.empty());
  }
  return 0;
}
