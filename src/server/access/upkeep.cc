#include "server/access/upkeep.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kube/well_known.h"
#include "server/access/access.h"
#include "server/access/bootstrap.h"
#include "server/access/token.h"
#include "server/builtin/bootstrap_objects.h"
#include "server/crd.h"
#include "server/planner.h"

namespace slipway::server {

namespace {

constexpr std::array<std::string_view, 4> kFirstNamespaces{"default", "kube-system", "kube-public", "kube-node-lease"};
constexpr std::string_view kUpkeepManager = "slipway-server";
constexpr std::string_view kAuthorityMap = "kube-root-ca.crt";
constexpr std::string_view kAggregation = "clusterrole-aggregation-controller";

using kube::kClusterRoleBindings;
using kube::kClusterRoles;
using kube::kConfigMaps;
using kube::kDefinitions;
using kube::kNamespaces;
using kube::kServiceAccounts;

Request creation(const kube::Resource& resource, std::string_view ns, Value object) {
  Request request;
  request.verb = client::Verb::Create;
  request.resource = resource;
  request.ns = ns;
  request.name = kube::name(object);
  request.body = std::move(object);
  request.field_manager = kUpkeepManager;
  return request;
}

Value plain_object(std::string_view kind, std::string_view name) {
  return json::object({{"apiVersion", "v1"}, {"kind", kind}, {"metadata", json::object({{"name", name}})}});
}

Value authority_map(const Value& data) {
  constexpr const char* kWhat =
      "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal "
      "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
  return plain_object("ConfigMap", kAuthorityMap)
      .with_path({"metadata", "annotations"}, json::object({{"kubernetes.io/description", kWhat}}))
      .with("data", data);
}

/// Creates all that are not there, in one append.
Task<Result<void>> create_missing(ServerContext& context, std::vector<Request> requests) {
  std::vector<store::Write> writes;
  for (const Request& request : requests) {
    const auto served = context.registry.served(request.resource);
    if (!served || context.store.get_head((*served)->key(request.ns, request.name))) continue;
    const Revision revision = context.store.next_revision() + static_cast<Revision>(writes.size());
    Checks checks;  // nothing of a user is created here
    Planner planner(context, request, **served, revision, checks);
    SLIPWAY_CO_TRY(plan, planner.plan());
    for (store::Write& write : plan.writes) writes.push_back(std::move(write));
  }
  if (writes.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(co_await context.store.append(std::move(writes)));
  co_return Result<void>{};
}

std::vector<Value> objects_below(const ServerContext& context, const kube::Resource& resource) {
  std::vector<Value> objects;
  const auto served = context.registry.served(resource);
  if (!served) return objects;
  const auto range = context.store.range({.prefix = (*served)->prefix});
  if (!range) return objects;
  for (const auto& [key, entry] : range->entries) objects.push_back(entry.value);
  return objects;
}

/// The one namespace of that name, or all.
std::vector<Value> namespaces(const ServerContext& context, std::string_view name) {
  if (name.empty()) return objects_below(context, kNamespaces);
  const auto entry = context.store.get("/registry/core/namespaces/" + std::string(name));
  return entry ? std::vector<Value>{entry->value} : std::vector<Value>{};
}

Task<Result<void>> keep_accounts(ServerContext& context, std::string ns) {
  std::vector<Request> requests;
  for (const Value& one : namespaces(context, ns)) {
    if (kube::is_deleting(one) || context.store.get_head(account_key(kube::name(one), "default"))) continue;
    requests.push_back(creation(kServiceAccounts, kube::name(one), plain_object("ServiceAccount", "default")));
  }
  co_return co_await create_missing(context, std::move(requests));
}

/// Creates ConfigMap kube-root-ca.crt where it is missing and restores it where its data was changed (upstream's
/// root-ca-cert-publisher).
Task<Result<void>> keep_authority_maps(ServerContext& context, std::string ns) {
  if (context.options.authority_pem.empty()) co_return Result<void>{};
  const Value data = json::object({{"ca.crt", context.options.authority_pem}});
  std::vector<Request> missing;
  std::vector<Value> changed;
  for (const Value& one : namespaces(context, ns)) {
    if (kube::is_deleting(one)) continue;
    const auto found = context.store.get_head(fmt::format("/registry/core/configmaps/{}/{}", kube::name(one), kAuthorityMap));
    if (!found) {
      missing.push_back(creation(kConfigMaps, kube::name(one), authority_map(data)));
    } else if (found->value["data"] != data) {
      changed.push_back(found->value.with("data", data));
    }
  }
  for (const Value& map : changed) {
    SLIPWAY_CO_TRY_VOID(co_await client::update(context.server, kConfigMaps, map, std::string(kUpkeepManager)));
  }
  co_return co_await create_missing(context, std::move(missing));
}

/// Writes where Service kubernetes leads: the address may be another with each start.
Task<Result<void>> keep_api_endpoints(ServerContext& context) {
  const std::string& address = context.options.address;
  if (address.empty()) co_return Result<void>{};
  for (BootstrapObject& one : api_endpoints(address, context.options.port)) {
    one.object = one.object.with_path({"metadata", "namespace"}, one.ns);
    SLIPWAY_CO_TRY_VOID(
        co_await client::apply(context.server, one.resource, std::move(one.object), std::string(kUpkeepManager)));
  }
  co_return Result<void>{};
}

/// A node that an earlier version made is completed.
Task<Result<void>> keep_node(ServerContext& context) {
  const auto node = context.store.get_head("/registry/core/nodes/local");
  if (!node) co_return Result<void>{};
  Value complete = with_node_info(node->value, context.env.random);
  if (complete.is_same(node->value)) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(
      co_await client::update_status(context.server, {"", "v1", "nodes"}, std::move(complete), std::string(kUpkeepManager)));
  co_return Result<void>{};
}

/// Writes the rules of every role that aggregates and has not the ones it should have. Writing one calls this again, for the
/// roles that aggregate that one.
Task<Result<void>> keep_aggregates(ServerContext& context) {
  const std::vector<Value> roles = objects_below(context, kClusterRoles);
  for (const Value& role : roles) {
    if (!role["aggregationRule"].is_object() || kube::is_deleting(role)) continue;
    Value rules = aggregated_rules(role, roles);
    if (rules == role["rules"] || (rules.empty() && role["rules"].empty())) continue;
    Value patch = json::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                {"kind", "ClusterRole"},
                                {"metadata", json::object({{"name", kube::name(role)}})},
                                {"rules", std::move(rules)}});
    SLIPWAY_CO_TRY_VOID(co_await client::apply(context.server, kClusterRoles, std::move(patch), std::string(kAggregation)));
    co_return Result<void>{};  // that write has looked after the others
  }
  co_return Result<void>{};
}

/// A cluster of an earlier Slipway may give by `edit` what is guarded today.
Task<Result<void>> narrow(ServerContext& context, std::vector<Value> roles) {
  for (const Value& wanted : roles) {
    if (!kube::name(wanted).starts_with("system:aggregate-to-edit:")) continue;
    auto role = co_await client::get(context.server, kClusterRoles, {"", std::string(kube::name(wanted))});
    if (!role || !is_before_guards(*role, wanted)) continue;
    const Value rules = json::object({{"rules", wanted["rules"]}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(context.server, kClusterRoles, {"", std::string(kube::name(wanted))},
                                                     rules, std::string(kUpkeepManager)));
  }
  co_return Result<void>{};
}

/// Writes definitions as they are, which decides their status anew.
Task<Result<void>> rewrite_definitions(ServerContext& context, std::vector<std::string> names) {
  for (const std::string& name : names) {
    const auto again = co_await client::merge_patch(context.server, kDefinitions, {"", name}, Value::empty_object(), "");
    if (!again && again.error().reason != Reason::NotFound) co_return fail(again.error());
  }
  co_return Result<void>{};
}

/// Names of a group may have become free for the definitions of the group that wait for one. Writing one calls this again.
Task<Result<void>> keep_names(ServerContext& context, std::string name) {
  return rewrite_definitions(context, waiting_crds(context, name));
}

}  // namespace

Task<Result<void>> begin_upkeep(ServerContext& context) {
  std::vector<Request> requests;
  requests.reserve(kFirstNamespaces.size());
  for (const std::string_view name : kFirstNamespaces) {
    requests.push_back(creation(kNamespaces, "", plain_object("Namespace", name)));
  }
  SLIPWAY_CO_TRY_VOID(co_await create_missing(context, std::move(requests)));
  std::vector<Request> objects;
  for (BootstrapObject& one : bootstrap_objects(context.env.random, context.options.nodes)) {
    objects.push_back(creation(one.resource, one.ns, std::move(one.object)));
  }
  SLIPWAY_CO_TRY_VOID(co_await create_missing(context, std::move(objects)));
  std::vector<Request> access;
  const auto& options = context.options;
  const std::vector<Value> roles = bootstrap_roles(options.own_groups, options.guarded_groups, options.answered);
  for (const Value& role : roles) access.push_back(creation(kClusterRoles, "", role));
  for (Value& binding : bootstrap_bindings()) access.push_back(creation(kClusterRoleBindings, "", std::move(binding)));
  SLIPWAY_CO_TRY_VOID(co_await create_missing(context, std::move(access)));
  SLIPWAY_CO_TRY_VOID(co_await narrow(context, roles));
  SLIPWAY_CO_TRY_VOID(co_await keep_accounts(context, ""));
  SLIPWAY_CO_TRY_VOID(co_await rewrite_definitions(context, wrongly_accepted_crds(context)));
  SLIPWAY_CO_TRY_VOID(co_await keep_authority_maps(context, ""));
  SLIPWAY_CO_TRY_VOID(co_await keep_api_endpoints(context));
  SLIPWAY_CO_TRY_VOID(co_await keep_node(context));
  co_return co_await keep_aggregates(context);
}

Task<> keep_up(ServerContext& context, kube::Resource resource, std::string ns) {
  Result<void> kept;
  if (resource == kClusterRoles) {
    kept = co_await keep_aggregates(context);
  } else if (resource == kNamespaces) {
    kept = co_await keep_accounts(context, ns);
    if (kept) kept = co_await keep_authority_maps(context, std::move(ns));
  } else if (resource == kServiceAccounts) {
    kept = co_await keep_accounts(context, std::move(ns));
  } else if (resource == kConfigMaps) {
    kept = co_await keep_authority_maps(context, std::move(ns));
  } else if (resource == kDefinitions) {
    kept = co_await keep_names(context, std::move(ns));
  }
  if (!kept) context.env.log.warn("access upkeep failed", {{"error", kept.error().message}});
}

}  // namespace slipway::server
