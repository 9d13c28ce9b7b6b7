// What explain rows may see: the newest durable state of a store, read at once.
#pragma once

#include <string>
#include <vector>

#include "control/explain.h"
#include "server/server.h"
#include "store/store.h"

namespace slipway::plane {

class StoreView : public control::View {
 public:
  StoreView(const server::Server& server, const store::Store& store, Time now) : server_(server), store_(store), now_(now) {}

  json::Value find(const json::Value& reference) const override;
  std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const override;
  Time now() const override { return now_; }
  /// All objects of a kind; of one namespace unless `ns` is empty.
  std::vector<json::Value> all(const kube::GroupVersionKind& kind, const std::string& ns) const;

 private:
  const server::Server& server_;
  const store::Store& store_;
  Time now_;
};

}  // namespace slipway::plane
