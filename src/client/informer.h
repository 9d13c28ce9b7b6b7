// A cache of one resource kept fresh by list and watch (client-go's reflector and shared informer in one). Handlers run on the
// logic thread, in order, once per change. A cache knows the revision it has reached, so that a controller can wait for its own
// writes to show up (read your own writes).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/client.h"

namespace slipway::client {

class Informer {
 public:
  /// `before` is null for an object that appeared, `after` is null for one that went.
  using Handler = std::function<void(const Value& before, const Value& after)>;
  /// Gives the keys under which an object is found by index(), e.g. its owner's uid.
  using Indexer = std::function<std::vector<std::string>(const Value& object)>;

  Informer(Env& env, Client& client, Resource resource, std::string label_selector = "");

  void add_handler(Handler handler) { handlers_.push_back(std::move(handler)); }
  /// Before run(). `name` is chosen by the caller, e.g. "owner".
  void add_index(std::string name, Indexer indexer);

  /// Lists and watches until its world ends: re-lists on Expired, watches again from where it was on any other error, backs
  /// off with jitter (0.8 s, factor 2, cap 30 s) after each.
  Task<> run();
  /// Waits for the first complete list.
  Task<> wait_synced();
  bool is_synced() const { return is_synced_; }
  /// Waits until every change up to `revision` of this resource is in the cache.
  Task<> wait_for(Revision revision);
  /// Waits until the object of that uid is out of the cache.
  Task<> wait_gone(ObjectKey key, std::string uid);
  Revision revision() const { return revision_; }

  const Resource& resource() const { return resource_; }
  /// nullptr when absent. Valid until the next suspension.
  const Value* find(const ObjectKey& key) const;
  /// The object, or null.
  Value get(const ObjectKey& key) const;
  const std::map<ObjectKey, Value>& objects() const { return objects_; }
  /// Objects whose indexer gave `key`, by object key.
  std::vector<Value> index(const std::string& name, const std::string& key) const;

 private:
  struct Index {
    Indexer keys_of;
    std::map<std::string, std::set<ObjectKey>> entries;

    void remove(const std::vector<std::string>& from, const ObjectKey& key);
  };
  /// Next to do: the whole list, or a watch from revision_.
  enum class Stage : std::uint8_t { List, Watch };

  Task<Result<void>> list();
  /// Ends well at the watch's regular end.
  Task<Result<void>> watch();
  void replace(const Value& list);
  void take(const WatchEvent& event);
  void put(const ObjectKey& key, Value object);
  void erase(const ObjectKey& key);
  void tell(const Value& before, const Value& after);
  void reached(Revision revision);
  Request request(Verb verb) const;

  Env& env_;
  Client& client_;
  Resource resource_;
  std::string label_selector_;
  std::vector<Handler> handlers_;
  std::map<std::string, Index> indexes_;
  std::map<ObjectKey, Value> objects_;
  Signal changed_;
  Revision revision_ = 0;
  Stage stage_ = Stage::List;
  int failures_ = 0;
  bool is_synced_ = false;
};

}  // namespace slipway::client
