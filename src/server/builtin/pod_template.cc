#include "server/builtin/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "kube/names.h"
#include "kube/selector.h"
#include "server/builtin/container.h"
#include "server/builtin/defaults.h"
#include "server/builtin/pod_placement.h"

namespace slipway::server {

namespace {

using json::Value;

/// Always for an image without a tag or with "latest", else IfNotPresent.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const auto slash = image.rfind('/');
  const auto colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  const bool is_latest = colon == std::string_view::npos || image.substr(colon + 1) == "latest";
  return is_latest ? "Always" : "IfNotPresent";
}

Value with_container_defaults(const Value& container) {
  Defaults defaults(container);
  if (!container.has("imagePullPolicy")) defaults.absent("imagePullPolicy", pull_policy(container["image"].as_string()));
  return defaults.value();
}

/// A volume that names no source is an emptyDir.
Value with_volume_defaults(const Value& volume) {
  return volume.size() == 1 && volume.has("name") ? volume.with("emptyDir", Value::empty_object()) : volume;
}

// Validation.

/// A name that must be there, be a DNS label and be the only one.
void unique_label(const Value& name, const std::string& path, std::set<std::string_view>& seen, std::vector<Cause>& causes) {
  if (name.as_string().empty()) {
    causes.push_back(field::required(path));
    return;
  }
  for (const std::string& fault : kube::dns1123_label_faults(name.as_string())) {
    causes.push_back(field::invalid(path, quoted(name), fault));
  }
  if (!seen.insert(name.as_string()).second) causes.push_back(field::duplicate(path, quoted(name)));
}

void required_member(const Value& owner, const std::string& path, const char* key, std::vector<Cause>& causes) {
  if (owner[key].as_string().empty()) causes.push_back(field::required(path + "." + key));
}

/// A path that leads into a volume and stays there.
void descending_path_causes(const Value& value, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view text = value.as_string();
  if (text.starts_with('/')) causes.push_back(field::invalid(path, quoted(value), "must be a relative path"));
  for (const auto part : std::views::split(text, '/')) {
    if (std::string_view(part.begin(), part.end()) != "..") continue;
    causes.push_back(field::invalid(path, quoted(value), "must not contain '..'"));
    return;
  }
}

/// Also not one that begins with "..", as "..data".
void file_path_causes(const Value& value, const std::string& path, std::vector<Cause>& causes) {
  if (value.as_string().empty()) {
    causes.push_back(field::required(path));
    return;
  }
  descending_path_causes(value, path, causes);
  const std::string_view text = value.as_string();
  if (text.starts_with("..") && text != ".." && !text.starts_with("../")) {
    causes.push_back(field::invalid(path, quoted(value), "must not start with '..'"));
  }
}

void file_mode_causes(const Value& mode, const std::string& path, std::vector<Cause>& causes) {
  if (mode.is_null() || (mode.as_int() >= 0 && mode.as_int() <= 0777)) return;
  causes.push_back(field::invalid(path, quoted(mode), "must be a number between 0 and 0777 (octal), both inclusive"));
}

/// The files of a volume that are named: `items` of Secrets and ConfigMaps (which have keys), and of what pods say of
/// themselves.
void item_causes(const Value& source, const std::string& path, bool has_keys, std::vector<Cause>& causes) {
  file_mode_causes(source["defaultMode"], path + ".defaultMode", causes);
  for (std::size_t i = 0; i < source["items"].size(); ++i) {
    const Value& item = source["items"].item(i);
    const std::string at = fmt::format("{}.items[{}]", path, i);
    if (has_keys) required_member(item, at, "key", causes);
    file_path_causes(item["path"], at + ".path", causes);
    file_mode_causes(item["mode"], at + ".mode", causes);
  }
}

void file_causes(const Value& volume, const std::string& at, std::vector<Cause>& causes) {
  for (const char* kind : {"secret", "configMap", "downwardAPI"}) {
    item_causes(volume[kind], fmt::format("{}.{}", at, kind), std::string_view(kind) != "downwardAPI", causes);
  }
  const Value& projected = volume["projected"];
  file_mode_causes(projected["defaultMode"], at + ".projected.defaultMode", causes);
  for (std::size_t i = 0; i < projected["sources"].size(); ++i) {
    const Value& source = projected["sources"].item(i);
    for (const char* kind : {"secret", "configMap", "downwardAPI"}) {
      item_causes(source[kind], fmt::format("{}.projected.sources[{}].{}", at, i, kind),
                  std::string_view(kind) != "downwardAPI", causes);
    }
  }
}

void volume_causes(const Value& volumes, const std::string& path, std::set<std::string_view>& names,
                   std::vector<Cause>& causes) {
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Value& volume = volumes.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    unique_label(volume["name"], at + ".name", names, causes);
    if (volume.size() > 2) causes.push_back(field::forbidden(at, "may not specify more than 1 volume type"));
    if (volume.has("configMap")) required_member(volume["configMap"], at + ".configMap", "name", causes);
    if (volume.has("secret")) required_member(volume["secret"], at + ".secret", "secretName", causes);
    if (volume.has("hostPath")) required_member(volume["hostPath"], at + ".hostPath", "path", causes);
    if (volume.has("persistentVolumeClaim")) {
      required_member(volume["persistentVolumeClaim"], at + ".persistentVolumeClaim", "claimName", causes);
    }
    file_causes(volume, at, causes);
  }
}

void mount_causes(const Value& mounts, const std::string& path, const std::set<std::string_view>& volumes,
                  std::vector<Cause>& causes) {
  std::set<std::string_view> targets;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Value& mount = mounts.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    if (mount["name"].as_string().empty()) {
      causes.push_back(field::required(at + ".name"));
    } else if (!volumes.contains(mount["name"].as_string())) {
      causes.push_back(field::not_found(at + ".name", quoted(mount["name"])));
    }
    if (mount["mountPath"].as_string().empty()) {
      causes.push_back(field::required(at + ".mountPath"));
    } else if (!targets.insert(mount["mountPath"].as_string()).second) {
      causes.push_back(field::invalid(at + ".mountPath", quoted(mount["mountPath"]), "must be unique"));
    }
    for (const char* key : {"subPath", "subPathExpr"}) descending_path_causes(mount[key], at + "." + key, causes);
  }
}

void env_causes(const Value& env, const std::string& path, std::vector<Cause>& causes) {
  for (std::size_t i = 0; i < env.size(); ++i) {
    const Value& variable = env.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    if (variable["name"].as_string().empty()) {
      causes.push_back(field::required(at + ".name"));
    } else {
      for (const std::string& fault : kube::env_name_faults(variable["name"].as_string())) {
        causes.push_back(field::invalid(at + ".name", quoted(variable["name"]), fault));
      }
    }
    const Value& source = variable["valueFrom"];
    if (source.is_null()) continue;
    if (!variable["value"].as_string().empty()) {
      causes.push_back(field::invalid(at + ".valueFrom", "\"\"", "may not be specified when `value` is not empty"));
    }
    if (source.size() != 1) {
      const char* why =
          source.empty()
              ? "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
              : "may not have more than one field specified at a time";
      causes.push_back(field::invalid(at + ".valueFrom", "\"\"", why));
    }
  }
}

/// Names that a pod refers to or is known by.
void name_causes(const Value& spec, const std::string& path, std::vector<Cause>& causes) {
  struct Row {
    const char* key;
    kube::Faults (*faults)(std::string_view);
  };
  static constexpr Row kRows[] = {{"serviceAccountName", kube::dns1123_subdomain_faults},
                                  {"nodeName", kube::dns1123_subdomain_faults},
                                  {"priorityClassName", kube::dns1123_subdomain_faults},
                                  {"runtimeClassName", kube::dns1123_subdomain_faults},
                                  {"hostname", kube::dns1123_label_faults},
                                  {"subdomain", kube::dns1123_label_faults}};
  for (const Row& row : kRows) {
    const Value& name = spec[row.key];
    if (name.as_string().empty()) continue;
    for (const std::string& fault : row.faults(name.as_string())) {
      causes.push_back(field::invalid(path + "." + row.key, quoted(name), fault));
    }
  }
}

struct ContainerNames {
  std::set<std::string_view> containers;
  std::set<std::string_view> volumes;
};

void container_causes(const Value& containers, const std::string& path, ContainerNames& names, std::vector<Cause>& causes) {
  static const std::vector<std::string> kPullPolicies{"Always", "IfNotPresent", "Never"};
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value& container = containers.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    unique_label(container["name"], at + ".name", names.containers, causes);
    if (container["image"].as_string().empty()) causes.push_back(field::required(at + ".image"));
    const Value& policy = container["imagePullPolicy"];
    if (std::ranges::find(kPullPolicies, policy.as_string()) == kPullPolicies.end()) {
      causes.push_back(field::not_supported(at + ".imagePullPolicy", quoted(policy), kPullPolicies));
    }
    env_causes(container["env"], at + ".env", causes);
    env_from_causes(container["envFrom"], at + ".envFrom", causes);
    container_port_causes(container["ports"], at + ".ports", causes);
    probe_causes(container, at, causes);
    lifecycle_causes(container["lifecycle"], at + ".lifecycle", causes);
    resource_causes(container["resources"], at + ".resources", causes);
    mount_causes(container["volumeMounts"], at + ".volumeMounts", names.volumes, causes);
  }
}

}  // namespace

Value with_pod_defaults(const Value& spec) {
  Defaults defaults(spec);
  // The two names of one field.
  if (spec.has("serviceAccountName")) defaults.absent("serviceAccount", spec["serviceAccountName"]);
  if (spec.has("serviceAccount")) defaults.absent("serviceAccountName", spec["serviceAccount"]);
  defaults.each("containers", with_container_defaults).each("initContainers", with_container_defaults);
  defaults.each("volumes", with_volume_defaults);
  return defaults.value();
}

void pod_spec_causes(const Value& spec, const std::string& path, const Value& claim_templates, std::vector<Cause>& causes) {
  static const std::vector<std::string> kRestartPolicies{"Always", "Never", "OnFailure"};
  static const std::vector<std::string> kDnsPolicies{"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"};
  ContainerNames names;
  volume_causes(spec["volumes"], path + ".volumes", names.volumes, causes);
  for (const Value& claim : claim_templates.items()) names.volumes.insert(claim["metadata"]["name"].as_string());
  if (spec["containers"].empty()) causes.push_back(field::required(path + ".containers"));
  container_causes(spec["containers"], path + ".containers", names, causes);
  container_causes(spec["initContainers"], path + ".initContainers", names, causes);
  for (std::size_t i = 0; i < spec["initContainers"].size(); ++i) {
    init_container_causes(spec["initContainers"].item(i), fmt::format("{}.initContainers[{}]", path, i), causes);
  }
  const Value& restart = spec["restartPolicy"];
  if (std::ranges::find(kRestartPolicies, restart.as_string()) == kRestartPolicies.end()) {
    causes.push_back(field::not_supported(path + ".restartPolicy", quoted(restart), kRestartPolicies));
  }
  const Value& dns = spec["dnsPolicy"];
  if (std::ranges::find(kDnsPolicies, dns.as_string()) == kDnsPolicies.end()) {
    causes.push_back(field::not_supported(path + ".dnsPolicy", quoted(dns), kDnsPolicies));
  }
  placement_causes(spec, path, causes);
  name_causes(spec, path, causes);
  for (Cause& cause : kube::label_causes(spec["nodeSelector"], path + ".nodeSelector")) causes.push_back(std::move(cause));
  not_negative(spec, path, "terminationGracePeriodSeconds", causes);
  if (const Value& deadline = spec["activeDeadlineSeconds"];
      !deadline.is_null() && (deadline.as_int() < 1 || deadline.as_int() > INT32_MAX)) {
    causes.push_back(
        field::invalid(path + ".activeDeadlineSeconds", quoted(deadline), "must be between 1 and 2147483647, inclusive"));
  }
}

Value with_template_defaults(const Value& spec) {
  return Defaults(spec)
      .present("template",
               [](const Value& pod_template) { return Defaults(pod_template).present("spec", with_pod_defaults).value(); })
      .value();
}

void pod_template_causes(const Value& pod_template, const std::string& path, const Value& claim_templates,
                         std::vector<Cause>& causes) {
  const auto add = [&](std::vector<Cause> more) { std::ranges::move(more, std::back_inserter(causes)); };
  add(kube::label_causes(pod_template["metadata"]["labels"], path + ".metadata.labels"));
  add(kube::annotation_causes(pod_template["metadata"]["annotations"], path + ".metadata.annotations"));
  pod_spec_causes(pod_template["spec"], path + ".spec", claim_templates, causes);
}

void owned_template_causes(const Value& spec, const OwnedTemplate& rules, std::vector<Cause>& causes) {
  const Value& pod_template = spec["template"];
  const Value& labels = pod_template["metadata"]["labels"];
  const auto selector = kube::LabelSelector::from_object(spec["selector"]);
  if (spec["selector"].is_null()) {
    causes.push_back(field::required("spec.selector"));
  } else if (!selector) {
    causes.push_back(field::invalid("spec.selector", quoted(spec["selector"]), selector.error().message));
  } else if (selector->matches_everything()) {
    causes.push_back(field::invalid("spec.selector", quoted(spec["selector"]),
                                    fmt::format("empty selector is invalid for {}", rules.owner_word)));
  } else if (!selector->matches(labels)) {
    causes.push_back(field::invalid("spec.template.metadata.labels", labels.is_null() ? "{}" : quoted(labels),
                                    "`selector` does not match template `labels`"));
  }
  pod_template_causes(pod_template, "spec.template", spec["volumeClaimTemplates"], causes);
  const Value& restart = pod_template["spec"]["restartPolicy"];
  if (const std::string_view policy = restart.as_string(); policy == "Never" || policy == "OnFailure") {
    causes.push_back(field::not_supported("spec.template.spec.restartPolicy", quoted(restart), {"Always"}));
  }
  if (pod_template["spec"].has("activeDeadlineSeconds")) {
    causes.push_back(field::forbidden("spec.template.spec.activeDeadlineSeconds",
                                      fmt::format("activeDeadlineSeconds in {} is not Supported", rules.owner_kind)));
  }
}

std::string_view qos_class(const Value& spec) {
  bool has_any = false;
  bool is_guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      const Value& resources = container["resources"];
      for (const char* name : {"cpu", "memory"}) {
        const Value& limit = resources["limits"][name];
        const Value& request = resources["requests"][name];
        has_any |= !limit.is_null() || !request.is_null();
        is_guaranteed &= !limit.is_null() && (request.is_null() || request == limit);
      }
    }
  }
  if (!has_any) return "BestEffort";
  return is_guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace slipway::server
