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

}  // namespace

Informer::Informer(Env& env, Client& client, Resource resource, std::string label_selector)
    : env_(env), client_(client), resource_(std::move(resource)), label_selector_(std::move(label_selector)), changed_(env) {}

void Informer::add_index(std::string name, Indexer indexer) {
  SLIPWAY_CHECK(objects_.empty(), "indexes are added before run()");
  indexes_.insert_or_assign(std::move(name), Index{std::move(indexer), {}});
}

Task<> Informer::run() {
  for (;;) {
    auto done = stage_ == Stage::List ? co_await list() : co_await watch();
    if (done) continue;
    const Reason reason = done.error().reason;
    if (reason == Reason::Expired || reason == Reason::Gone) stage_ = Stage::List;
    const Duration pause = jitter(env_.random, kBackoff.after(failures_++), 1.0);
    env_.log.debug(
        "informer backs off",
        {{"resource", resource_.group_resource()}, {"error", done.error().message}, {"for", slipway::to_string(pause)}});
    co_await sleep_for(env_, pause);
  }
}

Task<> Informer::wait_synced() {
  while (!is_synced_) co_await changed_.wait();
}

Task<> Informer::wait_for(Revision revision) {
  while (revision_ < revision) co_await changed_.wait();
}

Task<> Informer::wait_gone(ObjectKey key, std::string uid) {
  for (;;) {
    const Value* found = find(key);
    if (found == nullptr || kube::uid(*found) != uid) co_return;
    co_await changed_.wait();
  }
}

const Value* Informer::find(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

Value Informer::get(const ObjectKey& key) const {
  const Value* found = find(key);
  return found == nullptr ? Value() : *found;
}

std::vector<Value> Informer::index(const std::string& name, const std::string& key) const {
  const auto index = indexes_.find(name);
  SLIPWAY_CHECK(index != indexes_.end(), name);
  std::vector<Value> found;
  const auto entry = index->second.entries.find(key);
  if (entry == index->second.entries.end()) return found;
  found.reserve(entry->second.size());
  for (const ObjectKey& object : entry->second) found.push_back(objects_.at(object));
  return found;
}

Request Informer::request(Verb verb) const {
  Request request;
  request.verb = verb;
  request.resource = resource_;
  request.label_selector = label_selector_;
  request.user_agent = "slipway-informer";
  return request;
}

Task<Result<void>> Informer::list() {
  SLIPWAY_CO_TRY(reply, co_await client_.call(request(Verb::List)));
  // Taking it would drop objects that no later event brings back.
  if (kube::revision(reply.object) < revision_) co_return fail(Reason::ServerTimeout, "the list is older than what was seen");
  replace(reply.object);
  stage_ = Stage::Watch;
  co_return Result<void>{};
}

Task<Result<void>> Informer::watch() {
  Request ask = request(Verb::Watch);
  ask.resource_version = std::to_string(revision_);
  ask.allow_watch_bookmarks = true;
  const Steady began = env_.clock.steady();
  SLIPWAY_CO_TRY(watch, co_await client_.watch(std::move(ask)));
  bool was_empty = true;
  for (;;) {
    SLIPWAY_CO_TRY(events, co_await watch->next());
    if (events.empty()) break;
    was_empty = false;
    failures_ = 0;
    for (const WatchEvent& event : events) take(event);
    changed_.notify();
  }
  if (was_empty && env_.clock.steady() - began < kShortestWatch)
    co_return fail(Reason::ServerTimeout, "the watch ended at once");
  co_return Result<void>{};
}

void Informer::replace(const Value& list) {
  std::set<ObjectKey> vanished;
  for (const auto& [key, object] : objects_) vanished.insert(key);
  for (const Value& item : list["items"].items()) {
    ObjectKey key = kube::key_of(item);
    vanished.erase(key);
    put(key, typed_item(list, item));
  }
  for (const ObjectKey& key : vanished) erase(key);
  reached(kube::revision(list));
  is_synced_ = true;
  changed_.notify();
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

void Informer::Index::remove(const std::vector<std::string>& from, const ObjectKey& key) {
  for (const std::string& entry : from) {
    const auto old = entries.find(entry);
    if (old == entries.end()) continue;
    old->second.erase(key);
    if (old->second.empty()) entries.erase(old);
  }
}

void Informer::put(const ObjectKey& key, Value object) {
  const auto [at, is_new] = objects_.try_emplace(key);
  if (!is_new && kube::revision(at->second) >= kube::revision(object)) return;
  const Value before = std::exchange(at->second, object);
  for (auto& [name, index] : indexes_) {
    const auto old_entries = is_new ? std::vector<std::string>() : index.keys_of(before);
    const auto new_entries = index.keys_of(object);
    if (old_entries == new_entries) continue;
    index.remove(old_entries, key);
    for (const std::string& entry : new_entries) index.entries[entry].insert(key);
  }
  tell(before, object);
}

void Informer::erase(const ObjectKey& key) {
  const auto at = objects_.find(key);
  if (at == objects_.end()) return;
  const Value before = std::move(at->second);
  objects_.erase(at);
  for (auto& [name, index] : indexes_) index.remove(index.keys_of(before), key);
  tell(before, Value());
}

void Informer::tell(const Value& before, const Value& after) {
  for (const Handler& handler : handlers_) handler(before, after);
}

void Informer::reached(Revision revision) { revision_ = std::max(revision_, revision); }

}  // namespace slipway::client
