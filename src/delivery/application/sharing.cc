#include "delivery/application/sharing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/kind.h"

namespace slipway::delivery::application {

std::string sharer_name(const kube::Object& application) {
  return fmt::format("{}/{}", kube::ns(application), kube::name(application));
}

std::string owner_of(const kube::Object& live) {
  const auto name = kube::label(live, kLabelName);
  return name.empty() ? "" : fmt::format("{}/{}", kube::label(live, kLabelNamespace), name);
}

std::vector<std::string> sharers_of(const kube::Object& live) {
  std::vector<std::string> sharers;
  for (const std::string_view one : split(kube::annotation(live, kSharedBy), ',')) {
    if (!one.empty()) sharers.emplace_back(one);
  }
  return sharers;
}

bool is_shared_by(const kube::Object& live, const std::string& sharer) {
  const std::vector<std::string> sharers = sharers_of(live);
  return std::ranges::find(sharers, sharer) != sharers.end();
}

std::string with_sharer(const kube::Object& live, const std::string& sharer) {
  std::vector<std::string> sharers = sharers_of(live);
  if (std::ranges::find(sharers, sharer) == sharers.end()) sharers.push_back(sharer);
  return joined(sharers, ",");
}

}  // namespace slipway::delivery::application
