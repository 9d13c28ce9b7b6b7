#include <algorithm>

#include "cluster/clone_set_facts.h"
#include "json/text.h"
#include "server/create_check.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Fields that upstream acts upon and nothing here does.
constexpr std::string_view kAbsentFields[] = {"volumeClaimTemplates", "lifecycle"};
constexpr std::string_view kAbsentUpdateFields[] = {"priorityStrategy", "scatterStrategy", "inPlaceUpdateStrategy"};

void share_cause(const Value& owner, const std::string& path, const char* name, std::vector<Cause>& causes) {
  const Value& share = owner[name];
  const auto at_hundred = scaled_share(share, 100, Rounding::Up);
  if (share.is_null() || (at_hundred && *at_hundred >= 0)) return;
  causes.push_back(field::invalid(path + "." + name, json::print(share), "must be a number from 0 or a percentage (12.5%)"));
}

void absent_causes(const Value& owner, const std::string& path, std::span<const std::string_view> absent,
                   std::vector<Cause>& causes) {
  for (const std::string_view name : absent) {
    if (!owner[name].empty())
      causes.push_back(field::forbidden(path + std::string(name), "is not implemented in this cluster"));
  }
}

void update_causes(const Value& spec, std::vector<Cause>& causes) {
  const std::string path = "spec.updateStrategy";
  const Value& update = spec["updateStrategy"];
  const std::size_t before = causes.size();
  for (const char* name : {"partition", "maxUnavailable", "maxSurge"}) share_cause(update, path, name, causes);
  if (causes.size() > before) return;
  const std::int64_t replicas = spec["replicas"].as_int(1);
  const auto at_most = [&](const char* name) { return scaled_share(update[name], replicas, Rounding::Up); };
  const std::int64_t surge = at_most("maxSurge").value_or(0);
  if (replicas > 0 && at_most("maxUnavailable").value_or(1) < 1 && surge < 1) {
    causes.push_back(field::invalid(path + ".maxUnavailable", json::print(update["maxUnavailable"]),
                                    "maxUnavailable and maxSurge should not both be less than 1"));
  }
  if (surge > 0 && update["type"].as_string() == "InPlaceOnly") {
    causes.push_back(
        field::invalid(path + ".maxSurge", json::print(update["maxSurge"]), "may not be used with type InPlaceOnly"));
  }
}

/// Selector and template are judged as those of a ReplicaSet, which makes the same pods.
std::vector<Cause> template_causes(const server::CreateCheck& check, const kube::Object& set) {
  const Value& spec = set["spec"];
  return check(json::object({{"apiVersion", "apps/v1"},
                             {"kind", "ReplicaSet"},
                             {"metadata", json::object({{"name", set["metadata"]["name"]}, {"namespace", kube::ns(set)}})},
                             {"spec", json::object({{"selector", spec["selector"]}, {"template", spec["template"]}})}}));
}

}  // namespace

kube::AdmissionRow clone_set_admission() {
  const server::CreateCheck check({"apps", "v1", "ReplicaSet"});
  const auto validate = [check](const kube::Object& set, const kube::Object& old) {
    const Value& spec = set["spec"];
    if (!old.is_null() && spec == old["spec"]) return std::vector<Cause>{};
    std::vector<Cause> causes = template_causes(check, set);
    if (!old.is_null() && spec["selector"] != old["spec"]["selector"]) {
      causes.push_back(field::invalid("spec.selector", json::print(spec["selector"]), "field is immutable"));
    }
    share_cause(spec["scaleStrategy"], "spec.scaleStrategy", "maxUnavailable", causes);
    update_causes(spec, causes);
    absent_causes(spec, "spec.", kAbsentFields, causes);
    absent_causes(spec["updateStrategy"], "spec.updateStrategy.", kAbsentUpdateFields, causes);
    return causes;
  };
  return {std::string(kKruiseGroup), kCloneSetKind.kind, {}, validate};
}

}  // namespace slipway::cluster
