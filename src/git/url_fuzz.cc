// URLs, references and paths come from people and from repositories: whatever they hold, they are taken apart or refused, and
// what was taken is read again as the same.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "git/url.h"

namespace {

constexpr std::array<std::string_view, 24> kPieces{"http://", "https://", "ssh://", "file://", "ext::", "git",  "@",    ":",
                                                   "/",       "..",       ".",      "-",       "[",     "]",    "::1",  "%2e",
                                                   "%00",     "8",        " ",      "\n",      "?",     "host", ".git", "~"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::git;
  std::string text;
  for (std::size_t i = 0; i < size && i < 64; ++i) {
    if (data[i] < 200) {
      text += kPieces[data[i] % kPieces.size()];
    } else {
      text += static_cast<char>(data[i] - 128);
    }
  }
  if (const auto url = Url::parse(text)) {
    const auto again = Url::parse(url->text());
    SLIPWAY_CHECK(again && again->shown() == url->shown() && again->kind == url->kind, text);
    SLIPWAY_CHECK(url->is_local() || !url->host.starts_with('-'), text);
    SLIPWAY_CHECK(!url->text().contains("::") || url->is_local() || url->host.contains(':') || url->path.contains("::"), text);
  }
  const bool is_path = check_path(text).has_value();
  SLIPWAY_CHECK(!is_path || (!text.starts_with('/') && !("/" + text + "/").contains("/../")), text);
  static_cast<void>(check_ref(text));
  static_cast<void>(check_ref("refs/heads/" + text));
  return 0;
}
