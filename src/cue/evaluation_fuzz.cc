// Programs of any shape end in a value or an error within their budget, the same each time. Bytes are taken as a text, and as
// the choices of a generator of programs, which reach further into evaluation.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cue/cue.h"

namespace slipway::cue {
namespace {

const Limits kLimits{.max_steps = 3000, .max_bytes = std::size_t{16} << 20, .max_depth = 200};

/// A program from a stream of choices; when they run out, the shortest way to the end.
class Generator {
 public:
  explicit Generator(std::string_view choices) : choices_(choices) {}

  std::string program() {
    std::string out = "import \"strings\"\nz: strings.ToUpper(\"z\")\n";
    do out += field(0) + "\n";
    while (!choices_.empty() && out.size() < 4000);
    return out;
  }

 private:
  unsigned choose(unsigned below) {
    if (choices_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(choices_.front());
    choices_.remove_prefix(1);
    return byte % below;
  }
  std::string name() {
    return std::string(choose(8) == 7 ? "#" : choose(9) == 8 ? "_" : "") + static_cast<char>('a' + choose(4));
  }

  std::string field(int depth) {
    switch (choose(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return name() + ": " + value(depth + 1);
      case 4:
        return name() + "?: " + value(depth + 1);
      case 5:
        return "[" + std::string(choose(2) == 0 ? "string" : "=~\"^a\"") + "]: " + value(depth + 1);
      case 6:
        return "if " + name_in_root() + (choose(2) == 0 ? " != _|_ {" : " == _|_ {") + field(depth + 1) + "}";
      case 7:
        return "for k, v in " + name_in_root() + " {\"\\(k)\": v}";
      case 8:
        return depth == 0 ? name() + "!: " + value(depth + 1) : name_in_root();
      default:
        return "(\"" + name() + "\"): " + value(depth + 1);
    }
  }

  std::string name_in_root() { return std::string(1, static_cast<char>('a' + choose(4))); }

  std::string value(int depth) {
    static constexpr const char* kLeaves[] = {"1",  "\"x\"", "int", "string", "null", "true", "_",
                                              ">1", "[]",    "{}",  "1.5",    "_|_",  "<3",   "!=2"};
    if (depth > 8) return kLeaves[choose(14)];
    switch (choose(12)) {
      case 0:
      case 1:
        return kLeaves[choose(14)];
      case 2:
        return "{" + field(depth) + ", " + field(depth) + "}";
      case 3:
        return "(" + value(depth + 1) + " & " + value(depth + 1) + ")";
      case 4:
        return "(*" + value(depth + 1) + " | " + value(depth + 1) + ")";
      case 5:
        return "[" + value(depth + 1) + ", ..." + value(depth + 1) + "]";
      case 6:
        return name_in_root();
      case 7:
        return name_in_root() + "." + name_in_root();
      case 8:
        return "(" + name_in_root() + " + " + value(depth + 1) + ")";
      case 9:
        return "close({" + field(depth) + "})";
      case 10:
        return "\"\\(" + name_in_root() + ")\"";
      default:
        return "[for x in " + value(depth + 1) + " {x}]";
    }
  }

  std::string_view choices_;
};

std::string outcome(const std::string& text) {
  auto program = compile({{"x.cue", text}});
  if (!program) return describe(program.error());
  const Cursor root = evaluate(*program, {}, kLimits);
  std::string out = describe(root.validate(Demand::Valid)) + describe(root.validate(Demand::Concrete));
  auto data = root.to_json_text();
  out += data ? *data : describe(data.error());
  (void)root.to_yaml();
  return out + root.to_cue();
}

}  // namespace
}  // namespace slipway::cue

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& text : {std::string(bytes), slipway::cue::Generator(bytes).program()}) {
    SLIPWAY_CHECK(slipway::cue::outcome(text) == slipway::cue::outcome(text), text);
  }
  return 0;
}
