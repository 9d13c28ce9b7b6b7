#include "delivery/pipeline/family.h"

#include "delivery/pipeline/admission.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/kinds.h"
#include "delivery/pipeline/promotion_controller.h"

namespace slipway::delivery::pipeline {
namespace {

Family make() {
  Family family{.name = "pipeline", .groups = {kPipelineKind.group, kGitopsClusterKind.group, std::string(kOwnGroup)}};
  family.definitions = custom_resource_definitions();
  family.admission = [](const AdmissionContext&) { return admission_rows(); };
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    // What runs where: view_controller.h, cluster_controller.h.
    made.push_back(std::make_unique<PromotionController>(context));
    // The log: log_controller.h.
    return made;
  };
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::pipeline
