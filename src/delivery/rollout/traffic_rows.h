// One row per traffic provider: the kind of its object, where the entries with the weights are, how an entry names a Service
// and writes a weight, what else it can do (matches, mirror) and how its controller reports. traffic.cc reads nothing else, so
// a provider is added by a row. Facts: the routers of Flagger and Argo Rollouts, the scripts of Kruise Rollouts, and the
// providers' own references.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/rollout/traffic.h"

namespace slipway::delivery::rollout {

/// Where an object keeps entries: a list of rules, each with a list of entries, or one list of the object itself. JSON
/// pointers.
struct EntryList {
  std::string_view rules;  // "/spec/http"; empty: the object is the only rule
  std::string_view entries;
  bool is_http = false;  // whether matches and mirrors can stand in these rules
};

struct TrafficRow {
  enum class Form : std::uint8_t {
    Entries,   // a list with an entry per Service, in an object of the user's, or one of ours where is_created
    Copy,      // a second Ingress or Mapping beside the user's, for the target alone, with the weight
    Skipper,   // a second Ingress with both Services, which outranks the user's
    Selector,  // a Service that selects the one or the other
  };
  /// How an entry names a Service.
  enum class Naming : std::uint8_t {
    Plain,     // "web"
    Backend,   // "web", unless `kind` or `namespace` beside it say otherwise
    Host,      // "web", "web.ns", "web.ns.svc.cluster.local"
    Subset,    // the host is the service, the subset is the version
    Upstream,  // "ns-web-80" of discovery, "ns-web-v1upstream-80" of ours
    KumaTag,   // "web_ns_svc_80"
    Revision,  // {latestRevision: true} or {revisionName: "web-00001"}
  };
  enum class Codec : std::uint8_t { Integer, Quantity };
  enum class Zero : std::uint8_t { Written, EntryLeftOut };
  enum class Dialect : std::uint8_t { None, Gateway, Istio, Contour, Gloo, AppMesh, Apisix, NginxAnnotations };
  enum class Mirror : std::uint8_t { None, Gateway, Istio, Contour, Gloo };
  enum class Report : std::uint8_t {
    None,        // time decides
    Parents,     // Accepted and ResolvedRefs of each of status.parents, for the newest generation
    Condition,   // a condition of status.conditions, for the newest generation
    IfReported,  // the same, where there is such a condition at all
  };

  std::vector<std::string_view> providers;  // the first is its name, the others mean the same
  kube::GroupVersionKind kind;
  Form form = Form::Entries;
  std::vector<EntryList> lists{};
  std::string_view name_path{};  // within an entry
  Naming naming = Naming::Plain;
  std::string_view weight = "weight";  // member of an entry
  Codec codec = Codec::Integer;
  Zero zero = Zero::Written;
  bool needs_weight = false;  // an entry without a weight gets nothing
  bool is_created = false;    // made (and deleted at the end) where none is named and none is there
  bool is_cluster_scoped = false;
  std::string_view prefix{};      // of its annotations
  std::string_view annotation{};  // the lists are in the JSON text of annotation PREFIX + this + service
  std::vector<std::pair<std::string_view, std::string_view>> extra{};  // further annotations of a copy
  Dialect dialect = Dialect::None;
  Mirror mirror = Mirror::None;
  Report report = Report::None;
  std::string_view condition{};
};

const std::vector<TrafficRow>& traffic_rows();
/// Invalid, naming the providers that there are. NotImplemented, with what to do, for those that there are elsewhere.
Result<const TrafficRow*> traffic_row(std::string_view provider);

/// The name of the edited object.
std::string object_name(const TrafficRow& row, const Route& route);
/// How entries of ours name a Service, and how the user's entry for it may read. See TrafficRow::Naming.
std::string entry_name(const TrafficRow& row, const Route& route, std::string_view service);

}  // namespace slipway::delivery::rollout
