// kubectl slipway describe|why: the program under the name kubectl-slipway, on a cluster elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/commands.h"
#include "cli/controller_notes.h"
#include "cli/place.h"

namespace slipway::cli {
namespace {

/// What keeps controllers from their work: an embedded cluster says it in /readyz, `slipway controller` in its Lease.
Task<std::vector<std::string>> hindrances(std::shared_ptr<remote::RemoteClient> client) {
  constexpr std::string_view kMark = "[-]controllers failed: ";
  std::vector<std::string> told;
  const auto ready = co_await client->get_path("/readyz");
  if (!ready) {
    for (const std::string& line : lines_of(ready.error().message)) {
      if (line.starts_with(kMark)) told.push_back(line.substr(kMark.size()));
    }
  }
  std::ranges::move(co_await controller_notes(*client), std::back_inserter(told));
  co_return told;
}

}  // namespace

Task<int> plugin_describe(Session& session, Arguments arguments) { co_return co_await describe(session, std::move(arguments)); }

Task<int> plugin_why(Session& session, Arguments arguments) {
  const auto found = co_await find_object(session, std::move(arguments));
  if (!found) co_return report(found.error());
  for (const std::string& each : co_await hindrances(found->place.elsewhere)) fmt::print("note: {}\n", each);
  co_return co_await print_why(session, *found);
}

}  // namespace slipway::cli
