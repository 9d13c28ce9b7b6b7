#include "server/builtin/container.h"

#include <fmt/format.h>

#include "kube/names.h"
#include "kube/quantity.h"
#include "server/builtin/defaults.h"

namespace slipway::server {

namespace {

using json::Value;

/// A port by number or name.
void target_causes(const Value& port, const std::string& path, std::vector<Cause>& causes) {
  if (port.is_string()) {
    add_faults(kube::port_name_faults(port.as_string()), path, port, causes);
  } else {
    add_faults(kube::port_number_faults(port.as_int()), path, port.is_null() ? Value(0) : port, causes);
  }
}

void handler_causes(const Value& handler, const std::string& path, std::vector<Cause>& causes) {
  int handlers = 0;
  for (const char* kind : {"exec", "httpGet", "tcpSocket", "grpc"}) {
    if (handler[kind].is_null()) continue;
    const std::string at = path + "." + kind;
    if (++handlers > 1) {
      causes.push_back(field::forbidden(at, "may not specify more than 1 handler type"));
      continue;
    }
    if (std::string_view(kind) == "exec") {
      if (handler[kind]["command"].empty()) causes.push_back(field::required(at + ".command"));
    } else {
      target_causes(handler[kind]["port"], at + ".port", causes);
    }
  }
  if (handlers == 0) causes.push_back(field::required(path, "must specify a handler type"));
}

/// A quantity as JSON has it: text or a number.
Result<kube::Quantity> quantity_of(const Value& value) {
  return kube::Quantity::parse(value.is_string() ? value.str() : json::print(value));
}

}  // namespace

void probe_causes(const Value& container, const std::string& path, std::vector<Cause>& causes) {
  for (const char* kind : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value& probe = container[kind];
    if (probe.is_null()) continue;
    const std::string at = path + "." + kind;
    handler_causes(probe, at, causes);
    for (const char* key : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
      not_negative(probe, at, key, causes);
    }
    if (kind != std::string_view("readinessProbe") && probe["successThreshold"].as_int(1) != 1) {
      causes.push_back(field::invalid(at + ".successThreshold", quoted(probe["successThreshold"]), "must be 1"));
    }
  }
}

void lifecycle_causes(const Value& lifecycle, const std::string& path, std::vector<Cause>& causes) {
  for (const char* hook : {"postStart", "preStop"}) {
    const Value& handler = lifecycle[hook];
    if (!handler.is_null() && !handler.has("sleep")) handler_causes(handler, path + "." + hook, causes);
  }
}

void init_container_causes(const Value& container, const std::string& path, std::vector<Cause>& causes) {
  if (container["restartPolicy"].as_string() == "Always") return;
  for (const char* key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (container[key].is_null()) continue;
    causes.push_back(field::forbidden(path + "." + key, "may not be set for init containers without restartPolicy=Always"));
  }
}

void container_port_causes(const Value& ports, const std::string& path, std::vector<Cause>& causes) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Value& port = ports.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    if (const Value& name = port["name"]; !name.as_string().empty()) {
      add_faults(kube::port_name_faults(name.as_string()), at + ".name", name, causes);
      if (!names.insert(name.as_string()).second) causes.push_back(field::duplicate(at + ".name", quoted(name)));
    }
    if (port["containerPort"].as_int() == 0) {
      causes.push_back(field::required(at + ".containerPort"));
    } else {
      add_faults(kube::port_number_faults(port["containerPort"].as_int()), at + ".containerPort", port["containerPort"],
                 causes);
    }
    if (port["hostPort"].as_int() != 0) {
      add_faults(kube::port_number_faults(port["hostPort"].as_int()), at + ".hostPort", port["hostPort"], causes);
    }
  }
}

void resource_causes(const Value& resources, const std::string& path, std::vector<Cause>& causes) {
  for (const char* list : {"limits", "requests"}) {
    for (const auto [name, value] : resources[list].members()) {
      const auto amount = quantity_of(value);
      if (amount && *amount < kube::Quantity()) {
        causes.push_back(
            field::invalid(fmt::format("{}.{}[{}]", path, list, name), quoted(value), "must be greater than or equal to 0"));
      }
    }
  }
  for (const auto [name, value] : resources["requests"].members()) {
    const Value& limit = resources["limits"][name];
    if (limit.is_null()) continue;
    const auto request = quantity_of(value);
    const auto most = quantity_of(limit);
    if (!request || !most || *request <= *most) continue;
    causes.push_back(field::invalid(path + ".requests", fmt::format("\"{}\"", request->to_string()),
                                    fmt::format("must be less than or equal to {} limit of {}", name, most->to_string())));
  }
}

void env_from_causes(const Value& sources, const std::string& path, std::vector<Cause>& causes) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Value& source = sources.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    const bool has_map = !source["configMapRef"].is_null();
    const bool has_secret = !source["secretRef"].is_null();
    if (has_map && has_secret) {
      causes.push_back(field::invalid(at, "\"\"", "may not have more than one field specified at a time"));
    } else if (!has_map && !has_secret) {
      causes.push_back(field::invalid(at, "\"\"", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (const char* kind = has_map ? "configMapRef" : "secretRef"; source[kind]["name"].as_string().empty()) {
      causes.push_back(field::required(at + "." + kind + ".name"));
    }
  }
}

}  // namespace slipway::server
