// Moves traffic: which objects a provider keeps its weights in, how a weight is written there, how it is read back and when it
// is in force. Pure functions over the objects as they are now; one row per provider (traffic_rows.cc), checked against
// documented facts of Argo, Flagger and Kruise. Only the entries of a rollout's own services are written: everything else in
// those objects stays as its owner has it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::delivery::rollout {

/// Where the traffic of one rollout goes.
struct Route {
  std::string provider;  // "gatewayapi"
  std::string ns;
  std::string ingress;  // name of the object that is edited; empty: the service's
  std::string service;  // that clients use
  std::string source_service;
  std::string target_service;
  std::optional<std::int64_t> port;
};

/// What of the traffic goes to the target.
struct Split {
  std::int64_t weight = 0;           // percent
  std::vector<json::Value> matches;  // HTTPRouteMatch
  std::int64_t mirror_percent = 0;

  bool operator==(const Split&) const = default;
};

/// An object that a provider needs to see.
struct Need {
  kube::GroupVersionKind kind;
  std::string name;
  bool must_exist = true;
};
/// The objects as they are now, by "Kind/name"; absent ones are not in it.
using Objects = std::map<std::string, kube::Object>;

struct Change {
  enum class Kind : std::uint8_t { Create, Patch, Delete };
  Kind kind = Kind::Patch;
  kube::GroupVersionKind object_kind;
  std::string name;
  json::Value body;  // Create: the object. Patch: a JSON patch that tests resourceVersion and the entry's name
};

struct Observed {
  std::optional<std::int64_t> weight;  // that the objects ask for; nullopt: no entry of ours yet
  bool is_accepted = false;            // the provider's controller reports it for the newest generation
  bool has_report = false;             // whether the provider reports at all; else time decides
  std::string text;                    // why it is not accepted
};

/// Invalid for a provider without a row, naming those there are.
Result<std::vector<Need>> needs(const Route& route);
/// What is to be written for a split; empty when the objects are so already. Invalid, with what to do, when they cannot carry
/// it.
Result<std::vector<Change>> shift(const Route& route, const Objects& objects, const Split& split);
Result<Observed> observe(const Route& route, const Objects& objects);
/// Takes back everything that shift() put there: all the traffic goes to `service` as before.
Result<std::vector<Change>> restore(const Route& route, const Objects& objects, bool target_stays);

}  // namespace slipway::delivery::rollout
