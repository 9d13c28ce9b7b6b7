#include "control/tracking_client.h"

#include <fmt/format.h>

#include "base/env.h"

namespace slipway::control {

namespace {

bool is_read(client::Verb verb) {
  switch (verb) {
    case client::Verb::Get:
    case client::Verb::List:
    case client::Verb::Watch:
      return true;
    case client::Verb::Create:
    case client::Verb::Update:
    case client::Verb::Patch:
    case client::Verb::Delete:
    case client::Verb::DeleteCollection:
      return false;
  }
  return false;
}

}  // namespace

/// A request without a deadline of its own gets that of the reconcile.
Result<void> TrackingClient::prepare(client::Request& request) const {
  request.user_agent = options_.user_agent;
  if (options_.deadline == Steady::max()) return {};
  if (options_.clock.steady() >= options_.deadline) {
    return fail(Reason::Timeout, fmt::format("{} was not sent: the reconcile has run out of time", request.to_string()));
  }
  if (!request.deadline) request.deadline = options_.deadline;
  return {};
}

Task<Result<client::Reply>> TrackingClient::call(client::Request request) {
  SLIPWAY_CO_TRY_VOID(prepare(request));
  const bool is_tracked = !is_read(request.verb) && request.verb != client::Verb::DeleteCollection && !request.dry_run;
  const bool is_delete = request.verb == client::Verb::Delete;
  Written written{cluster_, request.resource, {request.ns, request.name}, 0, {}, {}};
  auto reply = co_await inner_->call(std::move(request));
  if (!is_tracked || !reply) co_return reply;
  const json::Value& object = reply->object;
  if (kube::kind(object) == "Status") {
    written.gone_uid = object["details"]["uid"].str();
  } else if (is_delete) {
    written.deleted_uid = std::string(kube::uid(object));
  } else {
    written.revision = kube::revision(object);
  }
  written_.push_back(std::move(written));
  co_return reply;
}

Task<Result<std::unique_ptr<client::Watch>>> TrackingClient::watch(client::Request request) {
  SLIPWAY_CO_TRY_VOID(prepare(request));
  request.deadline.reset();  // a watch outlives the reconcile's requests
  co_return co_await inner_->watch(std::move(request));
}

}  // namespace slipway::control
