#include "cue/std/registry.h"

#include "cue/std/packages.h"

namespace slipway::cue {

bool is_standard_package(std::string_view path) {
  for (const StandardPackage& one : standard_packages()) {
    if (one.path == path) return true;
  }
  return false;
}

std::span<const Builtin> builtins_of(std::string_view package) {
  for (const StandardPackage& one : standard_packages()) {
    if (one.path == package) return one.rows;
  }
  return {};
}

const Builtin* find_builtin(std::string_view package, std::string_view name) {
  for (const Builtin& one : builtins_of(package)) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace slipway::cue
