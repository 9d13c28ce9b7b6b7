#include "delivery/jobflow/author_client.h"

#include "delivery/jobflow/admission.h"

namespace slipway::delivery::jobflow {

AuthorClient::AuthorClient(client::Client& own, const kube::Object& object, ActsAs acts_as) : own_(own) {
  auto author = acts_as == ActsAs::User ? writer_of(object) : nullptr;
  if (author) as_.emplace(own, std::move(author));
}

}  // namespace slipway::delivery::jobflow
