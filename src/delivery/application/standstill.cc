#include "delivery/application/standstill.h"

#include <fmt/format.h>

#include <initializer_list>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {

std::string asks_for_other(const kube::Object& object) {
  for (const char* key : {kControllerRequirement, kRunControllerRequirement}) {
    const std::string_view wanted = kube::annotation(object, key);
    if (!wanted.empty()) return fmt::format("the annotation {} asks for controller {}: Slipway leaves it alone", key, wanted);
  }
  return {};
}

std::string standstill(const kube::Object& object) {
  if (kube::label(object, kLabelPause) == "true") return fmt::format("the label {} stops all work on it", kLabelPause);
  return asks_for_other(object);
}

}  // namespace slipway::delivery::application
