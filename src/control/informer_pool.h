// The caches of one cluster, shared by all controllers and counted: the first lease of a resource starts its informer, the end
// of the last one stops it. So kinds that are known only at run time (what a CustomResourceDefinition brings) are followed as
// long as they are leased and cost nothing afterwards.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "client/informer.h"

namespace slipway::control {

using client::Form;
using client::Informer;

/// A share of an informer. Movable; handlers added through it go with it. An empty lease has no informer.
class InformerLease {
 public:
  InformerLease() = default;
  InformerLease(InformerLease&&) = default;
  InformerLease& operator=(InformerLease&& other) noexcept;
  ~InformerLease() { release(); }

  explicit operator bool() const { return held_ != nullptr; }
  Informer& operator*() const;
  Informer* operator->() const { return &**this; }
  /// As Informer::add_handler, for as long as this lease is held.
  void on_change(Informer::Handler handler);
  /// Gives the share up now.
  void release();

 private:
  friend class InformerPool;
  struct Held;
  explicit InformerLease(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  std::shared_ptr<Held> held_;
  std::vector<Informer::HandlerId> handlers_;
};

class InformerPool {
 public:
  /// `tasks` runs the informers and must outlive the pool. `packs` keeps their objects; null for a cluster of this process,
  /// which shares its objects with the caches: whole ones cost no more than their metadata there, so Form::Metadata is
  /// answered with the whole informer.
  InformerPool(Env& env, std::shared_ptr<client::Client> client, Tasks& tasks, std::shared_ptr<client::ObjectPacks> packs);
  InformerPool(const InformerPool&) = delete;
  InformerPool& operator=(const InformerPool&) = delete;
  /// Stops what runs; leases that are still held keep their last state.
  ~InformerPool() { stop(); }

  /// The shared informer of a resource. One of whole objects serves who wants metadata only, too.
  InformerLease take(const kube::Resource& resource, Form form = Form::Whole);
  /// The informer if there is one now, whoever holds it; for waiting until writes are seen. Null otherwise.
  std::shared_ptr<Informer> find(const kube::Resource& resource) const;
  /// Informers are started when they are taken from here on; those that were taken before start now.
  void start();
  /// Waits until all informers of this moment have their first list.
  Task<> wait_synced();
  void stop();

 private:
  using Key = std::pair<kube::Resource, Form>;
  void run(const std::shared_ptr<InformerLease::Held>& held);

  Env& env_;
  std::shared_ptr<client::Client> client_;
  Tasks& tasks_;
  std::shared_ptr<client::ObjectPacks> packs_;
  bool is_started_ = false;
  std::map<Key, std::weak_ptr<InformerLease::Held>> informers_;
};

}  // namespace slipway::control
