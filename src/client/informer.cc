#include "client/informer.h"

#include <algorithm>

#include "base/check.h"
#include "client/backoff.h"

namespace slipway::client {

namespace {

constexpr Backoff kBackoff{std::chrono::milliseconds{800}, std::chrono::seconds{30}};
/// A watch that ends sooner and empty counts as a failure, so that a broken server is not asked in a tight loop.
constexpr Duration kShortestWatch = std::chrono::seconds{1};

/// Items of a list may leave out what the list says for them all.
Value typed_item(const Value& list, const Value& item) {
  if (item.has("kind")) return item;
  std::string kind = list["kind"].str();
  if (kind.ends_with("List")) kind.resize(kind.size() - 4);
  return item.with("apiVersion", list["apiVersion"]).with("kind", kind);
}

/// What Form::Metadata keeps. managedFields are as large as the object and are not looked at in a cache.
Value slim(const Value& object) {
  return json::object({{"apiVersion", object["apiVersion"]},
                       {"kind", object["kind"]},
                       {"metadata", object["metadata"].without("managedFields")}});
}

/// Forgets the open watch however its frame ends: stop() may come after that.
struct Closing {
  Watch*& watch;
  ~Closing() { watch = nullptr; }
};

/// Errors that stay until a person acts (a role, a definition); everything else is expected to pass.
bool is_lasting(Reason reason) {
  return reason == Reason::Forbidden || reason == Reason::Unauthorized || reason == Reason::NotFound ||
         reason == Reason::MethodNotAllowed;
}

}  // namespace

Informer::Informer(Env& env, Client& client, Resource resource, InformerOptions options)
    : env_(env),
      client_(client),
      resource_(std::move(resource)),
      options_(std::move(options)),
      cache_(options_.packs, resource_, options_.form),
      changed_(env) {}

Informer::HandlerId Informer::add_handler(Handler handler) {
  for (const auto& [key, object] : objects()) handler(Value(), object);
  handlers_.push_back({++next_handler_, std::move(handler), false});
  return next_handler_;
}

void Informer::remove_handler(HandlerId id) {
  const auto at = std::ranges::find(handlers_, id, &HandlerEntry::id);
  if (at == handlers_.end()) return;
  if (telling_ > 0) {
    at->is_removed = true;
  } else {
    handlers_.erase(at);
  }
}

Task<> Informer::run() {
  while (!is_stopped_) {
    auto done = stage_ == Stage::List ? co_await list() : co_await watch();
    if (done || is_stopped_) continue;
    failed(done.error());
    const Steady until = env_.clock.steady() + jitter(env_.random, kBackoff.after(failures_++), 1.0);
    while (!is_stopped_ && co_await changed_.wait_until(until)) {
    }
  }
}

void Informer::failed(const Status& error) {
  const bool is_news = !failure_ || failure_->reason != error.reason;
  if (error.reason == Reason::Expired || error.reason == Reason::Gone) {
    lists_at_once_ = stage_ == Stage::List;
    stage_ = Stage::List;
  }
  failure_ = error;
  const std::string what =
      options_.form == Form::Metadata ? "metadata of " + resource_.group_resource() : resource_.group_resource();
  if (is_news && is_lasting(error.reason)) {
    env_.log.warn("cannot follow a resource", {{"resource", what}, {"error", error.message}});
  } else {
    env_.log.debug("informer backs off", {{"resource", what}, {"error", error.message}});
  }
  changed_.notify();
}

void Informer::stop() {
  is_stopped_ = true;
  if (open_watch_ != nullptr) open_watch_->close();
  changed_.notify();
}

Task<> Informer::wait_synced() {
  while (!is_synced_ && !is_stopped_) co_await changed_.wait();
}

Task<bool> Informer::changed_by(Steady deadline) {
  if (deadline != Steady::max()) co_return co_await changed_.wait_until(deadline);
  co_await changed_.wait();
  co_return true;
}

Task<bool> Informer::wait_for(Revision revision, Steady deadline) {
  while (revision_ < revision) {
    if (is_stopped_ || !co_await changed_by(deadline)) co_return false;
  }
  co_return true;
}

Task<bool> Informer::wait_gone(ObjectKey key, std::string uid, Steady deadline) {
  for (;;) {
    if (!contains(key) || kube::uid(get(key)) != uid) co_return true;
    if (is_stopped_ || !co_await changed_by(deadline)) co_return false;
  }
}

Task<bool> Informer::wait_deleted(ObjectKey key, std::string uid, Steady deadline) {
  for (;;) {
    const Value found = get(key);
    if (found.is_null() || kube::uid(found) != uid || kube::is_deleting(found)) co_return true;
    if (is_stopped_ || !co_await changed_by(deadline)) co_return false;
  }
}

Request Informer::request(Verb verb) const {
  Request request;
  request.verb = verb;
  request.resource = resource_;
  request.label_selector = options_.label_selector;
  request.form = options_.form;
  request.user_agent = "slipway-informer";
  return request;
}

Task<Result<void>> Informer::list() {
  Request ask = request(Verb::List);
  if (!lists_at_once_) ask.limit = options_.page_size;
  cache_.begin_list();
  Revision listed = 0;
  for (bool is_first = true; is_first || !ask.continue_token.empty(); is_first = false) {
    SLIPWAY_CO_TRY(page, co_await client_.call(ask));
    if (is_stopped_) co_return Result<void>{};
    if (is_first) listed = kube::revision(page.object);  // later pages show the same moment
    // Taking it would drop objects that no later event brings back.
    if (listed < revision_) co_return fail(Reason::ServerTimeout, "the list is older than what was seen");
    take_page(page.object);
    ask.continue_token = page.object["metadata"]["continue"].str();
  }
  for (const ObjectKey& key : cache_.unlisted()) erase(key);
  reached(listed);
  stage_ = Stage::Watch;
  lists_at_once_ = false;
  failure_.reset();
  is_synced_ = true;
  changed_.notify();
  co_return Result<void>{};
}

Task<Result<void>> Informer::watch() {
  Request ask = request(Verb::Watch);
  ask.resource_version = std::to_string(revision_);
  ask.allow_watch_bookmarks = true;
  SLIPWAY_CO_TRY(watch, co_await client_.watch(std::move(ask)));
  if (is_stopped_) co_return Result<void>{};
  open_watch_ = watch.get();
  const Closing closing{open_watch_};
  co_return co_await follow(*watch);
}

Task<Result<void>> Informer::follow(Watch& watch) {
  const Steady began = env_.clock.steady();
  bool was_empty = true;
  for (;;) {
    SLIPWAY_CO_TRY(events, co_await watch.next());
    if (events.empty() || is_stopped_) break;
    was_empty = false;
    failures_ = 0;
    failure_.reset();
    for (const WatchEvent& event : events) take(event);
    changed_.notify();
  }
  if (was_empty && env_.clock.steady() - began < kShortestWatch)
    co_return fail(Reason::ServerTimeout, "the watch ended at once");
  failure_.reset();
  co_return Result<void>{};
}

void Informer::take_page(const Value& page) {
  for (const Value& item : page["items"].items()) put(kube::key_of(item), typed_item(page, item));
}

void Informer::take(const WatchEvent& event) {
  switch (event.type) {
    case WatchEvent::Type::Added:
    case WatchEvent::Type::Modified:
      put(kube::key_of(event.object), event.object);
      break;
    case WatchEvent::Type::Deleted:
      erase(kube::key_of(event.object));
      break;
    case WatchEvent::Type::Bookmark:
      break;
  }
  reached(kube::revision(event.object));
}

void Informer::put(const ObjectKey& key, Value object) {
  if (options_.form == Form::Metadata) object = slim(object);
  Value before;
  if (cache_.put(key, object, before)) tell(before, object);
}

void Informer::erase(const ObjectKey& key) {
  const Value before = cache_.erase(key);
  if (!before.is_null()) tell(before, Value());
}

void Informer::tell(const Value& before, const Value& after) {
  ++telling_;
  const HandlerId last = next_handler_;  // those added from here on see the object when they are added
  for (const HandlerEntry& entry : handlers_) {
    if (entry.id <= last && !entry.is_removed) entry.handler(before, after);
  }
  if (--telling_ == 0) std::erase_if(handlers_, [](const HandlerEntry& entry) { return entry.is_removed; });
}

void Informer::reached(Revision revision) { revision_ = std::max(revision_, revision); }

}  // namespace slipway::client
