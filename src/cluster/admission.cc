#include "cluster/admission.h"

#include <array>

#include "cluster/advanced_statefulset.h"
#include "cluster/clone_set_facts.h"
#include "cluster/names.h"
#include "cluster/placement.h"
#include "cluster/pod_behaviour.h"

namespace slipway::cluster {

std::vector<kube::AdmissionRow> admission_rows() {
  const auto place_pod = [](const kube::Object& pod, const kube::Object& old, const kube::FindObject& find) {
    if (!old.is_null() || pod["spec"].has("nodeName") || !find(kNodes, "", kSecondNode).is_null()) return pod;
    const kube::Object node = find(kNodes, "", kNodeName);
    if (node.is_null()) return pod;
    const std::string name = choose_node(pod, std::array{NodeLoad{node}});
    return name.empty() ? pod : pod.with_path({"spec", "nodeName"}, name);
  };
  const auto protect_claim = [](const kube::Object& claim, const kube::Object&) {
    return kube::is_deleting(claim) ? claim : kube::with_finalizer(claim, kClaimProtection);
  };
  const auto check_script = [](const kube::Object& config_map, const kube::Object&) { return pod_script_causes(config_map); };
  return {{"", "Pod", {}, {}, place_pod},
          {"", "PersistentVolumeClaim", protect_claim, {}},
          {"", "ConfigMap", {}, check_script},
          clone_set_admission(),
          advanced_statefulset_admission()};
}

}  // namespace slipway::cluster
