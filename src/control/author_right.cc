#include "control/author_right.h"

#include <fmt/format.h>

namespace slipway::control {

bool lacks_right(const Status& error, const kube::UserInfo* author) {
  return author != nullptr && error.reason == Reason::Forbidden && !error.kind.empty();
}

std::string lacks_right_text(const Status& error, const kube::UserInfo& author) {
  return fmt::format("{}; it acts as its author {}: grant the right, or have a user who has it write the spec again",
                     error.message, author.name);
}

}  // namespace slipway::control
