#include "delivery/probe/zone.h"

#include <fmt/format.h>

namespace slipway::delivery::probe {

Result<gate::Zone> load_zone(Files& files, const std::string& name) {
  if (name == "UTC") return gate::Zone();
  if (name.empty() || name.starts_with('/') || name.contains("..")) {
    return fail(Reason::Invalid, fmt::format("{:?} is no time zone such as Europe/Berlin", name));
  }
  auto bytes = files.read("/usr/share/zoneinfo/" + name);
  if (!bytes) {
    return fail(Reason::NotFound, fmt::format("there is no time zone {} on this machine; install the package tzdata", name));
  }
  return gate::Zone::parse(name, *bytes);
}

}  // namespace slipway::delivery::probe
