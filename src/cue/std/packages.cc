#include "cue/std/packages.h"

namespace slipway::cue {

std::span<const StandardPackage> standard_packages() {
  static const StandardPackage kPackages[] = {
      {"", predeclared_rows()},
      {"strings", strings_rows()},
      {"list", list_rows()},
  };
  return kPackages;
}

}  // namespace slipway::cue
