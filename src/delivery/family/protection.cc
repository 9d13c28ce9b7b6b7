#include "delivery/family/protection.h"

#include <fmt/format.h>

#include "json/quoted.h"

namespace slipway::delivery {

std::vector<Cause> check_protection(std::span<const Protection> table, const kube::Object& object, const kube::Object& old,
                                    const kube::Asker& asker) {
  std::vector<Cause> causes;
  if (asker.user == nullptr || old.is_null() || kube::is_deleting(old)) return causes;
  for (const Protection& row : table) {
    if (!kube::refers_to(old, row.kind.group, row.kind.kind)) continue;
    const std::vector<std::string> weakened = row.weakened(object, old);
    if (weakened.empty()) continue;
    if (asker.may(row.verb, row.resource, kube::ns(old), row.of_object ? kube::name(old) : "")) continue;
    for (const std::string& field : weakened) {
      causes.push_back(field::forbidden(
          field, fmt::format("{} user {} needs the right to {} {} in namespace {}", row.because, json::quoted(asker.user->name),
                             row.verb, row.resource.group_resource(), kube::ns(old))));
    }
  }
  return causes;
}

}  // namespace slipway::delivery
