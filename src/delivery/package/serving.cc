#include "delivery/package/serving.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/author.h"
#include "delivery/package/kind.h"
#include "json/patch.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Others beside the writers in turn are few: the worker that confirms, and other processes.
constexpr int kMostTries = 100;
constexpr Duration kLongestTurnPause = std::chrono::milliseconds{20};

}  // namespace

Requester requester_of(const client::ServedContext& context, const client::Request& request) {
  Requester who{.user = request.user ? request.user->name : request.field_manager, .now = context.env.clock.now()};
  who.is_program = request.user == nullptr;
  if (request.user) who.groups = request.user->groups;
  if (who.user.empty()) who.user = request.user_agent.empty() ? kRecordManager : request.user_agent;
  return who;
}

WriterTurns::Turn::~Turn() {
  if (turns == nullptr) return;
  const auto queue = turns->queues_.find(subject);
  const bool was_first = queue->second.front() == this;
  std::erase(queue->second, this);
  if (queue->second.empty()) {
    turns->queues_.erase(queue);
  } else if (was_first) {
    queue->second.front()->called.notify();
  }
}

Task<std::unique_ptr<WriterTurns::Turn>> WriterTurns::take(Env& env, std::string subject) {
  auto turn = std::make_unique<Turn>(env);
  turn->turns = this;
  turn->subject = subject;
  queues_[subject].push_back(turn.get());
  while (queues_[subject].front() != turn.get()) co_await turn->called.wait();
  co_return turn;
}

Task<Result<StoredRecord>> change_record(client::ServedContext context, std::shared_ptr<WriterTurns> turns, kube::ObjectKey key,
                                         Trial trial, ChangeOf change) {
  const auto turn =
      co_await turns->take(context.env, fmt::format("{} {}", static_cast<const void*>(&context.server), key.to_string()));
  for (int tries = 0;; ++tries) {
    SLIPWAY_CO_TRY(current, co_await get_record(context.server, key));
    SLIPWAY_CO_TRY(made, co_await change(current));
    auto written = co_await put_record(context.server, context.env.clock.now(), std::move(current), std::move(made.record),
                                       made.metadata, trial);
    const bool was_faster = !written && written.error().reason == Reason::Conflict;
    if (!was_faster || tries == kMostTries) co_return written;
    // Who was faster is seen only when it is durable.
    co_await sleep_for(context.env, std::min<Duration>(kLongestTurnPause, std::chrono::milliseconds{1 << std::min(tries, 5)}));
  }
}

Task<Result<bool>> may_approve(client::ServedContext context, std::shared_ptr<const kube::UserInfo> user, kube::ObjectKey key) {
  co_return co_await has_right(context.server, std::move(user), {"update", kRevisions, std::string(kApproval), std::move(key)});
}

Task<Result<void>> require_approval_right(client::ServedContext context, std::shared_ptr<const kube::UserInfo> user,
                                          kube::ObjectKey key) {
  SLIPWAY_CO_TRY(may, co_await may_approve(context, user, key));
  if (may) co_return Result<void>{};
  Status status;
  status.reason = Reason::Forbidden;
  status.message = fmt::format(
      "{} {:?} is forbidden: User {:?} cannot update resource \"{}/{}\" in API group {:?} in the namespace {:?}, which "
      "proposing a deletion needs",
      kRevisions.group_resource(), key.name, user->name, kRevisions.plural, kApproval, kRevisions.group, key.ns);
  status.name = key.name;
  status.group = kRevisions.group;
  status.kind = kRevisions.plural;
  co_return fail(std::move(status));
}

Result<Value> patched(const client::Request& request, const Value& live) {
  if (request.patch_type == client::PatchType::StrategicMerge) {
    return fail(Reason::UnsupportedMediaType,
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
  }
  if (request.patch_type == client::PatchType::Json) return json::apply_json_patch(live, request.body);
  if (!request.body.is_object()) return fail(Reason::BadRequest, "a merge patch must be an object");
  return json::apply_merge_patch(live, request.body);
}

Result<void> check_version(const client::Request& request, const StoredRecord& current, const Value& sent) {
  const std::string version = sent["metadata"]["resourceVersion"].str();
  if (version.empty() || version == current.version()) return {};
  return fail(kube::conflict(kRevisions, request.name,
                             "the object has been modified; please apply your changes to the latest version and try again"));
}

Result<void> check_identity(const client::Request& request, const StoredRecord& current, const Value& sent) {
  const Value& metadata = sent["metadata"];
  const std::string_view uid = metadata["uid"].as_string();
  if (!uid.empty() && uid != current.uid()) {
    return fail(kube::conflict(
        kRevisions, request.name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, current.uid())));
  }
  const std::string_view name = metadata["name"].as_string();
  if (name.empty() || name == request.name) return {};
  return fail(Reason::BadRequest,
              fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request.name));
}

}  // namespace slipway::delivery::package
