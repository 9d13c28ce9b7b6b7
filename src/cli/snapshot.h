// One namespace of a cluster elsewhere, read once: what explain rows may see of it. Holds the kinds that the rows know, and
// what these stand on. Objects of other namespaces are read once something has asked for them by name (read_missed); a
// reference to anything else finds nothing. Kinds that are computed at each request (they cannot be watched), which may be
// large, are known by name and not listed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/client.h"
#include "control/explain.h"
#include "kube/resource_word.h"
#include "remote/remote_client.h"

namespace slipway::cli {

class Snapshot : public control::View {
 public:
  /// Asks for the kinds (legacy discovery), then lists them side by side in time. A group that is not served has no objects.
  static Task<Result<Snapshot>> read(remote::RemoteClient& client, std::string ns, Time now);

  /// Reads the objects of other namespaces that find() was asked for and did not have. True when there were some: what asked
  /// asks again. Adds to `notes` what may not be read. Errors: those of the requests, but for NotFound and Forbidden.
  Task<Result<bool>> read_missed(client::Client& client, std::vector<std::string>& notes);

  /// Where `word` names a kind that is computed: gets that one object. Errors: those of the request.
  Task<Result<void>> add_computed(remote::RemoteClient& client, std::string word, kube::ObjectKey key);

  /// By what people type (kube/resource_word.h), among the kinds that were read.
  Result<kube::ResourceTypePtr> find_word(std::string_view word) const { return kube::find_by_word(kinds_, word); }
  std::vector<std::string> words() const;

  json::Value find(const json::Value& reference) const override;
  std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const override;
  std::vector<json::Value> all(const kube::GroupVersionKind& kind) const;
  /// Why the objects of a kind are not among these; null when they are.
  const Status* refusal(const kube::GroupVersionKind& kind) const;
  Time now() const override { return now_; }

 private:
  /// An object of another namespace.
  struct Elsewhere {
    std::string kind;  // "group/Kind"
    std::string ns;
    std::string name;
    auto operator<=>(const Elsewhere&) const = default;
  };

  Task<Result<void>> discover(remote::RemoteClient& client);
  Task<Result<void>> discover_foreign(remote::RemoteClient& client, kube::GroupVersionKind kind);
  bool add_served(const json::Value& list, const std::vector<kube::GroupVersionKind>& kinds);
  Task<Result<void>> list_all(remote::RemoteClient& client);

  std::string ns_;
  std::vector<kube::ResourceTypePtr> kinds_;                 // as the cluster's discovery names them
  std::map<std::string, std::vector<json::Value>> objects_;  // by "group/Kind"
  std::set<std::string> computed_;                           // "group/Kind"
  std::set<std::string> foreign_;                            // likewise: kinds of others
  std::map<std::string, Status> refused_;                    // likewise: kinds that may not be listed
  std::map<Elsewhere, json::Value> elsewhere_;               // null: not there
  mutable std::set<Elsewhere> missed_;                       // what find() was asked for since the last read_missed()
  Time now_{};
};

}  // namespace slipway::cli
