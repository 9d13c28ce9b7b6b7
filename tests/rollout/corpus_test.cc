// Every group of cases in $SLIPWAY_CORPUS/rollouts is played by a test of the rooms, or is listed here with the reason why not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "base/corpus_test.h"
#include "json/text.h"

namespace slipway::rollout_test {
namespace {

using json::Value;

/// Of these groups all cases are played (make conformance-rollout prints the suites).
const std::set<std::string> kPlayed = {
    "oam-state-machine/StateTransition",
    "oam-state-machine/RolloutRetry/Failed/Failing",
    "oam-fill-batches/grid",
    "oam-fill-batches/TestDefaultRolloutPlan_*",
    "oam-batch-arithmetic/grid",
    "oam-batch-arithmetic/TestCalculateNewBatchTarget(+CornerCases)",
    "oam-batch-arithmetic/TestVerifyBatchesWithRollout*",
    "oam-batch-arithmetic/Test_VerifyBatchesWithScale*",
    "oam-batch-arithmetic/TestCalculateCurrentSource",
    "oam-batch-arithmetic/TestVerifyRolloutBatchReplicaValue4CloneSet",
    "intstr-rounding/grid",
    "oam-workload-scenarios/deployment-rollout",
    "oam-workload-scenarios/cloneset-rollout",
    "oam-workload-scenarios/deployment-scale",
    "oam-lifecycle/TestHandleTerminated",
    "oam-lifecycle/Test_isRolloutModified",
    "oam-lifecycle/TestMakeHTTPRequest",
    "oam-lifecycle/TestCallWebhook",
    "oam-lifecycle/Test_TryMovingToNextBatch",
    "argo-replicas/TestApproximateWeightedNewStableReplicaCounts",
    "argo-replicas/TestAllReplicaProgressThresholdMet",
    "argo-replicas/TestResolveFenceposts",
    "argo-replica-grids/approximateWeightedCanaryStableReplicaCounts",
    "argo-replica-grids/resolveFenceposts",
    "argo-analysis/assessMetricStatus",
    "argo-analysis/EvalCondition",
    "argo-analysis/EvaluateResult",
    "argo-analysis/web:TestRunSuite",
    "argo-analysis/datadogV1:TestRunSuite",
    "argo-analysis/TestRunSuiteV2",
    "argo-analysis/TestQuery",
    "kruise-rollouts/TestCalculateBatchReplicas",
    "kruise-rollouts/TestIsBatchReady",
    "kruise-rollouts/TestResolveFenceposts",
    "kruise-cloneset/TestCalculateDiffsWithExpectation",
    "kruise-cloneset/CalculatePartitionReplicas-grid",
    "kruise-cloneset/TestCalculatePartitionReplicas",
    "kruise-cloneset/TestGetScaledValueFromIntOrPercent",
    "flagger/TestTraefikRouter_SetRoutes",
    "flagger/TestSkipperRouter_GetSetRoutes",
    "flagger/Test_insertPredicate",
    "flagger/provider-responses",
    "traffic-providers/flagger",
    "traffic-providers/argo",
    "traffic-providers/kruise",
    "metric-providers/flagger",
    "metric-providers/argo",
    "flagger-builtin-queries/observers",
    "kruise-traffic-objects/istio-objects",
};

constexpr const char* kSurge =
    "Argo sizes both versions inside maxSurge and maxUnavailable at once; here a batch has a strategy, and its bounds are [T, "
    "T+b] "
    "or [T-b, T]";
constexpr const char* kOwnSets = "of Argo's own ReplicaSets; here both versions are workloads that exist";
constexpr const char* kProgress = "of Argo's step and full-promotion logic; a batch here is available by its maxUnavailable";
constexpr const char* kPartitioned =
    "Kruise rolls one Deployment by a partition between its ReplicaSets; here two Deployments share the pods";
constexpr const char* kDaemon =
    "Kruise's quotas for its native DaemonSets; here a batch is a number of nodes, and the pods there are deleted";

/// These have no counterpart.
const std::map<std::string, std::string> kNotPlayed = {
    {"argo-replicas/TestCalculateReplicaCountsForCanary", kSurge},
    {"argo-replicas/TestCalculateReplicaCountsForCanaryTrafficRoutingDynamicScale",
     "no dynamicStableScale: old pods go batch by batch"},
    {"argo-replicas/TestAllDesiredAreAvailable", kOwnSets},
    {"argo-replicas/TestGetReplicasForScaleDown", kOwnSets},
    {"argo-replicas/TestGetCanaryReplicasOrWeight", "no setCanaryScale: a batch's pods and its weight are two fields"},
    {"argo-replicas/TestGetDesiredCanaryWeightOnAbortWithScaleDownDelay",
     "no abortScaleDownDelay: the weight goes back as old pods become ready"},
    {"argo-replicas/TestMaxSurge", kSurge},
    {"argo-replicas/TestMaxUnavailable", kSurge},
    {"argo-replicas/TestNewRSNewReplicasWitPreviewReplicaCount", "no previewReplicaCount"},
    {"argo-replicas/TestReconcileNewReplicaSet", kOwnSets},
    {"argo-replicas/TestReconcileOldReplicaSet", kOwnSets},
    {"argo-replicas/TestScaleDownProgressively", kOwnSets},
    {"argo-replicas/TestShouldFullPromoteCanaryAvailableVsDesired", kProgress},
    {"argo-replicas/TestShouldFullPromoteWithReplicaProgressThreshold", kProgress},
    {"argo-replicas/TestCheckReplicasAvailableWithCustomMaxTrafficWeight", "weights are percent: no maxTrafficWeight"},
    {"argo-replicas/TestCheckReplicasAvailableWithReplicaProgressThreshold", kProgress},
    {"argo-replicas/TestTrafficWeightToReplicas", "a weight follows the pods here, pods do not follow a weight"},
    {"argo-replicas/TestRollbackWindow", "no rollbackWindow: a way back has the batches of its plan"},
    {"argo-replica-grids/trafficWeightToReplicas", "a weight follows the pods here, pods do not follow a weight"},
    {"kruise-rollouts/TestIsCurrentMoreThanOrEqualToDesired", "steps of Kruise are cumulative and compared; batches add up"},
    {"kruise-rollouts/TestReconcileNewReplicaSet", kPartitioned},
    {"kruise-rollouts/TestReconcileOldReplicaSet", kPartitioned},
    {"kruise-rollouts/TestScaleDownLimitForOld", kPartitioned},
    {"kruise-rollouts/TestApplyDeletionConstraints", kDaemon},
    {"kruise-rollouts/TestCalculateDeletionQuota", kDaemon},
    {"kruise-rollouts/TestCalculateDesiredUpdatedReplicas", kDaemon},
    {"kruise-rollouts/TestGetMaxUnavailable", kDaemon},
    {"flagger/canary-weight-sequences", "no stepWeight: each batch names its weight, or it is the share of new pods"},
    {"flagger/TestExternalMetrics_ParseQuery",
     "a query names a metric of the gate's own namespace, Flagger's names the namespace too"},
    {"flagger/TestCanary_GetDeploymentStrategy", "no strategy is inferred: batches, weights and matches are said"},
};

TEST(RolloutCorpus, every_group_is_played_or_has_a_reason) {
  const std::filesystem::path folder = corpus_path("rollouts");
  if (folder.empty()) GTEST_SKIP() << "no corpus";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  for (const auto& path : files) {
    const auto file = json::parse(text_of_file(path), {.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(file.has_value()) << path;
    for (const Value& group : (*file)["groups"].items()) {
      const std::string name = fmt::format("{}/{}", path.stem().string(), group["id"].as_string());
      if (group["cases"].empty()) continue;
      const auto reason = kNotPlayed.find(name);
      EXPECT_NE(kPlayed.contains(name), reason != kNotPlayed.end()) << name;
      if (reason == kNotPlayed.end()) continue;
      fmt::print("not played: rollouts/{} ({} cases): {}\n", name, group["cases"].size(), reason->second);
    }
  }
}

}  // namespace
}  // namespace slipway::rollout_test
