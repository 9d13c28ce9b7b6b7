#include "delivery/jobflow/author_client.h"

#include "delivery/jobflow/kind.h"

namespace slipway::delivery::jobflow {

std::shared_ptr<const kube::UserInfo> author_of(const kube::Object& object, ActsAs acts_as) {
  return delivery::author_of(kIdentity, object, acts_as);
}

control::ActingClient as_author(client::Client& own, const kube::Object& object, ActsAs acts_as) {
  return {own, author_of(object, acts_as)};
}

}  // namespace slipway::delivery::jobflow
