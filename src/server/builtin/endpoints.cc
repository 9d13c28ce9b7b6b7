// The endpoints of stored kinds beside the objects themselves.
#include "server/builtin/eviction.h"
#include "server/endpoint.h"

namespace slipway::server {

namespace {

using client::Verb;

Task<Result<client::Reply>> not_implemented(Site&, client::Request request) {
  co_return fail(Reason::NotImplemented, "pods/" + request.subresource + " is not implemented");
}

Endpoint of_pods(std::string subresource, kube::GroupVersionKind kind, std::vector<Verb> verbs, decltype(Endpoint::run) run) {
  Endpoint row;
  row.resource = {"", "v1", "pods"};
  row.subresource = std::move(subresource);
  row.kind = std::move(kind);
  row.verbs = std::move(verbs);
  row.run = run;
  return row;
}

}  // namespace

std::vector<Endpoint> object_endpoints() {
  std::vector<Endpoint> rows{
      of_pods("eviction", {"policy", "v1", "Eviction"}, {Verb::Create}, evict_pod),
      of_pods("binding", {"", "v1", "Binding"}, {Verb::Create}, bind_pod),
      of_pods("ephemeralcontainers", {"", "v1", "Pod"}, {Verb::Get, Verb::Patch, Verb::Update}, not_implemented),
      of_pods("resize", {"", "v1", "Pod"}, {Verb::Get, Verb::Patch, Verb::Update}, not_implemented),
      of_pods("log", {"", "v1", "Pod"}, {Verb::Get}, nullptr),
      of_pods("exec", {"", "v1", "PodExecOptions"}, {Verb::Create, Verb::Get}, nullptr),
      of_pods("attach", {"", "v1", "PodAttachOptions"}, {Verb::Create, Verb::Get}, nullptr)};
  Endpoint bindings;
  bindings.resource = {"", "v1", "bindings"};
  bindings.kind = {"", "v1", "Binding"};
  bindings.verbs = {Verb::Create};
  bindings.run = bind_pod;
  rows.push_back(std::move(bindings));
  return rows;
}

}  // namespace slipway::server
