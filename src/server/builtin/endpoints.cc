// The endpoints of stored kinds beside the objects themselves.
#include "server/builtin/eviction.h"
#include "server/endpoint.h"

namespace slipway::server {

namespace {

using client::Verb;

Task<Result<client::Reply>> not_implemented(ServerContext&, client::Request request) {
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
      of_pods("attach", {"", "v1", "PodAttachOptions"}, {Verb::Create, Verb::Get}, nullptr),
      of_pods("portforward", {"", "v1", "PodPortForwardOptions"}, {Verb::Create, Verb::Get}, nullptr)};
  for (const auto& [resource, kind] :
       {std::pair{"pods", "PodProxyOptions"}, {"services", "ServiceProxyOptions"}, {"nodes", "NodeProxyOptions"}}) {
    Endpoint proxy =
        of_pods("proxy", {"", "v1", kind}, {Verb::Get, Verb::Create, Verb::Update, Verb::Patch, Verb::Delete}, nullptr);
    proxy.resource.plural = resource;
    proxy.is_namespaced = proxy.resource.plural != "nodes";
    rows.push_back(std::move(proxy));
  }
  Endpoint bindings;
  bindings.resource = {"", "v1", "bindings"};
  bindings.kind = {"", "v1", "Binding"};
  bindings.verbs = {Verb::Create};
  bindings.run = bind_pod;
  rows.push_back(std::move(bindings));
  Endpoint finalize;
  finalize.resource = {"", "v1", "namespaces"};
  finalize.subresource = "finalize";
  finalize.kind = {"", "v1", "Namespace"};
  finalize.is_namespaced = false;
  finalize.is_stored = true;
  finalize.verbs = {Verb::Update};
  rows.push_back(std::move(finalize));
  Endpoint approval;
  approval.resource = {"certificates.k8s.io", "v1", "certificatesigningrequests"};
  approval.subresource = "approval";
  approval.kind = {"certificates.k8s.io", "v1", "CertificateSigningRequest"};
  approval.is_namespaced = false;
  approval.is_stored = true;
  approval.verbs = {Verb::Get, Verb::Patch, Verb::Update};
  rows.push_back(std::move(approval));
  return rows;
}

}  // namespace slipway::server
