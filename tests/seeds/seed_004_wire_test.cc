// The commands of the pipelines RFC (seed 004) as printed, run by bash with kubectl against `slipway up` with simulated Flux.
// Only `flux` is played, by tests/seed004/flux.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../up/up_process.h"
#include "os/test_folder.h"

namespace slipway::seeds_test {
namespace {

/// What a script of bash prints, both outputs, and how it ended.
struct Ended {
  int code = -1;
  std::string text;
};

class Seed004Wire : public testing::Test {
 protected:
  Ended bash(const std::string& script) {
    const std::string file = folder_ / "script", out = folder_ / "out";
    std::ofstream(file) << "export KUBECONFIG=" << data_ << "/kubeconfig\ncd " << SLIPWAY_SOURCE_DIR << "/tests/seed004\n"
                        << script << "\n";
    const int status = std::system(fmt::format("bash {} >{} 2>&1", file, out).c_str());
    std::stringstream text;
    text << std::ifstream(out).rdbuf();
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
  }
  /// Waits until `command` prints `wanted`; the bound only ends a broken run.
  Ended until_prints(const std::string& command, const std::string& wanted) {
    return bash(fmt::format("for i in $(seq 1200); do\n  [ \"$({0})\" = '{1}' ] && exit 0\n  sleep 0.1\ndone\n{0}; exit 1",
                            command, wanted));
  }

  os::TestFolder folder_;
  std::string data_ = folder_ / "up";
};

TEST_F(Seed004Wire, the_commands_as_printed_run_against_slipway_up) {
  if (std::system("command -v kubectl >/dev/null 2>&1") != 0) GTEST_SKIP() << "no kubectl on this machine";
  const up::UpProcess server(up::binary(), data_,
                             {"--clusters", "management,dev,prod", "--simulated-flux", "--pod-runtime", "simulated"});
  // Clusters are registered as in the RFC: a GitopsCluster with capiClusterRef, and its kubeconfig in a Secret.
  const Ended joined = bash(R"(set -e
for c in dev prod; do
  kubectl config view --minify --flatten --context=$c > "$KUBECONFIG.$c"
  kubectl create secret generic $c-kubeconfig --from-file=value="$KUBECONFIG.$c"
  printf '{apiVersion: gitops.weave.works/v1alpha1, kind: GitopsCluster, metadata: {name: %s}, spec: {capiClusterRef: {name: %s}}}' $c $c | kubectl apply -f -
done)");
  ASSERT_EQ(joined.code, 0) << joined.text;

  const Ended story_1 = bash("./story-1.sh");
  ASSERT_EQ(story_1.code, 0) << story_1.text;
  const Ended shown = until_prints("kubectl get pipeline podinfo -o jsonpath={.status.line}", "dev 6.1.6 → prod 6.1.5");
  ASSERT_EQ(shown.code, 0) << shown.text;
  EXPECT_EQ(bash("kubectl --context=dev -n podinfo get hr podinfo -o yaml | grep pipelines.weave.works/pipeline:").text,
            "    pipelines.weave.works/pipeline: default/podinfo\n");

  const Ended story_2 = bash("./story-2.sh");
  EXPECT_EQ(story_2.code, 0) << story_2.text;
  for (const char* version : {"podinfo@6.1.6", "podinfo@6.1.5"}) EXPECT_TRUE(story_2.text.contains(version)) << story_2.text;
}

}  // namespace
}  // namespace slipway::seeds_test
