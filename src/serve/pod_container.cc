#include "serve/pod_container.h"

#include <fmt/format.h>

namespace slipway::serve {

using json::Value;

namespace {

std::string names_of(const Value& containers) {
  std::string names;
  for (const Value& container : containers.items()) names += (names.empty() ? "" : " ") + container["name"].str();
  return names;
}

}  // namespace

Result<std::string> container_of(const kube::Object& pod, const std::string& wanted) {
  const Value& spec = pod["spec"];
  const std::string_view name = kube::name(pod);
  if (!wanted.empty()) {
    for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
      for (const Value& container : spec[list].items()) {
        if (container["name"].as_string() == wanted) return wanted;
      }
    }
    return fail(Reason::BadRequest, fmt::format("container {} is not valid for pod {}", wanted, name));
  }
  const Value& containers = spec["containers"];
  if (containers.size() == 1) return containers.item(0)["name"].str();
  std::string text =
      fmt::format("a container name must be specified for pod {}, choose one of: [{}]", name, names_of(containers));
  if (!spec["initContainers"].empty())
    text += fmt::format(" or one of the init containers: [{}]", names_of(spec["initContainers"]));
  return fail(Reason::BadRequest, std::move(text));
}

const Value& container_status(const kube::Object& pod, std::string_view container) {
  static const Value none;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Value& status : pod["status"][list].items()) {
      if (status["name"].as_string() == container) return status;
    }
  }
  return none;
}

}  // namespace slipway::serve
