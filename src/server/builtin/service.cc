// Service (v1): types, cluster IPs, node ports (k8s.io/kubernetes pkg/registry/core/service, pkg/apis/core/validation).
// DIVERGES: one address family, IPv4.
#include <fmt/format.h>

#include <array>
#include <set>

#include "kube/names.h"
#include "server/builtin/defaults.h"
#include "server/builtin/service_numbers.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace service_rules {
namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kAffinitySeconds = 10800;
constexpr std::int64_t kMostAffinitySeconds = 86400;
constexpr std::string_view kHeadless = "None";

std::string_view type_of(const Value& spec) { return spec["type"].as_string(); }
bool is_external_name(const Value& spec) { return type_of(spec) == "ExternalName"; }
bool is_balanced(const Value& spec) { return type_of(spec) == "LoadBalancer"; }
bool is_headless(const Value& spec) { return spec["clusterIP"].as_string() == kHeadless; }
bool needs_address(const Value& spec) { return !is_external_name(spec) && !is_headless(spec); }
bool needs_node_ports(const Value& spec) {
  return type_of(spec) == "NodePort" || (is_balanced(spec) && spec["allocateLoadBalancerNodePorts"].as_bool(true));
}
bool is_external(const Value& spec) {
  return type_of(spec) == "NodePort" || is_balanced(spec) || (type_of(spec) == "ClusterIP" && !spec["externalIPs"].empty());
}
bool needs_health_port(const Value& spec) { return is_balanced(spec) && spec["externalTrafficPolicy"].as_string() == "Local"; }

Value with_target_port(const Value& port) {
  const Value& target = port["targetPort"];
  const bool is_set = target.is_string() ? !target.as_string().empty() : target.as_int() != 0;
  return is_set ? port : port.with("targetPort", port["port"]);
}

Object fill_defaults(const Object& object) {
  const Value& spec = object["spec"];
  Defaults defaults(spec);
  defaults.each("ports", with_target_port);
  if (spec["sessionAffinity"].as_string() == "ClientIP") {
    defaults.absent("sessionAffinityConfig",
                    json::object({{"clientIP", json::object({{"timeoutSeconds", kAffinitySeconds}})}}));
  }
  if (!is_external_name(spec)) defaults.absent("internalTrafficPolicy", "Cluster");
  if (is_external(spec)) defaults.absent("externalTrafficPolicy", "Cluster");
  if (is_balanced(spec)) defaults.absent("allocateLoadBalancerNodePorts", true);
  // The two spellings of the cluster IP.
  if (const Value& ip = spec["clusterIP"]; !ip.as_string().empty()) defaults.absent("clusterIPs", json::array({ip}));
  if (const Value& ips = spec["clusterIPs"]; !ips.empty()) defaults.absent("clusterIP", ips.item(0));
  return defaults.value().is_same(spec) ? object : object.with("spec", defaults.value());
}

Value with_addresses(Value spec, ServiceNumbers& numbers) {
  if (is_external_name(spec)) return spec;
  if (spec["clusterIP"].as_string().empty()) {
    const auto address = numbers.free_address();
    if (address) spec = spec.with("clusterIP", *address);
  }
  if (const Value& ip = spec["clusterIP"]; !ip.as_string().empty()) {
    if (spec["clusterIPs"].empty()) spec = spec.with("clusterIPs", json::array({ip}));
  }
  if (spec["ipFamilies"].empty()) spec = spec.with("ipFamilies", json::array({Value("IPv4")}));
  return Defaults(spec).absent("ipFamilyPolicy", "SingleStack").value();
}

Value with_node_ports(Value spec, ServiceNumbers& numbers) {
  // Those that are asked for are in it from the beginning, so that none of them is given to another port.
  std::set<int> chosen = ServiceNumbers::ports_of(spec);
  const auto choose = [&] {
    const auto number = numbers.free_port(chosen);
    if (number) chosen.insert(*number);
    return number;
  };
  if (needs_node_ports(spec)) {
    spec = Defaults(spec)
               .each("ports",
                     [&](const Value& port) {
                       if (port["nodePort"].as_int() != 0) return port;
                       const auto number = choose();
                       return number ? port.with("nodePort", *number) : port;
                     })
               .value();
  }
  if (needs_health_port(spec) && spec["healthCheckNodePort"].as_int() == 0) {
    if (const auto number = choose()) spec = spec.with("healthCheckNodePort", *number);
  }
  return spec;
}

std::string key_of(const Object& object) { return ServiceNumbers::key_of(kube::ns(object), kube::name(object)); }

Object prepare_create(const Object& object, const Surroundings& around) {
  static const Value kNoBalancer = json::object({{"loadBalancer", Value::empty_object()}});
  Value spec = with_addresses(object["spec"], *around.numbers);
  spec = with_node_ports(std::move(spec), *around.numbers);
  return object.with("spec", std::move(spec)).with("status", kNoBalancer);
}

/// Node ports of a port that had one and says nothing now; by name, else by number and protocol.
Value with_old_node_ports(const Value& spec, const Value& old) {
  return Defaults(spec)
      .each("ports",
            [&](const Value& port) {
              if (port["nodePort"].as_int() != 0) return port;
              for (const Value& before : old["ports"].items()) {
                if (before["port"] == port["port"] && before["protocol"] == port["protocol"] &&
                    before["nodePort"].as_int() != 0) {
                  return port.with("nodePort", before["nodePort"]);
                }
              }
              return port;
            })
      .value();
}

/// What belongs to the old type only and was not touched goes with it.
Value without_old_type(Value spec, const Value& old) {
  if (!is_external_name(old) && is_external_name(spec) && spec["clusterIP"] == old["clusterIP"]) {
    for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"}) {
      spec = spec.without(key);
    }
  }
  if (needs_node_ports(old) && !needs_node_ports(spec)) {
    spec = Defaults(spec)
               .each("ports",
                     [&](const Value& port) {
                       for (const Value& before : old["ports"].items()) {
                         if (before["nodePort"] == port["nodePort"]) return port.without("nodePort");
                       }
                       return port;
                     })
               .value();
  }
  if (needs_health_port(old) && !needs_health_port(spec)) spec = spec.without("healthCheckNodePort");
  if (is_balanced(old) && !is_balanced(spec)) {
    spec = spec.without("allocateLoadBalancerNodePorts").without("loadBalancerClass");
  }
  if (is_external(old) && !is_external(spec)) spec = spec.without("externalTrafficPolicy");
  return spec;
}

Object prepare_update(const Object& object, const Object& old, const Surroundings& around) {
  const Value& before = old["spec"];
  Value spec = object["spec"];
  if (spec == before) return object;
  if (needs_address(spec) && needs_address(before) && spec["clusterIP"].as_string().empty()) {
    spec = spec.with("clusterIP", before["clusterIP"]).with("clusterIPs", before["clusterIPs"]);
  }
  if (needs_node_ports(spec) && needs_node_ports(before)) spec = with_old_node_ports(spec, before);
  if (needs_health_port(spec) && needs_health_port(before) && !spec.has("healthCheckNodePort")) {
    spec = spec.with("healthCheckNodePort", before["healthCheckNodePort"]);
  }
  spec = without_old_type(std::move(spec), before);
  spec = with_addresses(std::move(spec), *around.numbers);
  return object.with("spec", with_node_ports(std::move(spec), *around.numbers));
}

// Validation.

void port_number_causes(const Value& port, const std::string& path, std::vector<Cause>& causes) {
  for (const std::string& fault : kube::port_number_faults(port.as_int())) {
    causes.push_back(field::invalid(path, quoted(port.is_null() ? Value(0) : port), fault));
  }
}

struct PortsSeen {
  std::set<std::string_view> names;
  std::set<std::pair<std::int64_t, std::string_view>> numbers;
};

void port_causes(const Value& spec, std::size_t index, PortsSeen& seen, std::vector<Cause>& causes) {
  const Value& port = spec["ports"].item(index);
  const std::string at = fmt::format("spec.ports[{}]", index);
  const Value& name = port["name"];
  if (name.as_string().empty()) {
    if (spec["ports"].size() > 1) causes.push_back(field::required(at + ".name"));
  } else {
    for (const std::string& fault : kube::dns1123_label_faults(name.as_string())) {
      causes.push_back(field::invalid(at + ".name", quoted(name), fault));
    }
    if (!seen.names.insert(name.as_string()).second) causes.push_back(field::duplicate(at + ".name", quoted(name)));
  }
  port_number_causes(port["port"], at + ".port", causes);
  if (const Value& target = port["targetPort"]; target.is_string()) {
    for (const std::string& fault : kube::port_name_faults(target.as_string())) {
      causes.push_back(field::invalid(at + ".targetPort", quoted(target), fault));
    }
  } else if (!is_headless(spec) || target.as_int() != 0) {
    port_number_causes(target, at + ".targetPort", causes);
  }
  if (!seen.numbers.emplace(port["port"].as_int(), port["protocol"].as_string()).second) {
    causes.push_back(field::duplicate(at, quoted(json::object({{"protocol", port["protocol"]}, {"port", port["port"]}}))));
  }
  const bool takes_node_port = type_of(spec) == "NodePort" || is_balanced(spec);
  if (!takes_node_port && port["nodePort"].as_int() != 0) {
    causes.push_back(field::forbidden(at + ".nodePort", fmt::format("may not be used when `type` is '{}'", type_of(spec))));
  }
}

void ports_causes(const Value& spec, std::vector<Cause>& causes) {
  if (spec["ports"].empty() && !is_headless(spec) && !is_external_name(spec)) causes.push_back(field::required("spec.ports"));
  PortsSeen seen;
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) port_causes(spec, i, seen, causes);
}

void external_name_causes(const Value& spec, std::vector<Cause>& causes) {
  if (!spec["clusterIPs"].empty()) {
    causes.push_back(field::forbidden("spec.clusterIPs", "may not be set for ExternalName services"));
  }
  const Value& name = spec["externalName"];
  const std::string_view text = name.as_string();
  if (text.empty()) {
    causes.push_back(field::required("spec.externalName"));
    return;
  }
  for (const std::string& fault :
       kube::dns1123_subdomain_faults(text.ends_with('.') ? text.substr(0, text.size() - 1) : text)) {
    causes.push_back(field::invalid("spec.externalName", quoted(name), fault));
  }
}

void affinity_causes(const Value& spec, std::vector<Cause>& causes) {
  const Value& config = spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"].as_string() == "None") {
    if (!config.is_null()) {
      causes.push_back(field::forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None"));
    }
    return;
  }
  const Value& seconds = config["clientIP"]["timeoutSeconds"];
  if (seconds.as_int() <= 0 || seconds.as_int() > kMostAffinitySeconds) {
    causes.push_back(field::invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", quoted(seconds),
                                    fmt::format("must be greater than 0 and less than {}", kMostAffinitySeconds)));
  }
}

void update_causes(const Value& spec, const Value& before, std::vector<Cause>& causes) {
  if (is_external_name(spec) || is_external_name(before) || before["clusterIP"].as_string().empty()) return;
  if (spec["clusterIP"] == before["clusterIP"]) return;
  causes.push_back(field::invalid("spec.clusterIPs[0]", quoted(spec["clusterIPs"]), "may not change once set"));
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  ports_causes(spec, causes);
  if (is_headless(spec) && (type_of(spec) == "NodePort" || is_balanced(spec))) {
    causes.push_back(field::invalid("spec.clusterIPs[0]", "\"None\"",
                                    fmt::format("may not be set to 'None' for {} services", type_of(spec))));
  }
  if (is_external_name(spec)) external_name_causes(spec, causes);
  for (Cause& cause : kube::label_causes(spec["selector"], "spec.selector")) causes.push_back(std::move(cause));
  affinity_causes(spec, causes);
  if (spec.has("externalTrafficPolicy") && !is_external(spec)) {
    causes.push_back(field::invalid("spec.externalTrafficPolicy", quoted(spec["externalTrafficPolicy"]),
                                    "may only be set for externally-accessible services"));
  }
  if (spec["clusterIPs"].size() > 1) {
    causes.push_back(field::invalid("spec.clusterIPs", quoted(spec["clusterIPs"]), "may only hold up to 1 values"));
  }
  if (!old.is_null()) update_causes(spec, old["spec"], causes);
}

void node_port_causes(const Value& number, const std::string& path, const std::string& key, ServiceNumbers& numbers,
                      std::vector<Cause>& causes) {
  const int port = static_cast<int>(number.as_int());
  if (port == 0) return;
  if (port < ServiceNumbers::kFirstPort || port > ServiceNumbers::kLastPort) {
    causes.push_back(field::invalid(path, quoted(number),
                                    fmt::format("provided port is not in the valid range. The range of valid ports is {}-{}",
                                                ServiceNumbers::kFirstPort, ServiceNumbers::kLastPort)));
  } else if (numbers.is_port_taken(port, key)) {
    causes.push_back(field::invalid(path, quoted(number), "provided port is already allocated"));
  }
}

void validate_numbers(const Object& object, const Object& old, const Surroundings& around, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  const std::string key = key_of(object);
  ServiceNumbers& numbers = *around.numbers;
  const std::string_view address = spec["clusterIP"].as_string();
  if (needs_address(spec) && address != old["spec"]["clusterIP"].as_string()) {
    const std::string list = quoted(spec["clusterIPs"]);
    if (address.empty()) {
      causes.push_back(field::invalid("spec.clusterIPs", "null", "failed to allocate a serviceIP: range is full"));
    } else if (!ServiceNumbers::is_in_range(address)) {
      causes.push_back(field::invalid(
          "spec.clusterIPs", list,
          fmt::format(
              "failed to allocate IP {0}: the provided IP ({0}) is not in the valid range. The range of valid IPs is {1}",
              address, ServiceNumbers::kAddressRange)));
    } else if (numbers.is_address_taken(address, key)) {
      causes.push_back(field::invalid("spec.clusterIPs", list,
                                      fmt::format("failed to allocate IP {}: provided IP is already allocated", address)));
    }
  }
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
    node_port_causes(spec["ports"].item(i)["nodePort"], fmt::format("spec.ports[{}].nodePort", i), key, numbers, causes);
  }
}

}  // namespace
}  // namespace service_rules

std::span<const Strategy> service_strategies() {
  static constexpr std::array kRows{Strategy{.group = "",
                                             .kind = "Service",
                                             .name_rule = NameRule::ServiceLabel,
                                             .fill_defaults = service_rules::fill_defaults,
                                             .prepare_create = service_rules::prepare_create,
                                             .prepare_update = service_rules::prepare_update,
                                             .validate = service_rules::validate,
                                             .validate_around = service_rules::validate_numbers}};
  return kRows;
}

}  // namespace slipway::server
