// The cells of nodes, volumes, rights and other records of the cluster.
#include <fmt/format.h>

#include <array>
#include <set>

#include "kube/table_cells.h"

namespace slipway::kube {
namespace {

json::Value config_size(const Object& o, Time) { return static_cast<std::int64_t>(o["data"].size() + o["binaryData"].size()); }

json::Value claim_status(const Object& claim, Time) {
  return is_deleting(claim) ? json::Value("Terminating") : json::Value(claim["status"]["phase"].as_string());
}

json::Value claim_capacity(const Object& claim, Time) {
  if (claim["spec"]["volumeName"].as_string().empty()) return "";
  return claim["status"]["capacity"]["storage"].as_string();
}

json::Value claim_modes(const Object& claim, Time) {
  if (claim["spec"]["volumeName"].as_string().empty()) return "";
  return access_modes_text(claim["status"]["accessModes"]);
}

json::Value volume_modes(const Object& volume, Time) { return access_modes_text(volume["spec"]["accessModes"]); }

json::Value volume_claim(const Object& volume, Time) {
  const json::Value& claim = volume["spec"]["claimRef"];
  return claim.is_null() ? "" : claim["namespace"].str() + "/" + claim["name"].str();
}

json::Value node_status(const Object& node, Time) {
  const json::Value& ready = condition(node, "Ready");
  std::string out = ready.is_null() ? "Unknown" : ready["status"].as_string() == "True" ? "Ready" : "NotReady";
  if (node["spec"]["unschedulable"].as_bool()) out += ",SchedulingDisabled";
  return out;
}

json::Value node_roles(const Object& node, Time) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto [key, value] : node["metadata"]["labels"].members()) {
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !value.as_string().empty()) roles.insert(value.str());
  }
  std::string out;
  for (const std::string& role : roles) out += (out.empty() ? "" : ",") + role;
  return out.empty() ? "<none>" : out;
}

std::string node_address(const Object& node, std::string_view type) {
  for (const json::Value& address : node["status"]["addresses"].items()) {
    if (address["type"].as_string() == type) return address["address"].str();
  }
  return "<none>";
}
json::Value internal_ip(const Object& node, Time) { return node_address(node, "InternalIP"); }
json::Value node_external_ip(const Object& node, Time) { return node_address(node, "ExternalIP"); }

json::Value binding_role(const Object& binding, Time) {
  return binding["roleRef"]["kind"].str() + "/" + binding["roleRef"]["name"].str();
}

std::string subjects(const Object& binding, std::string_view kind) {
  std::string out;
  for (const json::Value& one : binding["subjects"].items()) {
    if (one["kind"].as_string() != kind) continue;
    const std::string owner = kind == "ServiceAccount" ? one["namespace"].str() + "/" : "";
    out += (out.empty() ? "" : ", ") + owner + one["name"].str();
  }
  return out;
}
json::Value binding_users(const Object& binding, Time) { return subjects(binding, "User"); }
json::Value binding_groups(const Object& binding, Time) { return subjects(binding, "Group"); }
json::Value binding_accounts(const Object& binding, Time) { return subjects(binding, "ServiceAccount"); }

/// "pods: 1/10, requests.cpu: 0/1", of limits or of all else.
std::string quota(const Object& o, bool is_of_limits) {
  std::set<std::string> rows;
  for (const auto [name, hard] : o["status"]["hard"].members()) {
    if (name.starts_with("limits.") != is_of_limits) continue;
    const json::Value& used = o["status"]["used"][name];
    const auto text = [](const json::Value& value) {
      return value.is_null() ? std::string("0") : value.is_string() ? value.str() : fmt::format("{}", value.as_int());
    };
    rows.insert(fmt::format("{}: {}/{}", name, text(used), text(hard)));
  }
  std::string out;
  for (const std::string& row : rows) out += (out.empty() ? "" : ", ") + row;
  return out;
}
json::Value quota_requests(const Object& o, Time) { return quota(o, false); }
json::Value quota_limits(const Object& o, Time) { return quota(o, true); }

json::Value storage_class_name(const Object& o, Time) {
  const bool is_default = annotation(o, "storageclass.kubernetes.io/is-default-class") == "true" ||
                          annotation(o, "storageclass.beta.kubernetes.io/is-default-class") == "true";
  return is_default ? std::string(name(o)) + " (default)" : std::string(name(o));
}

json::Value driver_audiences(const Object& o, Time) {
  const std::string out = joined_members(o["spec"]["tokenRequests"], "audience");
  return out.empty() ? "<unset>" : out;
}

json::Value driver_modes(const Object& o, Time) {
  std::string out;
  for (const json::Value& mode : o["spec"]["volumeLifecycleModes"].items()) out += (out.empty() ? "" : ",") + mode.str();
  return out.empty() ? "<unset>" : out;
}

json::Value request_duration(const Object& o, Time) {
  const json::Value& seconds = o["spec"]["expirationSeconds"];
  return seconds.is_null() ? "<none>" : human_duration(std::chrono::seconds(seconds.as_int()));
}

json::Value request_condition(const Object& o, Time) {
  std::string out = is_true(o, "Denied") ? "Denied" : is_true(o, "Approved") ? "Approved" : "Pending";
  if (is_true(o, "Failed")) out += ",Failed";
  if (!o["status"]["certificate"].as_string().empty()) out += ",Issued";
  return out;
}

}  // namespace

std::span<const CellRow> cluster_cells() {
  static constexpr std::array kRows{CellRow{"@config.size", config_size},
                                    CellRow{"@claim.status", claim_status},
                                    CellRow{"@claim.capacity", claim_capacity},
                                    CellRow{"@claim.access-modes", claim_modes},
                                    CellRow{"@volume.access-modes", volume_modes},
                                    CellRow{"@volume.claim", volume_claim},
                                    CellRow{"@node.status", node_status},
                                    CellRow{"@node.roles", node_roles},
                                    CellRow{"@node.internal-ip", internal_ip},
                                    CellRow{"@node.external-ip", node_external_ip},
                                    CellRow{"@binding.role", binding_role},
                                    CellRow{"@binding.users", binding_users},
                                    CellRow{"@binding.groups", binding_groups},
                                    CellRow{"@binding.accounts", binding_accounts},
                                    CellRow{"@quota.requests", quota_requests},
                                    CellRow{"@quota.limits", quota_limits},
                                    CellRow{"@storageclass.name", storage_class_name},
                                    CellRow{"@driver.audiences", driver_audiences},
                                    CellRow{"@driver.modes", driver_modes},
                                    CellRow{"@request.duration", request_duration},
                                    CellRow{"@request.condition", request_condition}};
  return kRows;
}

}  // namespace slipway::kube
