// A cache of one resource kept fresh by list and watch (client-go's reflector and shared informer in one). Handlers run on the
// logic thread, in order, once per change. A cache knows the revision it has reached, so that a controller can wait for its own
// writes to show up (read your own writes).
//
// A list is read in pages, so that no answer grows with the cluster. With Form::Metadata only names, labels, owners and the
// rest of `metadata` travel and are kept: what garbage collection and counting need, at some hundred bytes per object.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/client.h"
#include "client/object_cache.h"

namespace slipway::client {

struct InformerOptions {
  std::string label_selector{};
  Form form = Form::Whole;
  /// Objects per list request; 0: all in one. 500 as client-go's pager.
  std::int64_t page_size = 500;
  /// Packs the objects that were not used lately; null: all objects stay JSON trees.
  std::shared_ptr<ObjectPacks> packs{};
};

class Informer {
 public:
  /// `before` is null for an object that appeared, `after` is null for one that went.
  using Handler = std::function<void(const Value& before, const Value& after)>;
  using HandlerId = std::uint64_t;
  using Indexer = ObjectCache::Indexer;

  /// `client` must outlive run().
  Informer(Env& env, Client& client, Resource resource, InformerOptions options = {});

  /// Objects that are there already are handed to the new handler at once, as if they had just appeared.
  HandlerId add_handler(Handler handler);
  void remove_handler(HandlerId id);
  /// `name` is chosen by the caller, e.g. "owner"; an index of that name that exists already is replaced.
  void add_index(std::string name, Indexer indexer) { cache_.add_index(std::move(name), std::move(indexer)); }

  /// Lists and watches until stop() or the end of its world: re-lists on Expired, watches again from where it was on any other
  /// error, backs off with jitter (0.8 s, factor 2, cap 30 s) after each.
  Task<> run();
  /// Lets run() end soon and wakes all who wait. What was cached stays readable.
  void stop();
  bool is_stopped() const { return is_stopped_; }

  /// Waits for the first complete list, or stop().
  Task<> wait_synced();
  bool is_synced() const { return is_synced_; }
  /// Why the last list or watch failed; nullopt while everything works. The cache may be old then.
  const std::optional<Status>& failure() const { return failure_; }
  /// Waits until every change up to `revision` of this resource is in the cache: true. False when `deadline` came first, or
  /// stop().
  Task<bool> wait_for(Revision revision, Steady deadline = Steady::max());
  /// Waits until the object of that uid is out of the cache: true. False when `deadline` came first, or stop().
  Task<bool> wait_gone(ObjectKey key, std::string uid, Steady deadline = Steady::max());
  /// As wait_gone, but content with an object that is shown as being deleted.
  Task<bool> wait_deleted(ObjectKey key, std::string uid, Steady deadline = Steady::max());
  Revision revision() const { return revision_; }

  const Resource& resource() const { return resource_; }
  Form form() const { return options_.form; }
  /// For who looks at the same objects every few seconds, more of them than ObjectPacks leaves unpacked.
  void keep_trees() { cache_.keep_trees(); }
  bool contains(const ObjectKey& key) const { return cache_.contains(key); }
  /// The object, or null.
  Value get(const ObjectKey& key) const { return cache_.get(key); }
  std::size_t size() const { return cache_.size(); }
  /// Pairs of key and object, in the order of keys; of one namespace, or of all. Valid until the next suspension.
  ObjectCache::Objects objects() const { return cache_.objects(); }
  ObjectCache::Objects objects(std::string_view ns) const { return cache_.objects(ns); }
  /// Cheaper than objects() where those are packed.
  ObjectCache::Keys keys() const { return cache_.keys(); }
  ObjectCache::Keys keys(std::string_view ns, std::string_view prefix = {}) const { return cache_.keys(ns, prefix); }
  /// Objects whose indexer gave `key`, by object key.
  std::vector<Value> index(const std::string& name, const std::string& key) const { return cache_.index(name, key); }
  std::vector<ObjectKey> index_keys(const std::string& name, const std::string& key) const {
    return cache_.index_keys(name, key);
  }

 private:
  struct HandlerEntry {
    HandlerId id;
    Handler handler;
    bool is_removed = false;  // while handlers were running: it may be the one that runs, and goes when all have returned
  };
  /// Next to do: the whole list, or a watch from revision_.
  enum class Stage : std::uint8_t { List, Watch };

  Task<Result<void>> list();
  /// Ends well at the watch's regular end.
  Task<Result<void>> watch();
  Task<Result<void>> follow(Watch& watch);
  void failed(const Status& error);
  Task<bool> changed_by(Steady deadline);
  void take_page(const Value& page);
  void take(const WatchEvent& event);
  void put(const ObjectKey& key, Value object);
  void erase(const ObjectKey& key);
  void tell(const Value& before, const Value& after);
  void reached(Revision revision);
  Request request(Verb verb) const;

  Env& env_;
  Client& client_;
  Resource resource_;
  InformerOptions options_;
  ObjectCache cache_;
  std::list<HandlerEntry> handlers_;
  HandlerId next_handler_ = 0;
  int telling_ = 0;  // depth of tell(): handlers may add and remove handlers
  Signal changed_;
  Watch* open_watch_ = nullptr;
  Revision revision_ = 0;
  Stage stage_ = Stage::List;
  int failures_ = 0;
  std::optional<Status> failure_;
  bool is_synced_ = false;
  bool is_stopped_ = false;
  bool lists_at_once_ = false;  // pages expired under way: the next list asks for everything in one answer
};

}  // namespace slipway::client
