// Rules come from whoever may write a definition: no text may crash the compiler, and what compiles must end within its budget.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cel/program.h"
#include "json/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const json::Value self = json::object(
      {{"app", 1}, {"tier", "a"}, {"count", 3}, {"list", json::array({1, 2, 3})}, {"map", json::object({{"k", "v"}})}});
  for (const bool is_unchecked : {false, true}) {
    cel::Environment environment;
    environment.variables = {{"self", cel::type_of(cel::Kind::Dyn)}, {"app", cel::type_of(cel::Kind::Int)}};
    environment.is_unchecked = is_unchecked;
    const auto program = cel::Program::compile(text, environment);
    if (!program) {
      SLIPWAY_CHECK(!program.error().empty());
      continue;
    }
    cel::Budget budget(10'000);
    const cel::Value first = (*program)->run({{"self", cel::from_json(self, nullptr)}, {"app", cel::make_int(1)}}, budget);
    if (budget.is_exhausted()) SLIPWAY_CHECK(first.is_error());
  }
  return 0;
}
