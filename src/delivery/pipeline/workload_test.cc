#include "delivery/pipeline/workload.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/explain.h"
#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

kube::Object release(const std::string& annotations, const std::string& ready = "'True'", const std::string& name = "web") {
  return yaml_object(
      fmt::format("{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: {}, namespace: web-dev, "
                  "annotations: {{{}}}}}, spec: {{}}, status: {{conditions: [{{type: Ready, status: {}, reason: "
                  "UpgradeFailed, message: tests failed}}]}}}}",
                  name, annotations, ready));
}

const std::string kOfDev = "pipelines.weave.works/pipeline: shop/web, pipelines.weave.works/environment: dev";

std::string head_of(const kube::Object& object) {
  const std::string text = describe_workload(object, web_scene(), {});
  return text.substr(0, text.find("apiVersion:"));
}

TEST(Workload, is_described_with_its_pipeline) {
  EXPECT_EQ(head_of(release(kOfDev)),
            "Pipeline:     shop/web\nEnvironment:  dev\nVersions:     dev 1.1.0 → staging 1.1.0 → prod 1.0.0\n\n");
  EXPECT_EQ(head_of(release("a: b")), "") << "not annotated";
  EXPECT_EQ(
      head_of(release("pipelines.weave.works/pipeline: shop/gone")),
      "Pipeline:  shop/gone\nProblem:   it is not in this cluster: if it is in no other that manages this one, correct the "
      "annotation\n\n");
  EXPECT_TRUE(head_of(release("pipelines.weave.works/pipeline: shop/web, pipelines.weave.works/environment: qa"))
                  .contains("Problem:      it has no environment qa: it has dev, staging, prod\n"));
  EXPECT_TRUE(head_of(release(kOfDev, "'True'", "other")).contains("Problem:      it has no such target in this cluster\n"));
}

TEST(Workload, waits_lead_from_its_agent_to_its_pipeline) {
  const auto why = [](const kube::Object& object) {
    std::string out;
    for (const control::Wait& one : explain_flux(object, web_scene())) {
      out += fmt::format("{} | {} | {} | {}\n", one.on, one.reason, one.message, one.part);
    }
    return out;
  };
  const std::string pipeline =
      "Pipeline shop/web, environment dev | PartOfPipeline | dev 1.1.0 → staging 1.1.0 → prod 1.0.0 | dev\n";
  EXPECT_EQ(why(release(kOfDev)), pipeline);
  EXPECT_EQ(why(release(kOfDev, "'False'")), "HelmRelease web | UpgradeFailed | tests failed | \n" + pipeline);
  EXPECT_TRUE(why(release("pipelines.weave.works/pipeline: shop/gone")).contains("DanglingAnnotation"));
}

}  // namespace
}  // namespace slipway::delivery::pipeline
