#include "server/builtin/pod_admission.h"

#include "server/server_fixture.h"

namespace slipway::server {
namespace {

const kube::Resource kPriorities{"scheduling.k8s.io", "v1", "priorityclasses"};
const kube::Resource kRuntimes{"node.k8s.io", "v1", "runtimeclasses"};

class PodAdmission : public ServerTest {
 public:
  /// A pod p with these further members of its spec.
  Result<Value> pod(std::string_view more, std::string_view name = "p") {
    return create(kPods, yaml(fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: default}}, spec: "
                                          "{{containers: [{{name: c, image: i}}]{}}}}}",
                                          name, more)));
  }
  void runtime(std::string_view more) {
    must(create(
        kRuntimes,
        yaml(fmt::format("{{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {{name: fast}}, handler: h{}}}", more))));
  }
};

TEST_F(PodAdmission, gives_every_pod_a_priority) {
  const Value spec = must(pod(""))["spec"];
  EXPECT_EQ(spec["priority"], Value(0));
  EXPECT_EQ(spec["preemptionPolicy"], Value("PreemptLowerPriority"));
  EXPECT_FALSE(spec.has("priorityClassName"));
  EXPECT_EQ(must(pod(", priorityClassName: system-node-critical", "q"))["spec"]["priority"], Value(2'000'001'000));
}

TEST_F(PodAdmission, takes_the_class_that_is_the_default) {
  must(create(kPriorities, yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 7, "
                                "globalDefault: true, preemptionPolicy: Never}")));
  const Value spec = must(pod(""))["spec"];
  EXPECT_EQ(spec["priorityClassName"], Value("low"));
  EXPECT_EQ(spec["priority"], Value(7));
  EXPECT_EQ(spec["preemptionPolicy"], Value("Never"));
}

TEST_F(PodAdmission, refuses_unknown_classes_and_values_that_contradict_them) {
  const auto unknown = pod(", priorityClassName: missing");
  EXPECT_EQ(reason(unknown), "Forbidden");
  EXPECT_EQ(message(unknown), "pods \"p\" is forbidden: no PriorityClass with name missing was found");
  EXPECT_EQ(message(pod(", priority: 5")),
            "pods \"p\" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission "
            "controller computed 0 from the given PriorityClass name");
  const auto runtime = pod(", runtimeClassName: missing");
  EXPECT_EQ(reason(runtime), "Forbidden");
  EXPECT_EQ(message(runtime), "pods \"p\" is forbidden: pod rejected: RuntimeClass \"missing\" not found");
}

TEST_F(PodAdmission, takes_overhead_and_placement_of_the_runtime_class) {
  runtime(", overhead: {podFixed: {cpu: 10m}}, scheduling: {nodeSelector: {a: b}, tolerations: [{key: t, operator: Exists}]}");
  const Value spec = must(pod(", runtimeClassName: fast"))["spec"];
  EXPECT_EQ(spec["overhead"], yaml("{cpu: 10m}"));
  EXPECT_EQ(spec["nodeSelector"], yaml("{a: b}"));
  EXPECT_EQ(spec["tolerations"].item(0), yaml("{key: t, operator: Exists}"));
  EXPECT_TRUE(message(pod(", runtimeClassName: fast, overhead: {cpu: 20m}", "q")).ends_with("RuntimeClass's defined Overhead"));
  EXPECT_TRUE(message(pod(", overhead: {cpu: 20m}", "q")).ends_with("without corresponding RuntimeClass defined Overhead"));
  EXPECT_TRUE(message(pod(", runtimeClassName: fast, nodeSelector: {a: c}", "q")).contains("conflict: "));
}

TEST_F(PodAdmission, tolerates_a_lost_node_for_a_while) {
  const Value lost = yaml(R"([{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300},
      {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}])");
  EXPECT_EQ(must(pod(""))["spec"]["tolerations"], lost);
  EXPECT_EQ(must(pod(", tolerations: [{operator: Exists}]", "q"))["spec"]["tolerations"].size(), 1U);
  EXPECT_EQ(must(pod(", tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]",
                     "r"))["spec"]["tolerations"]
                .size(),
            3U);
}

TEST_F(PodAdmission, an_update_that_leaves_the_priority_out_keeps_it) {
  const Value made = must(pod(", priorityClassName: system-node-critical"));
  const Value spec = made["spec"].without("priority").without("preemptionPolicy").without("tolerations");
  const Value written = must(update(kPods, made.with("spec", spec.with("tolerations", made["spec"]["tolerations"]))));
  EXPECT_EQ(written["spec"]["priority"], Value(2'000'001'000));
}

}  // namespace
}  // namespace slipway::server
