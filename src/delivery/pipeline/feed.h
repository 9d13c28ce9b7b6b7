// One kind of one cluster, or of a namespace there, followed by list and watch and kept in reduced form (known_kinds.h). It
// tells how far it is: a view must know "not there" from "not seen yet", "refused" and "not served". Control's shared caches
// hold whole objects of whole clusters, which for some hundred member clusters is too much; hence a cache of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/env.h"
#include "client/informer.h"
#include "delivery/pipeline/list_turns.h"

namespace slipway::delivery::pipeline {

class Feed {
 public:
  enum class Stage : std::uint8_t {
    Pending,    // its first list is under way
    Followed,   // what it holds is what is there
    Refused,    // it may not be listed or watched
    NotServed,  // the cluster does not know the kind
    Failing,    // never had a list, and has been trying for longer than kPatience
    Stale,      // had one, and has not been able to follow for longer than kStaleAfter
  };
  static constexpr Duration kPatience = std::chrono::seconds{30};
  static constexpr Duration kStaleAfter = std::chrono::minutes{2};

  enum class Keeps : std::uint8_t { Reduced, Whole };
  struct Options {
    kube::Resource resource;
    std::string ns{};  // empty: the whole cluster
    client::Form form = client::Form::Whole;
    Keeps keeps = Keeps::Reduced;                  // Whole where values are shared with the server of this process
    std::shared_ptr<client::ObjectPacks> packs{};  // of all feeds that reduce
    std::shared_ptr<ListTurns> turns{};            // of all feeds; null: lists wait for no others
  };
  /// Neither is called after the feed is gone. `changed` is not told of what differs in nothing that is kept.
  struct Listener {
    std::function<void(const kube::Object& before, const kube::Object& after)> changed;
    std::function<void()> moved;  // to another stage
  };

  /// Runs as a child of `tasks` until it is destroyed.
  Feed(Env& env, Tasks& tasks, std::shared_ptr<client::Client> client, Options options, Listener listener);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed();

  Stage stage() const;
  /// In the words of the server; empty while all is well.
  std::string problem() const;
  client::Informer& informer() const;
  const kube::Resource& resource() const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace slipway::delivery::pipeline
