#include "delivery/package/author.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kSteering = "packages.slipway.dev/";

}  // namespace

kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return record_author(kAuthor, object, old, asker, kSteering);
}

Author author_of(const kube::Object& object, ActsAs acts_as) { return delivery::author_of(kAuthor, object, acts_as); }

}  // namespace slipway::delivery::package
