#include "delivery/jobflow/author_client.h"

#include "delivery/jobflow/admission.h"

namespace slipway::delivery::jobflow {

control::ActingClient as_author(client::Client& own, const kube::Object& object, ActsAs acts_as) {
  return {own, acts_as == ActsAs::User ? writer_of(object) : nullptr};
}

}  // namespace slipway::delivery::jobflow
