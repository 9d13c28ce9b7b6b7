#include "cue/std/packages.h"

namespace slipway::cue {

std::span<const StandardPackage> standard_packages() {
  static const StandardPackage kPackages[] = {
      {"", predeclared_rows()}, {"strings", strings_rows()}, {"strconv", strconv_rows()},
      {"list", list_rows()},    {"regexp", regexp_rows()},   {"encoding/json", json_rows()},
  };
  return kPackages;
}

}  // namespace slipway::cue
