#include "delivery/package/wait.h"

#include <fmt/format.h>

#include <functional>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

using client::WatchEvent;
using json::Value;

/// Follows one record until `is_enough` says so of its newest state; null is one that is gone. The last state.
Task<std::optional<Value>> follow(client::ServedContext context, StoredRecord from,
                                  std::function<bool(const Value& object)> is_enough) {
  client::Request request;
  request.verb = client::Verb::Watch;
  request.resource = kRecords;
  request.ns = from.key().ns;
  request.field_selector = fmt::format("metadata.name={}", from.key().name);
  request.resource_version = from.version();
  request.timeout_seconds = std::chrono::duration_cast<std::chrono::seconds>(kLongestWait).count();
  request.user_agent = kRecordManager;
  const std::string uid = from.uid();
  Value last = from.object;
  if (is_enough(last)) co_return last;
  auto watch = co_await context.server.watch(std::move(request));
  while (watch) {
    const auto events = co_await (*watch)->next();
    if (!events || events->empty()) break;
    for (const WatchEvent& event : *events) {
      if (event.type == WatchEvent::Type::Bookmark || kube::uid(event.object) != uid) continue;
      last = event.type == WatchEvent::Type::Deleted ? Value() : event.object;
      if (is_enough(last)) co_return last;
    }
  }
  co_return std::nullopt;
}

}  // namespace

Task<Result<StoredRecord>> wait_published(client::ServedContext context, StoredRecord approved) {
  const std::string name = approved.key().name;
  const std::string repository = approved.record.repository;
  const std::string ns = approved.key().ns;
  const auto end = co_await follow(context, approved, [](const Value& object) {
    const auto read = read_record(object);
    return !read || !read->record.is_publishing();
  });
  if (!end) {
    const auto now = co_await get_record(context.server, {ns, name});
    const std::string told = now ? now->record.not_pushed : "";
    co_return fail(
        Reason::Timeout,
        fmt::format("{} is approved, but repository {} has not taken it yet{}{}: it is Published as soon as that has "
                    "happened",
                    name, repository, told.empty() ? "" : ": ", told));
  }
  if (end->is_null()) co_return fail(kube::not_found(kRevisions, name));
  SLIPWAY_CO_TRY(stored, read_record(*end));
  if (is_published(stored.record.lifecycle)) co_return std::move(stored);
  co_return fail(kube::conflict(kRevisions, name, fmt::format("it was changed in the repository: {}", stored.record.drift)));
}

Task<> wait_gone(client::ServedContext context, StoredRecord going) {
  co_await follow(context, std::move(going), [](const Value& object) {
    return object.is_null() || !kube::without_finalizer(object, kGitFinalizer)["metadata"]["finalizers"].empty();
  });
}

}  // namespace slipway::delivery::package
