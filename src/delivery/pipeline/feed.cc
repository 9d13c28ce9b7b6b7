#include "delivery/pipeline/feed.h"

#include <optional>
#include <utility>

#include "delivery/pipeline/known_kinds.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

/// A page is read at a stroke, and others wait meanwhile.
constexpr std::int64_t kPageSize = 100;

Value reduced_page(const Value& page) {
  json::ArrayBuilder items;
  for (const Value& item : page["items"].items()) {
    if (item.has("kind")) {
      items.add(reduced(item));
      continue;
    }
    std::string kind = page["kind"].str();
    if (kind.ends_with("List")) kind.resize(kind.size() - 4);
    items.add(reduced(item.with("apiVersion", page["apiVersion"]).with("kind", kind)));
  }
  return page.with("items", items.build());
}

bool is_same_beside_revision(const Object& a, const Object& b) {
  return a.without_path({"metadata", "resourceVersion"}) == b.without_path({"metadata", "resourceVersion"});
}

bool is_forbidden(const Status& error) { return error.reason == Reason::Forbidden || error.reason == Reason::Unauthorized; }
bool is_unknown(const Status& error) { return error.reason == Reason::NotFound || error.reason == Reason::MethodNotAllowed; }
bool is_refusal(const Status& error) { return is_forbidden(error) || is_unknown(error); }

}  // namespace

/// The client that the informer asks: of one namespace, reducing what comes. Outlives the feed until its last answer is in.
struct Feed::Core : client::Client {
  Core(Env& environment, std::shared_ptr<client::Client> client, Options what, Listener listening)
      : env(environment),
        through(std::move(client)),
        options(std::move(what)),
        listener(std::move(listening)),
        informer(env, *this, options.resource,
                 {.form = options.form,
                  .page_size = kPageSize,
                  .packs = options.keeps == Keeps::Reduced ? options.packs : nullptr}) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    request.ns = options.ns;
    const std::unique_ptr<ListTurns::Held> turn = options.turns ? co_await options.turns->next() : nullptr;
    auto reply = co_await through->call(std::move(request));
    learn(reply);
    if (reply && options.keeps == Keeps::Reduced) reply->object = reduced_page(reply->object);
    co_return reply;
  }

  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

  template <class Answer>
  void learn(const Result<Answer>& answer) {
    if (answer) return failed(std::nullopt);
    const Reason reason = answer.error().reason;
    if (reason != Reason::Expired && reason != Reason::Gone) failed(answer.error());
  }
  void failed(std::optional<Status> error);
  void moved() const {
    if (listener.moved) listener.moved();
  }

  Env& env;
  std::shared_ptr<client::Client> through;
  Options options;
  Listener listener;
  client::Informer informer;
  std::optional<Status> error{};
  Steady since{};
  std::unique_ptr<Timer> timer{};
};

namespace {

class ReducedWatch : public client::Watch {
 public:
  using Learn = std::function<void(const Result<std::vector<client::WatchEvent>>&)>;
  ReducedWatch(std::unique_ptr<client::Watch> inner, bool reduces, Learn learn)
      : inner_(std::move(inner)), reduces_(reduces), learn_(std::move(learn)) {}

  Task<Result<std::vector<client::WatchEvent>>> next() override {
    auto events = co_await inner_->next();
    learn_(events);
    if (!events || !reduces_) co_return events;
    for (client::WatchEvent& event : *events) {
      if (event.type != client::WatchEvent::Type::Bookmark) event.object = reduced(event.object);
    }
    co_return events;
  }
  void close() override { inner_->close(); }

 private:
  std::unique_ptr<client::Watch> inner_;
  const bool reduces_;
  Learn learn_;
};

}  // namespace

Task<Result<std::unique_ptr<client::Watch>>> Feed::Core::watch(client::Request request) {
  request.ns = options.ns;
  auto opened = co_await through->watch(std::move(request));
  learn(opened);
  if (!opened) co_return fail(std::move(opened).error());
  co_return std::make_unique<ReducedWatch>(std::move(*opened), options.keeps == Keeps::Reduced,
                                           [this](const auto& events) { learn(events); });
}

void Feed::Core::failed(std::optional<Status> now) {
  const bool is_news = now.has_value() != error.has_value() || (now && now->reason != error->reason);
  // A dead cluster fails in several ways, one after another: that is one silence.
  if (now && (!error || is_refusal(*now) != is_refusal(*error))) {
    since = env.clock.steady();
    const Duration patience = informer.is_synced() ? kStaleAfter : kPatience;
    timer = env.clock.call_at(since + patience, [this] { moved(); });
  }
  error = std::move(now);
  if (!error) timer.reset();
  if (is_news) moved();
}

namespace {

/// Keeps what the informer refers to until its last request has been answered.
template <class Shared>
Task<> follow(Shared core) {
  co_await core->informer.run();
}

template <class Shared>
Task<> tell_synced(Shared core) {
  co_await core->informer.wait_synced();
  core->moved();
}

}  // namespace

Feed::Feed(Env& env, Tasks& tasks, std::shared_ptr<client::Client> client, Options options, Listener listener)
    : core_(std::make_shared<Core>(env, std::move(client), std::move(options), std::move(listener))) {
  core_->informer.add_handler([core = core_.get()](const Object& before, const Object& after) {
    const bool is_news = before.is_null() || after.is_null() || !is_same_beside_revision(before, after);
    if (is_news && core->listener.changed) core->listener.changed(before, after);
  });
  tasks.spawn(follow(core_));
  tasks.spawn(tell_synced(core_));
}

Feed::~Feed() {
  core_->listener = {};
  core_->timer.reset();
  core_->informer.stop();
}

Feed::Stage Feed::stage() const {
  const bool is_synced = core_->informer.is_synced();
  if (!core_->error) return is_synced ? Stage::Followed : Stage::Pending;
  if (is_forbidden(*core_->error)) return Stage::Refused;
  if (is_unknown(*core_->error)) return Stage::NotServed;
  const Duration failing = core_->env.clock.steady() - core_->since;
  if (is_synced) return failing >= kStaleAfter ? Stage::Stale : Stage::Followed;
  return failing >= kPatience ? Stage::Failing : Stage::Pending;
}

std::string Feed::problem() const { return core_->error ? core_->error->message : ""; }
client::Informer& Feed::informer() const { return core_->informer; }
const kube::Resource& Feed::resource() const { return core_->options.resource; }

}  // namespace slipway::delivery::pipeline
