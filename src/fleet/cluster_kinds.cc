#include "fleet/cluster_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/cluster_secret.h"
#include "json/text.h"

namespace slipway::fleet {
namespace {

using client::Reply;
using client::Request;
using client::ServedContext;
using json::Value;

constexpr const char* kGroup = "cluster.core.oam.dev";
constexpr const char* kVersion = "v1alpha1";
const kube::Resource kVirtualClusters{kGroup, kVersion, "virtualclusters"};
const kube::Resource kClusterGateways{kGroup, kVersion, "clustergateways"};
const kube::Resource kApiServices{"apiregistration.k8s.io", "v1", "apiservices"};
const kube::Resource kSecrets{"", "v1", "secrets"};

constexpr const char* kDescriptionAnnotation = "cluster.core.oam.dev/cluster-description";
constexpr const char* kVersionAnnotation = "cluster.core.oam.dev/cluster-version";
constexpr const char* kHealthAnnotation = "cluster.core.oam.dev/cluster-health";
constexpr const char* kResourcesAnnotation = "cluster.core.oam.dev/cluster-resources";

/// A cluster Secret and what was read in it.
struct Member {
  kube::Object secret;
  ClusterSecret cluster;
};

Task<Result<std::vector<Member>>> members(client::Client& hub) {
  SLIPWAY_CO_TRY(list, co_await client::list(hub, kSecrets, {kClusterNamespace, "", ""}));
  std::vector<Member> found;
  for (const Value& secret : list["items"].items()) {
    if (auto cluster = read_cluster_secret(secret)) found.push_back({secret, *std::move(cluster)});
  }
  // The newest first, as upstream lists them.
  std::ranges::sort(found, [](const Member& a, const Member& b) {
    const std::string begun[] = {a.secret["metadata"]["creationTimestamp"].str(),
                                 b.secret["metadata"]["creationTimestamp"].str()};
    return begun[0] != begun[1] ? begun[0] > begun[1] : a.cluster.name < b.cluster.name;
  });
  co_return found;
}

/// The members of a JSON text in an annotation; no object when there is none.
Value annotated(const kube::Object& secret, const char* key) {
  auto read = json::parse(kube::annotation(secret, key));
  return read && read->is_object() ? *std::move(read) : Value::empty_object();
}

Value metadata_of(const Member& one) {
  json::ObjectBuilder labels;
  for (const auto& [key, value] : one.cluster.labels) labels.add(key, value);
  return json::object({{"name", one.cluster.name},
                       {"creationTimestamp", one.secret["metadata"]["creationTimestamp"]},
                       {"labels", labels.build()}});
}

Value hub_cluster() {
  return json::object(
      {{"metadata", json::object({{"name", kHubCluster}, {"labels", json::object({{kControlPlaneLabel, "true"}})}})},
       {"spec", json::object({{"credentialType", "Internal"}, {"endpoint", "-"}})},
       {"status", Value::empty_object()}});
}

Value virtual_cluster(const Member& one) {
  json::ObjectBuilder spec;
  if (!one.cluster.alias.empty()) spec.add("alias", one.cluster.alias);
  const std::string description(kube::annotation(one.secret, kDescriptionAnnotation));
  if (!description.empty()) spec.add("description", description);
  spec.add("endpoint", one.cluster.endpoint);
  spec.add("credentialType", one.cluster.type);
  Value status = annotated(one.secret, kHealthAnnotation);
  if (const Value version = annotated(one.secret, kVersionAnnotation); version.size() > 0) {
    status = status.with("version", version);
  }
  if (const Value resources = annotated(one.secret, kResourcesAnnotation); resources.size() > 0) {
    status = status.with("resources", resources);
  }
  return json::object({{"metadata", metadata_of(one)}, {"spec", spec.build()}, {"status", status}});
}

Value cluster_gateway(const Member& one) {
  const Value credential = json::object({{"type", one.cluster.type}});
  const Value access = json::object({{"endpoint", one.cluster.endpoint}, {"credential", credential}});
  const Value health = annotated(one.secret, kHealthAnnotation);
  return json::object({{"metadata", metadata_of(one)},
                       {"spec", json::object({{"provider", ""}, {"access", access}})},
                       {"status", health["healthy"].as_bool() ? json::object({{"healthy", true}}) : Value::empty_object()}});
}

Value api_service() {
  const Value service = json::object({{"namespace", kClusterNamespace}, {"name", "slipway"}, {"port", 443}});
  const Value available = json::object({{"type", "Available"},
                                        {"status", "True"},
                                        {"reason", "Passed"},
                                        {"message", "slipway answers for the clusters whose Secrets it finds"}});
  return json::object({{"metadata", json::object({{"name", fmt::format("{}.{}", kVersion, kGroup)}})},
                       {"spec", json::object({{"group", kGroup},
                                              {"version", kVersion},
                                              {"groupPriorityMinimum", 2000},
                                              {"versionPriority", 10},
                                              {"service", service}})},
                       {"status", json::object({{"conditions", json::array({available})}})}});
}

/// What there is of one kind.
using Make = Task<Result<std::vector<Value>>> (*)(ServedContext context);

Task<Result<std::vector<Value>>> virtual_clusters(ServedContext context) {
  SLIPWAY_CO_TRY(found, co_await members(context.server));
  std::vector<Value> made{hub_cluster()};
  for (const Member& one : found) made.push_back(virtual_cluster(one));
  co_return made;
}

Task<Result<std::vector<Value>>> cluster_gateways(ServedContext context) {
  SLIPWAY_CO_TRY(found, co_await members(context.server));
  std::vector<Value> made;
  for (const Member& one : found) made.push_back(cluster_gateway(one));
  co_return made;
}

Task<Result<std::vector<Value>>> api_services(ServedContext) { co_return std::vector<Value>{api_service()}; }

client::AnsweredKind answered(const kube::Resource& resource, const char* kind, Make make) {
  client::AnsweredKind row;
  row.type.resource = resource;
  row.type.kind = {resource.group, resource.version, kind};
  row.type.list_kind = std::string(kind) + "List";
  row.type.is_namespaced = false;
  row.verbs = {{client::Verb::Get, "",
                [make, resource](ServedContext context, Request request) -> Task<Result<Reply>> {
                  SLIPWAY_CO_TRY(all, co_await make(context));
                  for (Value& one : all) {
                    if (kube::name(one) == request.name) co_return Reply{std::move(one), {}, 200};
                  }
                  co_return fail(kube::not_found(resource, request.name));
                }},
               {client::Verb::List, "", [make](ServedContext context, Request) -> Task<Result<Reply>> {
                  SLIPWAY_CO_TRY(all, co_await make(context));
                  co_return Reply{json::object({{"items", json::array(all)}}), {}, 200};
                }}};
  return row;
}

kube::Column column(const char* name, const char* path, const char* about) {
  return {.name = name, .type = "string", .format = "", .description = about, .json_path = path};
}

}  // namespace

std::vector<client::AnsweredKind> cluster_kinds() {
  client::AnsweredKind clusters = answered(kVirtualClusters, "VirtualCluster", virtual_clusters);
  clusters.type.singular = "virtualcluster";
  clusters.type.short_names = {"vcl", "vcls", "vcluster", "vclusters"};
  clusters.type.columns = {column("Alias", ".spec.alias", "another name"),
                           column("Credential_Type", ".spec.credentialType", "the credential type"),
                           column("Endpoint", ".spec.endpoint", "where its API server is")};
  client::AnsweredKind gateways = answered(kClusterGateways, "ClusterGateway", cluster_gateways);
  gateways.type.singular = "clustergateway";
  gateways.type.columns = {column("Credential-Type", ".spec.access.credential.type", "the credential type"),
                           column("Endpoint", ".spec.access.endpoint", "where its API server is"),
                           column("Healthy", ".status.healthy", "whether it answered when it was last asked")};
  client::AnsweredKind services = answered(kApiServices, "APIService", api_services);
  services.type.singular = "apiservice";
  services.type.columns = {column("Service", ".spec.service.name", "who answers"),
                           column("Available", ".status.conditions[?(@.type==\"Available\")].status", "whether it can")};
  return {std::move(clusters), std::move(gateways), std::move(services)};
}

}  // namespace slipway::fleet
