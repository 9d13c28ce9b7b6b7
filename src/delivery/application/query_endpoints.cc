#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "delivery/application/query_providers.h"

namespace slipway::delivery::application {
namespace {

// Annotations of an Ingress: where its controller is reached.
constexpr const char* kHttpPort = "ingress.controller/http-port";
constexpr const char* kHttpsPort = "ingress.controller/https-port";
constexpr const char* kControllerHost = "ingress.controller/host";

const char* protocol_of(std::int64_t port) {
  switch (port) {
    case 80:
    case 8080:
      return "http";
    case 443:
      return "https";
    case 3306:
      return "mysql";
    case 6379:
      return "redis";
    default:
      return "";
  }
}

Value service_endpoint(const Value& port, const std::string& host, std::int64_t number, bool is_inner) {
  json::ObjectBuilder out;
  out.set("protocol", port["protocol"].is_null() ? Value("TCP") : port["protocol"]);
  out.set("appProtocol", protocol_of(port["port"].as_int()));
  out.set("host", host);
  out.set("port", number);
  if (port.has("name")) out.set("portName", port["name"]);
  if (is_inner) out.set("inner", true);
  return out.build();
}

std::vector<Value> of_service(const Value& service, const std::string& node_address) {
  std::vector<Value> found;
  const auto type = service["spec"]["type"].as_string();
  for (const Value& port : service["spec"]["ports"].items()) {
    const std::int64_t number = port["port"].as_int();
    if (type == "NodePort") {
      found.push_back(service_endpoint(port, node_address, port["nodePort"].as_int(), false));
    } else if (type == "LoadBalancer") {
      for (const Value& balancer : service["status"]["loadBalancer"]["ingress"].items()) {
        for (const char* field : {"hostname", "ip"}) {
          const std::string host = balancer[field].str();
          if (!host.empty()) found.push_back(service_endpoint(port, host, number, false));
        }
      }
    } else {
      const std::string host = fmt::format("{}.{}", kube::name(service), kube::ns(service));
      found.push_back(service_endpoint(port, host, number, true));
    }
  }
  return found;
}

bool has_tls(const Value& ingress, const Value& host) {
  return std::ranges::any_of(ingress["spec"]["tls"].items(), [&](const Value& tls) {
    const auto hosts = tls["hosts"].items();
    return hosts.empty() || std::ranges::find(hosts, host) != hosts.end();
  });
}

std::int64_t controller_port(const Value& ingress, const char* annotation, std::int64_t usual) {
  const auto text = kube::annotation(ingress, annotation);
  std::int64_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0 ? port : usual;
}

std::vector<Value> of_ingress(const Value& ingress) {
  std::vector<Value> found;
  for (const Value& rule : ingress["spec"]["rules"].items()) {
    const bool is_secure = has_tls(ingress, rule["host"]);
    const std::string host = rule["host"].str();
    for (const Value& path : rule["http"]["paths"].items()) {
      json::ObjectBuilder out;
      out.set("protocol", "TCP");
      out.set("appProtocol", is_secure ? "https" : "http");
      out.set("host", host.empty() ? std::string(kube::annotation(ingress, kControllerHost)) : host);
      out.set("port", is_secure ? controller_port(ingress, kHttpsPort, 443) : controller_port(ingress, kHttpPort, 80));
      if (path.has("path")) out.set("path", path["path"]);
      found.push_back(out.build());
    }
  }
  return found;
}

}  // namespace

std::vector<Value> endpoints_of(const Value& object, const std::string& node_address) {
  const auto kind = kube::GroupVersionKind::of(object);
  if (!kind) return {};
  if (kind->group.empty() && kind->kind == "Service") return of_service(object, node_address);
  if (kind->group == "networking.k8s.io" && kind->kind == "Ingress") return of_ingress(object);
  return {};
}

}  // namespace slipway::delivery::application
