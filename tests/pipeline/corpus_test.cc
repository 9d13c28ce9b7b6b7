// Pipelines and GitopsClusters as Weave GitOps' own documents and charts write them, on a whole API server: accepted, stored,
// and read back as they were written.
#include <fmt/format.h>

#include <algorithm>

#include "base/corpus_test.h"
#include "commands_fixture.h"

namespace slipway::pipeline_test {
namespace {

namespace fs = std::filesystem;

/// Every whole Pipeline and GitopsCluster of a file that is no template.
std::vector<Value> objects_in(const fs::path& file) {
  const std::string text = text_of_file(file);
  std::vector<Value> found;
  const auto documents = json::parse_yaml_all(text);
  if (!documents || text.contains("${")) return found;
  for (const json::YamlDocument& document : *documents) {
    const bool is_ours = kube::refers_to(document.value, pipeline::kPipelineKind.group, pipeline::kPipelineKind.kind) ||
                         kube::refers_to(document.value, pipeline::kGitopsClusterKind.group, pipeline::kGitopsClusterKind.kind);
    const Value& spec = document.value["spec"];
    const bool is_whole = spec.has("appRef") || spec.has("secretRef") || spec.has("capiClusterRef");
    if (is_ours && is_whole) found.push_back(document.value);
  }
  return found;
}

using Corpus = PipelineCommands;

TEST_F(Corpus, objects_of_weave_are_stored_and_read_back_equal) {
  const fs::path root = corpus_path("pipelines");
  if (root.empty()) GTEST_SKIP() << "no corpus";
  std::vector<fs::path> files;
  for (const char* folder : {"weave-gitops-docs", "weave-gitops-enterprise"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  int passed = 0;
  int total = 0;
  for (const fs::path& file : files) {
    for (const Value& object : objects_in(file)) {
      ++total;
      const bool is_pipeline = kube::kind(object) == pipeline::kPipelineKind.kind;
      const kube::Resource& resource = is_pipeline ? pipeline::kPipelines : pipeline::kGitopsClusters;
      const auto made = apply(resource, json::print(object));
      EXPECT_TRUE(made) << file << ": " << made.error().message;
      if (!made) continue;
      const auto stored = get(resource, std::string(kube::name(object)));
      ASSERT_TRUE(stored);
      EXPECT_EQ((*stored)["spec"], object["spec"]) << file;
      EXPECT_EQ((*stored)["metadata"]["labels"], object["metadata"]["labels"]) << file;
      passed += (*stored)["spec"] == object["spec"] ? 1 : 0;
      ASSERT_TRUE(env_.run(client::remove(server(), resource, {"shop", std::string(kube::name(object))})));
    }
  }
  EXPECT_GE(total, 2);
  fmt::print("conformance: pipeline/pipelines-stored {}/{}\n", passed, total);
}

}  // namespace
}  // namespace slipway::pipeline_test
