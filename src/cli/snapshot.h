// One namespace of a cluster elsewhere, read once: what explain rows may see of it. Holds the kinds that the rows know, and
// what these stand on; a reference to anything else finds nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/client.h"
#include "control/explain.h"
#include "remote/remote_client.h"

namespace slipway::cli {

/// A kind as the cluster's discovery names it.
struct KnownKind {
  kube::GroupVersionKind kind;
  kube::Resource resource;
  std::string singular;
  std::vector<std::string> short_names;
};

class Snapshot : public control::View {
 public:
  /// Asks for the kinds (legacy discovery), then lists them side by side in time. A group that is not served has no objects.
  static Task<Result<Snapshot>> read(remote::RemoteClient& client, std::string ns, Time now);

  /// By plural, singular, kind or short name, with or without the group; nullptr when it is none of the known.
  const KnownKind* find_word(std::string_view word) const;
  std::vector<std::string> words() const;

  json::Value find(const json::Value& reference) const override;
  std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const override;
  std::vector<json::Value> all(const kube::GroupVersionKind& kind) const;
  Time now() const override { return now_; }

 private:
  std::vector<KnownKind> kinds_;
  std::map<std::string, std::vector<json::Value>> objects_;  // by "group/Kind"
  Time now_{};
};

}  // namespace slipway::cli
