// Files come from people: whatever stands in one, a marked field is set or a problem told, and setting again finds it set.
// Bytes pick pieces of YAML, so that many inputs parse.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "delivery/pipeline/commit.h"

namespace {

constexpr std::array<std::string_view, 14> kValues{"6.2.0", "'6.2.0'", "\"6.2.0\"", "1.10", "&x 6.2.0", "*x",  "!!str 6",
                                                   "",      "{a: 1}",  "[1, 2]",    "|",    "it's",     "'#'", "'a''b' "};
constexpr std::array<std::string_view, 5> kEnds{"\n", "\r\n", " # {\"$promotion\": \"default:podinfo:prod\"}\n",
                                                " #{\"$promotion\":\"default:podinfo:prod:tag\"} \r\n",
                                                " # {\"$promotion\": \"default:podinfo:dev\"}\n"};
constexpr std::array<std::string_view, 14> kPieces{"'",  "\"", "#",     " ",     "\n", "{", "}",
                                                   "- ", ": ", "|\n  ", "---\n", "\t", ",", "\xc3\xa4"};

/// Mostly lines that are YAML, so that markers are met at fields of every kind; some bytes are loose pieces.
std::string text_of(const std::uint8_t* data, std::size_t size) {
  std::string text = "x: &x 1\n";
  for (std::size_t i = 0; i < size && i < 24; ++i) {
    const std::size_t byte = data[i];
    if (byte >= 252) {
      text += kPieces[i * 7 % kPieces.size()];
    } else {
      text += "k: ";
      text += kValues[byte % kValues.size()];
      text += kEnds[byte / kValues.size() % kEnds.size()];
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::delivery::pipeline;
  const std::string text = text_of(data, size);
  const MarkerKey key{"default", "podinfo", "prod"};
  for (const std::string_view version : {"6.3.0", "1.10", "registry/app:1.2", "x: '#y"}) {
    const MarkedEdit first = set_marked_fields({{.path = "a.yaml", .content = text}}, key, version);
    SLIPWAY_CHECK(first.problems.empty() || (first.set.empty() && first.changes.empty()), text);
    SLIPWAY_CHECK(first.changes.empty() == first.set.empty(), text);
    if (first.changes.empty()) continue;
    const MarkedEdit second = set_marked_fields({{.path = "a.yaml", .content = first.changes.front().content}}, key, version);
    SLIPWAY_CHECK(second.problems.empty() && second.set.empty(), text);
    SLIPWAY_CHECK(second.current.size() == first.set.size() + first.current.size(), text);
  }
  return 0;
}
