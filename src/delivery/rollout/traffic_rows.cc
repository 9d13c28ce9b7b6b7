#include "delivery/rollout/traffic_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace slipway::delivery::rollout {

namespace {

using Row = TrafficRow;

constexpr std::string_view kNginx = "nginx.ingress.kubernetes.io/";
constexpr std::string_view kAlb = "alb.ingress.kubernetes.io/";

kube::GroupVersionKind ingress() { return {"networking.k8s.io", "v1", "Ingress"}; }

Row smi(std::vector<std::string_view> providers, std::string version, Row::Codec codec) {
  return {.providers = std::move(providers),
          .kind = {"split.smi-spec.io", std::move(version), "TrafficSplit"},
          .lists = {{"", "/spec/backends"}},
          .name_path = "/service",
          .codec = codec,
          .needs_weight = true,
          .is_created = true};
}

Row gateway(std::vector<std::string_view> providers, std::string version) {
  return {.providers = std::move(providers),
          .kind = {"gateway.networking.k8s.io", std::move(version), "HTTPRoute"},
          .lists = {{"/spec/rules", "/backendRefs", true}},
          .name_path = "/name",
          .naming = Row::Naming::Backend,
          .dialect = Row::Dialect::Gateway,
          .mirror = Row::Mirror::Gateway,
          .report = Row::Report::Parents};
}

Row istio(std::vector<std::string_view> providers, std::string_view name_path, Row::Naming naming) {
  return {.providers = std::move(providers),
          .kind = {"networking.istio.io", "v1beta1", "VirtualService"},
          .lists = {{"/spec/http", "/route", true}, {"/spec/tls", "/route"}, {"/spec/tcp", "/route"}},
          .name_path = name_path,
          .naming = naming,
          .zero = Row::Zero::EntryLeftOut,
          .is_created = naming == Row::Naming::Host,
          .dialect = Row::Dialect::Istio,
          .mirror = Row::Mirror::Istio,
          .report = Row::Report::IfReported,
          .condition = "Reconciled"};
}

Row ingress_copy(std::vector<std::string_view> providers, std::string_view prefix,
                 std::vector<std::pair<std::string_view, std::string_view>> extra) {
  return {.providers = std::move(providers),
          .kind = ingress(),
          .form = Row::Form::Copy,
          .prefix = prefix,
          .extra = std::move(extra),
          .dialect = Row::Dialect::NginxAnnotations};
}

std::vector<Row> mesh_rows() {
  return {
      istio({"istio"}, "/destination/host", Row::Naming::Host),
      istio({"istio-subset"}, "/destination/subset", Row::Naming::Subset),
      smi({"linkerd", "smi", "smi:v1alpha1"}, "v1alpha1", Row::Codec::Quantity),
      smi({"osm", "smi:v1alpha2"}, "v1alpha2", Row::Codec::Integer),
      smi({"smi:v1alpha3"}, "v1alpha3", Row::Codec::Integer),
      {.providers = {"appmesh", "appmesh:v1beta2"},
       .kind = {"appmesh.k8s.aws", "v1beta2", "VirtualRouter"},
       .lists = {{"/spec/routes", "/httpRoute/action/weightedTargets", true},
                 {"/spec/routes", "/http2Route/action/weightedTargets", true},
                 {"/spec/routes", "/grpcRoute/action/weightedTargets"},
                 {"/spec/routes", "/tcpRoute/action/weightedTargets"}},
       .name_path = "/virtualNodeRef/name",
       .needs_weight = true,
       .dialect = Row::Dialect::AppMesh,
       .report = Row::Report::Condition,
       .condition = "VirtualRouterActive"},
      {.providers = {"appmesh:v1beta1"},
       .kind = {"appmesh.k8s.aws", "v1beta1", "VirtualService"},
       .lists = {{"/spec/routes", "/http/action/weightedTargets"}},
       .name_path = "/virtualNodeName",
       .needs_weight = true},
      {.providers = {"kuma"},
       .kind = {"kuma.io", "v1alpha1", "TrafficRoute"},
       .lists = {{"", "/spec/conf/split"}},
       .name_path = "/destination/kuma.io~1service",
       .naming = Row::Naming::KumaTag,
       .needs_weight = true,
       .is_created = true,
       .is_cluster_scoped = true},
  };
}

std::vector<Row> gateway_rows() {
  return {
      gateway({"gatewayapi", "gatewayapi:v1"}, "v1"),
      gateway({"gatewayapi:v1beta1"}, "v1beta1"),
      {.providers = {"contour"},
       .kind = {"projectcontour.io", "v1", "HTTPProxy"},
       .lists = {{"/spec/routes", "/services", true}, {"", "/spec/tcpproxy/services"}},
       .name_path = "/name",
       .dialect = Row::Dialect::Contour,
       .mirror = Row::Mirror::Contour,
       .report = Row::Report::Condition,
       .condition = "Valid"},
      {.providers = {"gloo"},
       .kind = {"gateway.solo.io", "v1", "RouteTable"},
       .lists = {{"/spec/routes", "/routeAction/multi/destinations", true}},
       .name_path = "/destination/upstream/name",
       .naming = Row::Naming::Upstream,
       .zero = Row::Zero::EntryLeftOut,
       .needs_weight = true,
       .dialect = Row::Dialect::Gloo,
       .mirror = Row::Mirror::Gloo},
      {.providers = {"traefik"},
       .kind = {"traefik.io", "v1alpha1", "TraefikService"},
       .lists = {{"", "/spec/weighted/services"}},
       .name_path = "/name",
       .naming = Row::Naming::Backend,
       .zero = Row::Zero::EntryLeftOut,
       .needs_weight = true},
      {.providers = {"apisix"},
       .kind = {"apisix.apache.org", "v2", "ApisixRoute"},
       .lists = {{"/spec/http", "/backends", true}},
       .name_path = "/serviceName",
       .needs_weight = true,
       .dialect = Row::Dialect::Apisix,
       .report = Row::Report::IfReported,
       .condition = "ResourcesAvailable"},
      {.providers = {"knative"},
       .kind = {"serving.knative.dev", "v1", "Service"},
       .lists = {{"", "/spec/traffic"}},
       .name_path = "/revisionName",
       .naming = Row::Naming::Revision,
       .weight = "percent",
       .needs_weight = true,
       .report = Row::Report::Condition,
       .condition = "RoutesReady"},
      {.providers = {"alb"},
       .kind = ingress(),
       .lists = {{"", "/forwardConfig/targetGroups"}},
       .name_path = "/serviceName",
       .needs_weight = true,
       .prefix = kAlb,
       .annotation = "actions."},
      {.providers = {"kubernetes"}, .kind = {"", "v1", "Service"}, .form = Row::Form::Selector},
  };
}

std::vector<Row> copy_rows() {
  return {
      ingress_copy({"nginx"}, kNginx, {}),
      ingress_copy({"higress"}, kNginx, {}),
      ingress_copy({"mse"}, kNginx, {{"mse.ingress.kubernetes.io/service-subset", "gray"}}),
      ingress_copy({"aliyun-alb"}, kAlb, {{"alb.ingress.kubernetes.io/order", "1"}}),
      {.providers = {"skipper"}, .kind = ingress(), .form = Row::Form::Skipper, .prefix = "zalando.org/"},
      {.providers = {"ambassador"}, .kind = {"getambassador.io", "v2", "Mapping"}, .form = Row::Form::Copy},
  };
}

}  // namespace

const std::vector<TrafficRow>& traffic_rows() {
  static const std::vector<TrafficRow> rows = [] {
    std::vector<TrafficRow> all;
    for (auto part : {mesh_rows(), gateway_rows(), copy_rows()}) std::ranges::move(part, std::back_inserter(all));
    return all;
  }();
  return rows;
}

std::vector<std::string> traffic_providers() {
  std::vector<std::string> names;
  for (const TrafficRow& row : traffic_rows()) names.insert(names.end(), row.providers.begin(), row.providers.end());
  std::ranges::sort(names);
  return names;
}

std::string traffic_provider_table() {
  std::string table = "| `provider` | object whose weights are written | matches | mirror | a weight counts as accepted |\n";
  table += "|---|---|---|---|---|\n";
  for (const TrafficRow& row : traffic_rows()) {
    std::string names;
    for (const std::string_view name : row.providers) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
    const bool is_copy = row.form == TrafficRow::Form::Copy || row.form == TrafficRow::Form::Skipper;
    table += fmt::format("| {} | {} ({}){} | {} | {} | {} |\n", names, row.kind.kind, row.kind.api_version(),
                         is_copy          ? ", a second one is made beside it"
                         : row.is_created ? ", made where there is none"
                                          : "",
                         row.dialect == TrafficRow::Dialect::None ? "–" : "yes",
                         row.mirror == TrafficRow::Mirror::None ? "–" : "yes",
                         row.report == TrafficRow::Report::None ? "after `settleSeconds`" : "when its status says so");
  }
  return table;
}

Result<const TrafficRow*> traffic_row(std::string_view provider) {
  for (const TrafficRow& row : traffic_rows()) {
    if (std::ranges::find(row.providers, provider) != row.providers.end()) return &row;
  }
  return fail(Reason::Invalid, fmt::format("traffic.provider: \"{}\" is not known; it may be one of {}", provider,
                                           joined(traffic_providers(), ", ")));
}

std::string object_name(const TrafficRow& row, const Route& route) {
  if (!route.ingress.empty()) return route.ingress;
  return row.kind.version == "v1beta1" && row.kind.group == "appmesh.k8s.aws" ? route.service + "." + route.ns : route.service;
}

std::string entry_name(const TrafficRow& row, const Route& route, std::string_view service) {
  const std::int64_t port = route.port.value_or(80);
  switch (row.naming) {
    case Row::Naming::Upstream:
      return fmt::format("{}-{}{}-{}", route.ns, service, service == route.service ? "" : "upstream", port);
    case Row::Naming::KumaTag:
      return fmt::format("{}_{}_svc_{}", service, route.ns, port);
    case Row::Naming::Plain:
    case Row::Naming::Backend:
    case Row::Naming::Host:
    case Row::Naming::Subset:
    case Row::Naming::Revision:
      return std::string(service);
  }
  return {};
}

}  // namespace slipway::delivery::rollout
