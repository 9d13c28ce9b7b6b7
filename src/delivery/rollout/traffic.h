// Moves traffic: which objects a provider keeps its weights in, how a weight is written there, how it is read back and when it
// is in force. Pure functions over the objects as they are now; one row per provider (traffic_rows.cc), checked against
// documented facts of Argo, Flagger and Kruise. Only the entries of a rollout's own services are written: everything else in
// those objects stays as its owner has it.
//
// What is needed to take an edit back (names and weights that entries had, never whole objects) stands in the annotation
// kTrafficAnnotation of the edited object and is written in the same patch. So shift() and restore() need no memory: each first
// takes back what is recorded, then shift() writes the split anew; edits of users in between survive both.
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
  /// The two that the traffic is split between: Services, but for `appmesh` VirtualNodes, for `istio-subset` subsets of
  /// `service` and for `knative` revisions of `service` (there the target is always the latest one, and target_service is not
  /// read).
  std::string source_service;
  std::string target_service;
  std::optional<std::int64_t> port;  // of the service, where entries name it: `gloo`, `kuma`, `alb`
  /// Labels that tell the pods of the versions apart; only `istio-subset` reads them.
  std::map<std::string, std::string> source_labels{};
  std::map<std::string, std::string> target_labels{};
};

inline constexpr std::string_view kTrafficAnnotation = "rollout.slipway.dev/traffic";

/// What of the traffic goes to the target.
struct Split {
  std::int64_t weight = 0;             // percent
  std::vector<json::Value> matches{};  // HTTPRouteMatch
  std::int64_t mirror_percent = 0;
  json::Value request_headers{};  // HTTPHeaderFilter {set, add, remove} for requests that match; null: none

  bool operator==(const Split&) const = default;
};

/// An object that a provider needs to see.
struct Need {
  kube::GroupVersionKind kind;
  std::string name;
  bool must_exist = true;
};
/// The objects as they are now, by "Kind/name"; absent ones are not in it.
using Objects = std::map<std::string, kube::Object, std::less<>>;

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
/// What is to be written for a split, in this order; empty when the objects are so already. Invalid, with what to do, when the
/// split is not within 0..100 or the objects cannot carry it; then nothing may be written. NotFound when one is missing.
Result<std::vector<Change>> shift(const Route& route, const Objects& objects, const Split& split);
Result<Observed> observe(const Route& route, const Objects& objects);
/// Takes back everything that shift() put there, in this order: all the traffic goes to `service` as before. Where the user's
/// own object names the source (and maybe the target) but not the service, `target_stays` leaves everything to the target; else
/// that, too, is as it was. Objects that are gone are left out: there is nothing to take back.
Result<std::vector<Change>> restore(const Route& route, const Objects& objects, bool target_stays);

/// Every name that Route::provider may have, sorted.
std::vector<std::string> traffic_providers();
/// The providers as a table, for docs/rollout.md.
std::string traffic_provider_table();

}  // namespace slipway::delivery::rollout
