#include "cluster/pod_environment.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using json::Value;

void set(Environment& environment, std::string name, std::string value) {
  for (auto& [known, old] : environment) {
    if (known != name) continue;
    old = std::move(value);
    return;
  }
  environment.emplace_back(std::move(name), std::move(value));
}

const std::string* find(const Environment& environment, std::string_view name) {
  for (const auto& [known, value] : environment) {
    if (known == name) return &value;
  }
  return nullptr;
}

/// labels['key'] and annotations['key'].
std::optional<std::string> map_field(const kube::Object& pod, std::string_view path) {
  for (const std::string_view field : {"labels", "annotations"}) {
    const std::string start = fmt::format("metadata.{}['", field);
    if (!path.starts_with(start) || !path.ends_with("']")) continue;
    const std::string_view key = path.substr(start.size(), path.size() - start.size() - 2);
    return pod["metadata"][field][key].str();
  }
  return std::nullopt;
}

Result<std::string> pod_field(const kube::Object& pod, std::string_view path) {
  if (const auto value = map_field(pod, path)) return *value;
  if (path == "metadata.name") return std::string(kube::name(pod));
  if (path == "metadata.namespace") return std::string(kube::ns(pod));
  if (path == "metadata.uid") return std::string(kube::uid(pod));
  if (path == "spec.nodeName") return pod["spec"]["nodeName"].str();
  if (path == "spec.serviceAccountName") return pod["spec"]["serviceAccountName"].str();
  if (path == "status.hostIP" || path == "status.hostIPs") return std::string(kNodeAddress);
  if (path == "status.podIP" || path == "status.podIPs") return pod["status"]["podIP"].str();
  return fail(Reason::Invalid, fmt::format("fieldRef {} is not supported", path));
}

/// Limits and requests as their spec says them; what is not said is 0.
std::string resource_field(const Value& container, const Value& reference) {
  std::string_view name = reference["resource"].as_string();
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return "0";
  const Value& amount = container["resources"][name.substr(0, dot)][name.substr(dot + 1)];
  if (amount.is_number()) return amount.number_text();
  return amount.is_string() ? amount.str() : "0";
}

struct Source {
  const char* what;
  const std::map<std::string, kube::Object>& objects;
};

/// The object, or nullopt when it is missing and may be.
Result<std::optional<kube::Object>> lookup(const Source& source, const Value& reference) {
  const auto found = source.objects.find(reference["name"].str());
  if (found != source.objects.end()) return found->second;
  if (reference["optional"].as_bool()) return std::nullopt;
  return fail(Reason::NotFound, fmt::format("{} \"{}\" not found", source.what, reference["name"].as_string()));
}

Result<std::optional<std::string>> key_value(const Source& source, const Value& reference) {
  SLIPWAY_TRY(object, lookup(source, reference));
  if (!object) return std::nullopt;
  SLIPWAY_TRY(data, data_of(*object));
  const auto found = data.find(reference["key"].str());
  if (found != data.end()) return found->second;
  if (reference["optional"].as_bool()) return std::nullopt;
  return fail(Reason::NotFound, fmt::format("couldn't find key {} in {} \"{}\"", reference["key"].as_string(), source.what,
                                            reference["name"].as_string()));
}

Result<void> add_all(Environment& environment, const Source& source, const Value& reference, const std::string& prefix) {
  SLIPWAY_TRY(object, lookup(source, reference));
  if (!object) return {};
  SLIPWAY_TRY(data, data_of(*object));
  for (auto& [key, value] : data) {
    if (key.find('=') == std::string::npos) set(environment, prefix + key, value);
  }
  return {};
}

Result<std::optional<std::string>> value_from(const kube::Object& pod, const Value& container, const Value& from,
                                              const PodInputs& inputs) {
  if (from.has("configMapKeyRef")) return key_value({"configmap", inputs.config_maps}, from["configMapKeyRef"]);
  if (from.has("secretKeyRef")) return key_value({"secret", inputs.secrets}, from["secretKeyRef"]);
  if (from.has("resourceFieldRef")) return resource_field(container, from["resourceFieldRef"]);
  SLIPWAY_TRY(text, pod_field(pod, from["fieldRef"]["fieldPath"].as_string()));
  return text;
}

void add_name(std::set<std::string>& names, const Value& name) {
  if (!name.as_string().empty()) names.insert(name.str());
}

}  // namespace

PodReferences references_of(const kube::Object& pod) {
  std::set<std::string> config_maps;
  std::set<std::string> secrets;
  std::set<std::string> claims;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Value& container : pod["spec"][list].items()) {
      for (const Value& from : container["envFrom"].items()) {
        add_name(config_maps, from["configMapRef"]["name"]);
        add_name(secrets, from["secretRef"]["name"]);
      }
      for (const Value& variable : container["env"].items()) {
        add_name(config_maps, variable["valueFrom"]["configMapKeyRef"]["name"]);
        add_name(secrets, variable["valueFrom"]["secretKeyRef"]["name"]);
      }
    }
  }
  for (const Value& volume : pod["spec"]["volumes"].items()) {
    add_name(config_maps, volume["configMap"]["name"]);
    add_name(secrets, volume["secret"]["secretName"]);
    add_name(claims, volume["persistentVolumeClaim"]["claimName"]);
  }
  return {{config_maps.begin(), config_maps.end()}, {secrets.begin(), secrets.end()}, {claims.begin(), claims.end()}};
}

Result<Environment> environment_of(const kube::Object& pod, const Value& container, const PodInputs& inputs, Environment base) {
  Environment environment = std::move(base);
  for (const Value& from : container["envFrom"].items()) {
    const std::string prefix = from["prefix"].str();
    if (from.has("configMapRef")) {
      SLIPWAY_TRY_VOID(add_all(environment, {"configmap", inputs.config_maps}, from["configMapRef"], prefix));
    }
    if (from.has("secretRef")) {
      SLIPWAY_TRY_VOID(add_all(environment, {"secret", inputs.secrets}, from["secretRef"], prefix));
    }
  }
  for (const Value& variable : container["env"].items()) {
    const std::string name = variable["name"].str();
    if (!variable.has("valueFrom")) {
      set(environment, name, expand(variable["value"].as_string(), environment));
      continue;
    }
    SLIPWAY_TRY(value, value_from(pod, container, variable["valueFrom"], inputs));
    if (value) set(environment, name, *value);
  }
  return environment;
}

std::string expand(std::string_view text, const Environment& environment) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dollar = text.find('$', at);
    out += text.substr(at, dollar - at);
    if (dollar == std::string_view::npos) break;
    const std::string_view rest = text.substr(dollar);
    const std::size_t close = rest.find(')');
    if (rest.starts_with("$$")) {
      out += '$';
      at = dollar + 2;
    } else if (rest.starts_with("$(") && close != std::string_view::npos) {
      const std::string* value = find(environment, rest.substr(2, close - 2));
      out += value != nullptr ? std::string_view(*value) : rest.substr(0, close + 1);
      at = dollar + close + 1;
    } else {
      out += '$';
      at = dollar + 1;
    }
  }
  return out;
}

Result<std::map<std::string, std::string>> data_of(const kube::Object& object) {
  std::map<std::string, std::string> data;
  const bool is_secret = kube::kind(object) == "Secret";
  const auto decode = [&](const Value& members) -> Result<void> {
    for (const auto& [key, value] : members.members()) {
      if (!base64_decode(value.as_string(), data[std::string(key)])) {
        return fail(Reason::BadRequest,
                    fmt::format("{} \"{}\": key {} is not base64", kube::kind(object), kube::name(object), key));
      }
    }
    return {};
  };
  if (is_secret) {
    SLIPWAY_TRY_VOID(decode(object["data"]));
    return data;
  }
  for (const auto& [key, value] : object["data"].members()) data[std::string(key)] = value.str();
  SLIPWAY_TRY_VOID(decode(object["binaryData"]));
  return data;
}

}  // namespace slipway::cluster
