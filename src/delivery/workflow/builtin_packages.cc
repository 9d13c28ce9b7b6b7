// The CUE packages that templates import: `vela/NAME` is definitions/package/NAME.cue.
#include "delivery/workflow/builtin_texts.h"
#include "delivery/workflow/template.h"

namespace slipway::delivery::workflow {
namespace {

constexpr std::string_view kFolder = "package/";
constexpr std::string_view kSuffix = ".cue";

}  // namespace

const cue::Packages& packages() {
  static const cue::Packages all = [] {
    cue::Packages made;
    for (const BuiltinText& one : builtin_texts()) {
      if (!one.path.starts_with(kFolder) || !one.path.ends_with(kSuffix)) continue;
      const std::string file(one.path.substr(kFolder.size()));
      made["vela/" + file.substr(0, file.size() - kSuffix.size())] = {{file, std::string(one.text)}};
    }
    return made;
  }();
  return all;
}

}  // namespace slipway::delivery::workflow
