#include "delivery/probe/builtin_queries.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/probe/provider.h"

namespace slipway::delivery::probe {
namespace {

/// A requests counter with the label matchers of the new version, the matcher of its good answers, and the histogram of their
/// durations. A mean is of its _sum and _count, else it is the 99th percentile of its _bucket.
struct Observer {
  std::string_view traffic;
  std::string_view requests;
  std::string_view matchers;
  std::string_view good;
  std::string_view durations;
  std::string_view duration_matchers;
  bool is_mean = false;
  bool is_seconds = false;  // made milliseconds
};

constexpr std::string_view kEnvoy = "envoy_cluster_upstream_rq";
constexpr std::string_view kEnvoyTime = "envoy_cluster_upstream_rq_time";
constexpr std::string_view kEnvoyGood = R"(envoy_response_code!~"5.*")";
constexpr std::string_view kPods =
    R"x(kubernetes_namespace="{{ namespace }}",kubernetes_pod_name=~"{{ target }}-[0-9a-zA-Z]+(-[0-9a-zA-Z]+)")x";
constexpr std::string_view kApisix = R"(route=~"{{ namespace }}_{{ route }}-{{ target }}-canary_.+")";
constexpr std::string_view kApisixRequests = R"(type=~"request",route=~"{{ namespace }}_{{ route }}-{{ target }}-canary_.+")";
constexpr std::string_view kContour = R"(envoy_cluster_name=~"{{ namespace }}_{{ service }}-canary_[0-9a-zA-Z-]+")";
constexpr std::string_view kGloo =
    R"(envoy_cluster_name=~"{{ namespace }}-{{ target }}-canaryupstream-[0-9a-zA-Z-]+_[0-9a-zA-Z-]+")";
constexpr std::string_view kIstio =
    R"(reporter="destination",destination_workload_namespace="{{ namespace }}",destination_workload=~"{{ target }}")";
constexpr std::string_view kKnative = R"(envoy_cluster_name=~"{{ namespace }}/{{ route }}")";
constexpr std::string_view kKuma = R"(service=~"{{ target }}-canary_{{ namespace }}_svc_[0-9a-zA-Z-]+")";
constexpr std::string_view kLinkerd = R"(namespace="{{ namespace }}",deployment=~"{{ target }}",direction="inbound")";
constexpr std::string_view kNginx = R"(namespace="{{ namespace }}",ingress="{{ ingress }}",canary!="")";
constexpr std::string_view kOsm =
    R"(destination_namespace="{{ namespace }}",destination_kind="Deployment",destination_name="{{ target }}")";
constexpr std::string_view kSkipper =
    R"(route=~"kube(ew)?_{{ namespace_ }}__{{ ingress_ }}_canary__.*__{{ service_ }}_canary(_[0-9]+)?")";
constexpr std::string_view kSkipperRequests =
    R"(route=~"kube(ew)?_{{ namespace_ }}__{{ ingress_ }}_canary__.*__{{ service_ }}_canary(_[0-9]+)?",le="+Inf")";
constexpr std::string_view kTraefik = R"(service=~"{{ namespace }}-{{ target }}-canary-[0-9a-zA-Z-]+@kubernetescrd")";
constexpr std::string_view kTraefikRequests =
    R"(service=~"{{ namespace }}-{{ target }}-canary-[0-9a-zA-Z-]+@kubernetescrd",le="+Inf")";

constexpr Observer kObservers[] = {
    {"apisix", "apisix_http_status", kApisix, R"(code!~"5..")", "apisix_http_latency", kApisixRequests},
    {"appmesh", kEnvoy, kPods, kEnvoyGood, kEnvoyTime, kPods},
    {"contour", kEnvoy, kContour, kEnvoyGood, kEnvoyTime, kContour},
    {"gloo", kEnvoy, kGloo, kEnvoyGood, kEnvoyTime, kGloo},
    {"http", "http_request_duration_seconds_count", kPods, R"(status!~"5.*")", "http_request_duration_seconds", kPods},
    {"istio", "istio_requests_total", kIstio, R"(response_code!~"5.*")", "istio_request_duration_milliseconds", kIstio},
    {"knative", kEnvoy, kKnative, kEnvoyGood, kEnvoyTime, kKnative},
    {"kuma", kEnvoy, kKuma, kEnvoyGood, kEnvoyTime, kKuma},
    {"linkerd", "response_total", kLinkerd, R"(classification!="failure")", "response_latency_ms", kLinkerd},
    {"nginx", "nginx_ingress_controller_requests", kNginx, R"(status!~"5.*")",
     "nginx_ingress_controller_response_duration_seconds", kNginx, true, true},
    {"osm", "osm_request_total", kOsm, R"(response_code!~"5.*")", "osm_request_duration_ms", kOsm},
    {"skipper", "skipper_response_duration_seconds_bucket", kSkipperRequests, R"(code!~"5..")",
     "skipper_serve_route_duration_seconds", kSkipper, true, true},
    {"traefik", "traefik_service_request_duration_seconds_bucket", kTraefikRequests, R"(code!~"5..")",
     "traefik_service_request_duration_seconds", kTraefik, false, true},
};

std::string rate(std::string_view series, std::string_view matchers) {
  return fmt::format("sum(rate({}{{{}}}[{{{{ interval }}}}]))", series, matchers);
}

std::string success_rate(const Observer& row) {
  return fmt::format("{} / {} * 100", rate(row.requests, fmt::format("{},{}", row.matchers, row.good)),
                     rate(row.requests, row.matchers));
}

std::string duration(const Observer& row) {
  const std::string factor = row.is_seconds ? " * 1000" : "";
  const auto series = [&](std::string_view suffix) { return fmt::format("{}{}", row.durations, suffix); };
  if (!row.is_mean) {
    return fmt::format("histogram_quantile(0.99, {} by (le)){}", rate(series("_bucket"), row.duration_matchers), factor);
  }
  return fmt::format("{} / {}{}", rate(series("_sum"), row.duration_matchers), rate(series("_count"), row.duration_matchers),
                     factor);
}

}  // namespace

std::optional<std::string> builtin_query(std::string_view metric, std::string_view traffic_provider) {
  std::string_view name = traffic_provider.substr(0, traffic_provider.find(':'));
  if (name == "kubernetes" || name == "gatewayapi" || name.empty()) name = "http";  // the pods' own numbers
  const auto row = std::ranges::find(kObservers, name, &Observer::traffic);
  if (row == std::end(kObservers)) return std::nullopt;
  if (metric == "request-success-rate") return success_rate(*row);
  if (metric == "request-duration") return duration(*row);
  return std::nullopt;
}

Result<std::string> query_text(std::string_view text, std::map<std::string, std::string> variables) {
  if (text != "request-success-rate" && text != "request-duration") return filled_in(text, variables);
  const std::string traffic = variables["traffic"];
  const auto query = builtin_query(text, traffic);
  if (!query) {
    return fail(Reason::Invalid, fmt::format("there is no built-in query {} for {:?}; write a query", text, traffic));
  }
  for (const char* name : {"namespace", "ingress", "service"}) {
    std::string value = variables[name];
    std::ranges::replace(value, '-', '_');
    variables[fmt::format("{}_", name)] = value;
  }
  return filled_in(*query, variables);
}

}  // namespace slipway::delivery::probe
