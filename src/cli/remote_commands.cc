// apply, status and workflow: commands that change or follow what is on a cluster elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/manifests.h"
#include "cli/remote_session.h"
#include "cli/subject.h"
#include "client/informer.h"
#include "delivery/workflow/kind_mapper.h"
#include "plane/show.h"

namespace slipway::cli {
namespace {

using kube::Object;

constexpr const char* kManager = "slipway";
/// How long a kind that a file brings may take until it is served.
constexpr Duration kKindTimeout = std::chrono::seconds{10};
constexpr Duration kKindPause = std::chrono::milliseconds{100};

/// CRDs before namespaces before the rest: later objects need them.
int rank(const Manifest& manifest) {
  if (kube::kind(manifest.object) == "CustomResourceDefinition") return 0;
  return kube::kind(manifest.object) == "Namespace" ? 1 : 2;
}

Task<Result<std::string>> apply_one(Env& env, client::Client& client, Object object, std::string ns) {
  delivery::workflow::KindMapper kinds;
  const Steady deadline = env.clock.steady() + kKindTimeout;
  auto kind = co_await kinds.find_for(client, "", object);
  while (!kind && kind.error().reason == Reason::NotFound && env.clock.steady() < deadline) {
    co_await sleep_for(env, kKindPause);
    kind = co_await kinds.find_for(client, "", object);
  }
  if (!kind) co_return fail(kind.error());
  if (kind->is_namespaced && kube::ns(object).empty()) object = object.with_path({"metadata", "namespace"}, ns);
  client::Request request;
  request.verb = client::Verb::Patch;
  request.patch_type = client::PatchType::Apply;
  request.resource = kind->resource;
  request.ns = std::string(kube::ns(object));
  request.name = std::string(kube::name(object));
  request.body = std::move(object);
  request.field_manager = kManager;
  request.field_validation = "Strict";
  request.force = true;
  const std::string named = fmt::format("{}/{}", kind->resource.group_resource(), request.name);
  SLIPWAY_CO_TRY(reply, co_await client.call(std::move(request)));
  for (const std::string& warning : reply.warnings) fmt::print(stderr, "Warning: {}: {}\n", named, warning);
  co_return fmt::format("{} {}", named, reply.code == 201 ? "created" : "applied");
}

void print_news(Env& env, const Object& before, const Object& after) {
  const std::string time = to_rfc3339(env.clock.now()).substr(11, 8);
  for (const delivery::News& news : plane::news(before, after)) {
    fmt::print("{} {}{}{}: {}\n", time, plane::title(after), news.part.empty() ? "" : " ", news.part, news.text);
  }
  std::fflush(stdout);
}

/// What is printed about one object until it has ended, waits for a person, or is gone. Held by the session.
class Following {
 public:
  Following(Session& session, const Subject& subject)
      : session_(session),
        client_(subject.client),
        first_(subject.object),
        key_(kube::key_of(subject.object)),
        informer_(session.env(), *client_, subject.resource),
        changed_(session.env()),
        tasks_(session.env()) {}

  Task<Object> run() {
    informer_.add_handler([this](const Object& before, const Object& after) {
      if (kube::key_of(after.is_null() ? before : after) != key_) return;
      if (!after.is_null()) print_news(session_.env(), before.is_null() ? first_ : before, after);
      changed_.notify();
    });
    tasks_.spawn(informer_.run());
    tasks_.spawn(wake_on_interrupt());
    co_await informer_.wait_synced();
    while (is_under_way() && !session_.is_interrupted()) co_await changed_.wait();
    informer_.stop();
    co_return informer_.get(key_);
  }

 private:
  bool is_under_way() const {
    const Object now = informer_.get(key_);
    return !now.is_null() && !plane::verdict(now) && !plane::waits_for_person(now);
  }
  Task<> wake_on_interrupt() {
    if (!session_.is_interrupted()) co_await session_.interrupted().wait();
    changed_.notify();
  }

  Session& session_;
  std::shared_ptr<remote::RemoteClient> client_;
  Object first_;  // what was known before
  kube::ObjectKey key_;
  client::Informer informer_;
  Signal changed_;
  Tasks tasks_;
};

}  // namespace

Task<int> apply_files(Session& session, Arguments arguments) {
  auto manifests = read_manifests(session.env().files, arguments.files);
  if (!manifests) co_return report(manifests.error());
  const auto connection = connection_of(session.env().files, arguments);
  if (!connection) co_return report(connection.error());
  const std::string ns = !arguments.ns.empty() ? arguments.ns : connection->ns.empty() ? "default" : connection->ns;
  const auto client = connect(session, *connection);
  for (const int wanted : {0, 1, 2}) {
    for (const Manifest& manifest : *manifests) {
      if (rank(manifest) != wanted) continue;
      const auto applied = co_await apply_one(session.env(), *client, manifest.object, ns);
      if (!applied) co_return report(applied.error(), manifest.source);
      fmt::print("{}\n", *applied);
    }
  }
  co_return kDelivered;
}

Task<int> show_status(Session& session, Arguments arguments) {
  auto subject = co_await read_subject(session, arguments);
  if (!subject) co_return report(subject.error());
  Object shown = subject->object;
  if (arguments.watches) {
    const auto following = std::make_shared<Following>(session, *subject);
    session.hold(following);
    shown = co_await following->run();
    if (shown.is_null()) {
      fmt::print(stderr, "slipway: {} was deleted\n", plane::title(subject->object));
      co_return kFailed;
    }
    auto now = co_await Snapshot::read(*subject->client, subject->ns, session.env().clock.now());
    if (now) subject->view = std::move(*now);
  }
  fmt::print("{}", plane::summary(shown, subject->view));
  if (session.is_interrupted()) co_return kInterrupted;
  const auto end = plane::verdict(shown);
  co_return end && !end->is_success ? kFailed : kDelivered;
}

Task<int> operate(Session& session, Arguments arguments) {
  const std::string verb = arguments.target.front();
  const std::string target = arguments.target.size() == 2 ? arguments.target.back() : "";
  arguments.target = {target.contains('/') ? target : "app/" + target};
  auto subject = co_await read_subject(session, arguments);
  if (!subject) co_return report(subject.error());
  const delivery::Action* action = plane::find_action(plane::find_row(subject->object), verb);
  if (action == nullptr) {
    Status unknown;
    unknown.reason = Reason::BadRequest;
    unknown.message = fmt::format("{} has no operation {}", plane::title(subject->object), verb);
    co_return report(unknown);
  }
  const auto done = co_await action->run({.env = session.env(),
                                          .client = *subject->client,
                                          .resource = subject->resource,
                                          .key = kube::key_of(subject->object),
                                          .part = subject->part,
                                          .options = {}});
  if (!done) co_return report(done.error());
  fmt::print("{}: {} asked for\n", plane::title(*done), verb);
  co_return kDelivered;
}

}  // namespace slipway::cli
