#include "control/tracking_client.h"

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

Task<Result<client::Reply>> TrackingClient::call(client::Request request) {
  request.user_agent = user_agent_;
  const bool is_tracked = !is_read(request.verb) && request.verb != client::Verb::DeleteCollection && !request.dry_run;
  Written written{request.resource, {request.ns, request.name}, 0, {}};
  auto reply = co_await inner_.call(std::move(request));
  if (!is_tracked || !reply) co_return reply;
  const json::Value& object = reply->object;
  if (kube::kind(object) == "Status") {
    written.gone_uid = object["details"]["uid"].str();
  } else {
    written.revision = kube::revision(object);
  }
  written_.push_back(std::move(written));
  co_return reply;
}

Task<Result<std::unique_ptr<client::Watch>>> TrackingClient::watch(client::Request request) {
  request.user_agent = user_agent_;
  co_return co_await inner_.watch(std::move(request));
}

}  // namespace slipway::control
