#include "delivery/jobflow/author_client.h"

#include "delivery/jobflow/admission.h"

namespace slipway::delivery::jobflow {

std::shared_ptr<const kube::UserInfo> author_of(const kube::Object& object, ActsAs acts_as) {
  return acts_as == ActsAs::User ? writer_of(object) : nullptr;
}

control::ActingClient as_author(client::Client& own, const kube::Object& object, ActsAs acts_as) {
  return {own, author_of(object, acts_as)};
}

}  // namespace slipway::delivery::jobflow
