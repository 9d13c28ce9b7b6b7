#include "cluster/statefulset_pod.h"

#include "cluster/controller_revision.h"
#include "cluster/names.h"
#include "json/members.h"

namespace slipway::cluster {

namespace {

using json::Value;

std::string claim_name(const kube::Object& set, const Value& claim, std::int64_t ordinal) {
  return fmt::format("{}-{}", claim["metadata"]["name"].as_string(), stateful_pod_name(set, ordinal));
}

bool deletes(const kube::Object& set, const char* when) {
  return set["spec"]["persistentVolumeClaimRetentionPolicy"][when].as_string() == "Delete";
}

/// The volumes of the claims, then those of the template under other names.
Value volumes_of(const kube::Object& set, const Value& spec, std::int64_t ordinal) {
  json::ArrayBuilder volumes;
  std::set<std::string, std::less<>> claimed;
  for (const Value& claim : set["spec"]["volumeClaimTemplates"].items()) {
    const Value source = json::object({{"claimName", claim_name(set, claim, ordinal)}});
    volumes.add(json::object({{"name", claim["metadata"]["name"]}, {"persistentVolumeClaim", source}}));
    claimed.insert(claim["metadata"]["name"].str());
  }
  for (const Value& volume : spec["volumes"].items()) {
    if (!claimed.contains(volume["name"].as_string())) volumes.add(volume);
  }
  return volumes.build();
}

}  // namespace

std::string stateful_pod_name(const kube::Object& set, std::int64_t ordinal) {
  return fmt::format("{}-{}", kube::name(set), ordinal);
}

kube::Object make_stateful_pod(const kube::Object& set, const kube::Object& revision, std::int64_t ordinal) {
  const Value& pod = revision_template(revision);
  const std::string name = stateful_pod_name(set, ordinal);
  const Value labels = pod["metadata"]["labels"]
                           .with(kPodName, name)
                           .with(kPodIndex, std::to_string(ordinal))
                           .with(kRevisionHash, kube::name(revision));
  json::ObjectBuilder metadata;
  metadata.set("name", name).set("namespace", kube::ns(set)).set("generateName", std::string(kube::name(set)) + "-");
  metadata.set("labels", labels);
  for (const char* part : {"annotations", "finalizers"}) {
    if (const Value& value = pod["metadata"][part]; !value.empty()) metadata.set(part, value);
  }
  metadata.set("ownerReferences", json::array({kube::owner_reference(set)}));
  Value spec = pod["spec"].with("hostname", name);
  if (const Value& service = set["spec"]["serviceName"]; !service.as_string().empty()) spec = spec.with("subdomain", service);
  if (const Value volumes = volumes_of(set, spec, ordinal); !volumes.empty()) spec = spec.with("volumes", volumes);
  return json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata.build()}, {"spec", spec}});
}

std::vector<kube::Object> make_stateful_claims(const kube::Object& set, std::int64_t ordinal) {
  std::vector<kube::Object> claims;
  for (const Value& given : set["spec"]["volumeClaimTemplates"].items()) {
    const Value labels = json::with_members(given["metadata"]["labels"], set["spec"]["selector"]["matchLabels"]);
    Value metadata = given["metadata"].with("name", claim_name(set, given, ordinal)).with("namespace", kube::ns(set));
    if (!labels.empty()) metadata = metadata.with("labels", labels);
    const Value claim = json::object(
        {{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", metadata}, {"spec", given["spec"]}});
    const Value owners = claim_owners(set, claim, Value(), true);
    claims.push_back(owners.empty() ? claim : claim.with_path({"metadata", "ownerReferences"}, owners));
  }
  return claims;
}

Value claim_owners(const kube::Object& set, const kube::Object& claim, const kube::Object& pod, bool is_in_range) {
  const Value& before = claim["metadata"]["ownerReferences"];
  json::ArrayBuilder owners;
  for (const Value& owner : before.items()) {
    const bool is_set = kube::refers_to(owner, "apps", "StatefulSet") && owner["name"] == set["metadata"]["name"];
    const bool is_pod = kube::refers_to(owner, "", "Pod");
    if (!is_set && !is_pod && owner["controller"].as_bool()) return before;
    if (!is_set && !is_pod) owners.add(owner);
  }
  const bool goes_with_pod = !is_in_range && deletes(set, "whenScaled");
  if (goes_with_pod && !pod.is_null()) owners.add(kube::owner_reference(pod));
  if (!goes_with_pod && deletes(set, "whenDeleted")) owners.add(kube::owner_reference(set));
  return owners.empty() ? Value() : owners.build();
}

bool is_claim_of_gone_pod(const kube::Object& claim, std::string_view pod_name) {
  for (const Value& owner : claim["metadata"]["ownerReferences"].items()) {
    if (kube::refers_to(owner, "", "Pod") && owner["name"].as_string() == pod_name) return true;
  }
  return false;
}

}  // namespace slipway::cluster
