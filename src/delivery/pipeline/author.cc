#include "delivery/pipeline/author.h"

#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {

kube::Object stamp_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return record_author(kIdentity, object, old, asker, kAnnotateAnnotation);
}

User author_of(const kube::Object& object, ActsAs acts_as) { return delivery::author_of(kIdentity, object, acts_as); }

}  // namespace slipway::delivery::pipeline
