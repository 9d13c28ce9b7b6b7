// The cells of services, their endpoints, ingresses and network policies.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/table_cells.h"

namespace slipway::kube {
namespace {

/// At most three of a list, and how many more there are.
class Brief {
 public:
  void add(const std::string& text) {
    if (count_++ < kShown) text_ += (text_.empty() ? "" : ",") + text;
  }
  std::string text(std::string_view when_empty) const {
    if (count_ == 0) return std::string(when_empty);
    return count_ > kShown ? fmt::format("{} + {} more...", text_, count_ - kShown) : text_;
  }

 private:
  static constexpr std::size_t kShown = 3;
  std::string text_;
  std::size_t count_ = 0;
};

/// Addresses of status.loadBalancer.
std::string balancer_text(const Object& o) {
  std::string out;
  for (const json::Value& one : o["status"]["loadBalancer"]["ingress"].items()) {
    const std::string_view address = one["ip"].as_string().empty() ? one["hostname"].as_string() : one["ip"].as_string();
    if (!address.empty()) out += fmt::format("{}{}", out.empty() ? "" : ",", address);
  }
  return out;
}

json::Value cluster_ip(const Object& service, Time) {
  const json::Value& all = service["spec"]["clusterIPs"];
  const std::string_view ip = all.empty() ? service["spec"]["clusterIP"].as_string() : all.item(0).as_string();
  return ip.empty() ? "<none>" : ip;
}

json::Value service_external_ip(const Object& service, Time) {
  const json::Value& spec = service["spec"];
  if (spec["type"].as_string() == "ExternalName") return spec["externalName"].as_string();
  std::string out = spec["type"].as_string() == "LoadBalancer" ? balancer_text(service) : "";
  for (const json::Value& one : spec["externalIPs"].items())
    out += fmt::format("{}{}", out.empty() ? "" : ",", one.as_string());
  if (!out.empty()) return out;
  return spec["type"].as_string() == "LoadBalancer" ? "<pending>" : "<none>";
}

json::Value service_ports(const Object& service, Time) {
  std::string out;
  for (const json::Value& port : service["spec"]["ports"].items()) {
    const std::int64_t node = port["nodePort"].as_int();
    out += fmt::format("{}{}{}/{}", out.empty() ? "" : ",", port["port"].as_int(), node > 0 ? fmt::format(":{}", node) : "",
                       port["protocol"].as_string());
  }
  return out.empty() ? "<none>" : out;
}

std::string address_and_port(const std::string& address, std::int64_t port) {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

json::Value endpoint_addresses(const Object& endpoints, Time) {
  Brief out;
  for (const json::Value& subset : endpoints["subsets"].items()) {
    const json::Value& addresses = subset["addresses"];
    if (subset["ports"].empty()) {
      for (const json::Value& address : addresses.items()) out.add(address["ip"].str());
    }
    for (const json::Value& port : subset["ports"].items()) {
      for (const json::Value& address : addresses.items())
        out.add(address_and_port(address["ip"].str(), port["port"].as_int()));
    }
  }
  return out.text("<none>");
}

json::Value slice_ports(const Object& slice, Time) {
  Brief out;
  for (const json::Value& port : slice["ports"].items()) {
    out.add(port.has("port") ? fmt::format("{}", port["port"].as_int()) : port["name"].str());
  }
  return out.text("<unset>");
}

json::Value slice_endpoints(const Object& slice, Time) {
  Brief out;
  for (const json::Value& endpoint : slice["endpoints"].items()) {
    for (const json::Value& address : endpoint["addresses"].items()) out.add(address.str());
  }
  return out.text("<unset>");
}

json::Value ingress_class(const Object& ingress, Time) {
  const std::string_view name = ingress["spec"]["ingressClassName"].as_string();
  if (!name.empty()) return name;
  const std::string_view noted = annotation(ingress, "kubernetes.io/ingress.class");
  return noted.empty() ? "<none>" : noted;
}

json::Value ingress_hosts(const Object& ingress, Time) {
  Brief out;
  for (const json::Value& rule : ingress["spec"]["rules"].items()) {
    if (!rule["host"].as_string().empty()) out.add(rule["host"].str());
  }
  return out.text("*");
}

json::Value ingress_addresses(const Object& ingress, Time) { return balancer_text(ingress); }
json::Value ingress_ports(const Object& ingress, Time) { return ingress["spec"]["tls"].empty() ? "80" : "80, 443"; }

json::Value class_parameters(const Object& o, Time) {
  const json::Value& parameters = o["spec"]["parameters"];
  if (parameters.is_null()) return "<none>";
  const std::string_view group = parameters["apiGroup"].as_string();
  return fmt::format("{}{}{}/{}", parameters["kind"].as_string(), group.empty() ? "" : ".", group,
                     parameters["name"].as_string());
}

json::Value policy_selector(const Object& policy, Time) { return selector_text(policy["spec"]["podSelector"]); }

}  // namespace

std::span<const CellRow> network_cells() {
  static constexpr std::array kRows{CellRow{"@service.cluster-ip", cluster_ip},
                                    CellRow{"@service.external-ip", service_external_ip},
                                    CellRow{"@service.ports", service_ports},
                                    CellRow{"@endpoints.addresses", endpoint_addresses},
                                    CellRow{"@slice.ports", slice_ports},
                                    CellRow{"@slice.endpoints", slice_endpoints},
                                    CellRow{"@ingress.class", ingress_class},
                                    CellRow{"@ingress.hosts", ingress_hosts},
                                    CellRow{"@ingress.addresses", ingress_addresses},
                                    CellRow{"@ingress.ports", ingress_ports},
                                    CellRow{"@ingressclass.parameters", class_parameters},
                                    CellRow{"@policy.selector", policy_selector}};
  return kRows;
}

}  // namespace slipway::kube
