#include "cluster/admission.h"

#include "cluster/names.h"

namespace slipway::cluster {

std::vector<kube::AdmissionRow> admission_rows() {
  const auto place_pod = [](const kube::Object& pod, const kube::Object& old) {
    if (!old.is_null() || pod["spec"].has("nodeName")) return pod;
    return pod.with_path({"spec", "nodeName"}, kNodeName);
  };
  return {{"", "Pod", place_pod, {}}};
}

}  // namespace slipway::cluster
