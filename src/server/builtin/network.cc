// Ingress, IngressClass, NetworkPolicy (networking.k8s.io/v1), EndpointSlice (discovery.k8s.io/v1), Endpoints (v1).
#include <fmt/format.h>

#include <array>

#include "kube/format.h"
#include "kube/names.h"
#include "kube/selector.h"
#include "server/builtin/defaults.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::size_t kMostEndpoints = 1000;
constexpr std::size_t kMostPorts = 20000;

bool is_address(std::string_view text) { return kube::has_format("ipv4", text) || kube::has_format("ipv6", text); }

// Ingress.

Object prepare_ingress(const Object& object, const Surroundings&) {
  static const Value kNone = json::object({{"loadBalancer", Value::empty_object()}});
  return object.with("status", kNone);
}

void backend_causes(const Value& backend, const std::string& path, std::vector<Cause>& causes) {
  const bool has_service = backend["service"].is_object();
  if (has_service && backend["resource"].is_object()) {
    causes.push_back(field::invalid(path, "\"\"", "cannot set both resource and service backends"));
    return;
  }
  if (backend["resource"].is_object()) return;
  if (!has_service) {
    causes.push_back(field::invalid(path, "\"\"", "resource or service backend is required"));
    return;
  }
  const Value& service = backend["service"];
  if (service["name"].as_string().empty()) {
    causes.push_back(field::required(path + ".service.name"));
  } else {
    add_faults(kube::dns1035_label_faults(service["name"].as_string()), path + ".service.name", service["name"], causes);
  }
  const Value& name = service["port"]["name"];
  const Value& number = service["port"]["number"];
  const bool has_name = !name.as_string().empty();
  const bool has_number = number.as_int() != 0;
  if (has_name && has_number) {
    causes.push_back(field::invalid(path, "\"\"", "cannot set both port name & port number"));
  } else if (has_name) {
    add_faults(kube::port_name_faults(name.as_string()), path + ".service.port.name", name, causes);
  } else if (has_number) {
    add_faults(kube::port_number_faults(number.as_int()), path + ".service.port.number", number, causes);
  } else {
    causes.push_back(field::required(path, "port name or number is required"));
  }
}

void absolute_path_causes(const Value& value, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view text = value.as_string();
  if (!text.starts_with('/')) causes.push_back(field::invalid(path, quoted(value), "must be an absolute path"));
  for (const std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(part) != std::string_view::npos) {
      causes.push_back(field::invalid(path, quoted(value), fmt::format("must not contain '{}'", part)));
    }
  }
  for (const std::string_view end : {"/..", "/."}) {
    if (text.ends_with(end)) causes.push_back(field::invalid(path, quoted(value), fmt::format("cannot end with '{}'", end)));
  }
}

void ingress_path_causes(const Value& one, const std::string& path, std::vector<Cause>& causes) {
  const Value& type = one["pathType"];
  const std::string_view name = type.as_string();
  if (type.is_null()) {
    causes.push_back(field::required(path + ".pathType", "pathType must be specified"));
  } else if (name == "Exact" || name == "Prefix") {
    absolute_path_causes(one["path"].is_null() ? Value("") : one["path"], path + ".path", causes);
  } else if (name == "ImplementationSpecific") {
    if (!one["path"].as_string().empty() && !one["path"].as_string().starts_with('/')) {
      causes.push_back(field::invalid(path + ".path", quoted(one["path"]), "must be an absolute path"));
    }
  } else {
    causes.push_back(field::not_supported(path + ".pathType", quoted(type), {"Exact", "ImplementationSpecific", "Prefix"}));
  }
  backend_causes(one["backend"], path + ".backend", causes);
}

void host_causes(const Value& host, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view text = host.as_string();
  if (text.empty()) return;
  if (is_address(text)) causes.push_back(field::invalid(path, quoted(host), "must be a DNS name, not an IP address"));
  add_faults(text.find('*') == std::string_view::npos ? kube::dns1123_subdomain_faults(text)
                                                      : kube::wildcard_dns1123_subdomain_faults(text),
             path, host, causes);
}

void validate_ingress(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  if (spec["rules"].empty() && spec["defaultBackend"].is_null()) {
    causes.push_back(field::invalid("spec", "null", "either `defaultBackend` or `rules` must be specified"));
  }
  if (!spec["defaultBackend"].is_null()) backend_causes(spec["defaultBackend"], "spec.defaultBackend", causes);
  for (std::size_t i = 0; i < spec["rules"].size(); ++i) {
    const Value& rule = spec["rules"].item(i);
    const std::string at = fmt::format("spec.rules[{}]", i);
    host_causes(rule["host"], at + ".host", causes);
    if (rule["http"].is_null()) continue;
    const Value& paths = rule["http"]["paths"];
    if (paths.empty()) causes.push_back(field::required(at + ".http.paths"));
    for (std::size_t j = 0; j < paths.size(); ++j) {
      ingress_path_causes(paths.item(j), fmt::format("{}.http.paths[{}]", at, j), causes);
    }
  }
  for (std::size_t i = 0; i < spec["tls"].size(); ++i) {
    const Value& hosts = spec["tls"].item(i)["hosts"];
    for (std::size_t j = 0; j < hosts.size(); ++j) {
      host_causes(hosts.item(j), fmt::format("spec.tls[{}].hosts[{}]", i, j), causes);
    }
  }
  if (old.is_null() && !spec["ingressClassName"].is_null() &&
      object["metadata"]["annotations"].has("kubernetes.io/ingress.class")) {
    causes.push_back(field::invalid("metadata.annotations.kubernetes.io/ingress.class",
                                    quoted(object["metadata"]["annotations"]["kubernetes.io/ingress.class"]),
                                    "can not be set when the class field is also set"));
  }
}

void validate_ingress_class(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (object["spec"]["controller"].as_string().empty()) causes.push_back(field::required("spec.controller"));
  if (!old.is_null()) immutable(object["spec"], old["spec"], "spec", "controller", causes);
}

// NetworkPolicy.

Object fill_policy(const Object& object) {
  const Value& spec = object["spec"];
  if (!spec["policyTypes"].empty()) return object;
  json::ArrayBuilder types;
  types.add("Ingress");
  if (!spec["egress"].empty()) types.add("Egress");
  return object.with_path({"spec", "policyTypes"}, types.build());
}

void selector_causes(const Value& selector, const std::string& path, std::vector<Cause>& causes) {
  if (selector.is_null()) return;
  const auto parsed = kube::LabelSelector::from_object(selector);
  if (!parsed) causes.push_back(field::invalid(path, quoted(selector), parsed.error().message));
}

void peer_causes(const Value& peer, const std::string& path, std::vector<Cause>& causes) {
  if (peer.empty()) {
    causes.push_back(field::required(path, "must specify a peer"));
    return;
  }
  if (peer.has("ipBlock") && peer.size() > 1) {
    causes.push_back(field::forbidden(path, "may not specify both ipBlock and another peer"));
  }
  if (const Value& block = peer["ipBlock"]; !block.is_null() && !kube::has_format("cidr", block["cidr"].as_string())) {
    causes.push_back(field::invalid(path + ".ipBlock.cidr", quoted(block["cidr"]),
                                    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
  }
  selector_causes(peer["podSelector"], path + ".podSelector", causes);
  selector_causes(peer["namespaceSelector"], path + ".namespaceSelector", causes);
}

void policy_port_causes(const Value& port, const std::string& path, std::vector<Cause>& causes) {
  const Value& number = port["port"];
  const Value& end = port["endPort"];
  if (number.is_number()) {
    add_faults(kube::port_number_faults(number.as_int()), path + ".port", number, causes);
    if (!end.is_null() && end.as_int() < number.as_int()) {
      causes.push_back(field::invalid(path + ".endPort", quoted(end), "must be greater than or equal to `port`"));
    }
  } else if (number.is_string()) {
    add_faults(kube::port_name_faults(number.as_string()), path + ".port", number, causes);
    if (!end.is_null()) {
      causes.push_back(field::invalid(path + ".endPort", quoted(end), "may not be specified when `port` is non-numeric"));
    }
  } else if (!end.is_null()) {
    causes.push_back(field::required(path + ".port", "must be specified when `endPort` is specified"));
  }
}

void policy_rules_causes(const Value& rules, const std::string& path, const char* peers, std::vector<Cause>& causes) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Value& rule = rules.item(i);
    for (std::size_t j = 0; j < rule["ports"].size(); ++j) {
      policy_port_causes(rule["ports"].item(j), fmt::format("{}[{}].ports[{}]", path, i, j), causes);
    }
    for (std::size_t j = 0; j < rule[peers].size(); ++j) {
      peer_causes(rule[peers].item(j), fmt::format("{}[{}].{}[{}]", path, i, peers, j), causes);
    }
  }
}

void validate_policy(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  selector_causes(spec["podSelector"], "spec.podSelector", causes);
  policy_rules_causes(spec["ingress"], "spec.ingress", "from", causes);
  policy_rules_causes(spec["egress"], "spec.egress", "to", causes);
  const Value& types = spec["policyTypes"];
  if (types.size() > 2) {
    causes.push_back(field::invalid("spec.policyTypes", quoted(types), "may not specify more than two policyTypes"));
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string_view type = types.item(i).as_string();
    if (type == "Ingress" || type == "Egress") continue;
    causes.push_back(
        field::not_supported(fmt::format("spec.policyTypes[{}]", i), quoted(types.item(i)), {"Egress", "Ingress"}));
  }
}

// Endpoints.

void slice_address_causes(const Value& address, std::string_view type, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view text = address.as_string();
  if (type == "IPv4" && !kube::has_format("ipv4", text)) {
    causes.push_back(field::invalid(path, quoted(address), "must be an IPv4 address"));
  } else if (type == "IPv6" && !kube::has_format("ipv6", text)) {
    causes.push_back(field::invalid(path, quoted(address), "must be an IPv6 address"));
  } else if (type == "FQDN") {
    add_faults(kube::dns1123_subdomain_faults(text), path, address, causes);
  }
}

void validate_slice(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& endpoints = object["endpoints"];
  const std::string_view type = object["addressType"].as_string();
  if (endpoints.size() > kMostEndpoints) causes.push_back(field::too_many("endpoints", endpoints.size(), kMostEndpoints));
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const Value& addresses = endpoints.item(i)["addresses"];
    const std::string at = fmt::format("endpoints[{}].addresses", i);
    if (addresses.empty()) causes.push_back(field::required(at, "must contain at least 1 address"));
    for (std::size_t j = 0; j < addresses.size(); ++j) {
      slice_address_causes(addresses.item(j), type, fmt::format("{}[{}]", at, j), causes);
    }
  }
  if (object["ports"].size() > kMostPorts) causes.push_back(field::too_many("ports", object["ports"].size(), kMostPorts));
  if (!old.is_null()) immutable(object, old, "", "addressType", causes);
}

void validate_endpoints(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& subsets = object["subsets"];
  if (subsets.is_same(old["subsets"])) return;
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    const Value& subset = subsets.item(i);
    const std::string at = fmt::format("subsets[{}]", i);
    if (subset["addresses"].empty() && subset["notReadyAddresses"].empty()) {
      causes.push_back(field::required(at, "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (std::size_t j = 0; j < subset[list].size(); ++j) {
        const Value& ip = subset[list].item(j)["ip"];
        if (is_address(ip.as_string())) continue;
        causes.push_back(field::invalid(fmt::format("{}.{}[{}].ip", at, list, j), quoted(ip),
                                        "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
      }
    }
    for (std::size_t j = 0; j < subset["ports"].size(); ++j) {
      const Value& port = subset["ports"].item(j);
      const std::string path = fmt::format("{}.ports[{}]", at, j);
      if (subset["ports"].size() > 1 && port["name"].as_string().empty()) causes.push_back(field::required(path + ".name"));
      add_faults(kube::port_number_faults(port["port"].as_int()), path + ".port", Value(port["port"].as_int()), causes);
    }
  }
}

}  // namespace

std::span<const Strategy> network_strategies() {
  static constexpr std::array kRows{
      Strategy{
          .group = "networking.k8s.io", .kind = "Ingress", .prepare_create = prepare_ingress, .validate = validate_ingress},
      Strategy{.group = "networking.k8s.io", .kind = "IngressClass", .validate = validate_ingress_class},
      Strategy{
          .group = "networking.k8s.io", .kind = "NetworkPolicy", .fill_defaults = fill_policy, .validate = validate_policy},
      Strategy{.group = "discovery.k8s.io", .kind = "EndpointSlice", .validate = validate_slice},
      Strategy{.group = "", .kind = "Endpoints", .validate = validate_endpoints}};
  return kRows;
}

}  // namespace slipway::server
