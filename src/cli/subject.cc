#include "cli/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cli/controller_notes.h"
#include "cli/remote_session.h"

namespace slipway::cli {
namespace {

using kube::Object;

Result<Subject> choose(Snapshot view, const std::vector<std::string>& words) {
  std::string text = words.empty() ? "" : words[0];
  if (words.size() == 2) text += "/" + words[1];
  const auto slash = text.find('/');
  if (slash == std::string::npos || slash + 1 == text.size()) {
    return fail(Reason::BadRequest, "name what you mean as KIND/NAME, KIND NAME or KIND/NAME/STEP, e.g. workflow/release");
  }
  const auto type = view.find_word(text.substr(0, slash));
  if (!type && type.error().reason != Reason::NotFound) return fail(type.error());
  if (!type) {
    return fail(Reason::NotFound, fmt::format("slipway knows nothing of the kind \"{}\"; it knows {}", text.substr(0, slash),
                                              fmt::join(view.words(), ", ")));
  }
  std::string name = text.substr(slash + 1);
  std::string part;
  if (const auto second = name.find('/'); second != std::string::npos) {
    part = name.substr(second + 1);
    name.erase(second);
  }
  const auto objects = view.all((*type)->kind);
  const auto at = std::find_if(objects.begin(), objects.end(), [&](const Object& one) { return kube::name(one) == name; });
  if (at == objects.end()) return fail(kube::not_found((*type)->resource, name));
  const Object object = *at;
  const kube::Resource resource = (*type)->resource;
  return Subject{.view = std::move(view), .object = object, .resource = resource, .part = std::move(part)};
}

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

Task<Result<Subject>> read_subject(Session& session, Arguments arguments) {
  SLIPWAY_CO_TRY(connection, connection_of(session.env().files, arguments));
  const std::string ns = arguments.ns.empty() ? connection.ns : arguments.ns;
  const auto client = connect(session, connection);
  SLIPWAY_CO_TRY(view, co_await Snapshot::read(*client, ns, session.env().clock.now()));
  auto subject = choose(std::move(view), arguments.target);
  if (subject) {
    subject->hindrances = co_await hindrances(client);
    subject->client = client;
    subject->ns = ns;
  }
  co_return subject;
}

}  // namespace slipway::cli
