// describe and why on a cluster elsewhere: `kubectl slipway describe|why`, and the same commands without --data-dir.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/subject.h"
#include "plane/show.h"

namespace slipway::cli {

Task<int> plugin_describe(Session& session, Arguments arguments) {
  const auto subject = co_await read_subject(session, std::move(arguments));
  if (!subject) co_return report(subject.error());
  fmt::print("{}", plane::description(subject->object, subject->view.all({"", "v1", "Event"}), subject->view));
  co_return kDelivered;
}

Task<int> plugin_why(Session& session, Arguments arguments) {
  const auto subject = co_await read_subject(session, std::move(arguments));
  if (!subject) co_return report(subject.error());
  for (const std::string& each : subject->hindrances) fmt::print("note: {}\n", each);
  const plane::Answer answer = plane::why(subject->object, subject->part, subject->view);
  fmt::print("{}", answer.text);
  co_return answer.is_unknown_part ? kBadInput : kDelivered;
}

}  // namespace slipway::cli
