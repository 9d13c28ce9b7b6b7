// docs/pipeline.md says what is: its table of fields is made from the described structs, its examples are accepted by a server.
// SLIPWAY_UPDATE=1 rewrites the table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "commands_fixture.h"
#include "delivery/pipeline/family.h"
#include "delivery/pipeline/kinds.h"

namespace slipway::pipeline_test {
namespace {

std::string page_path() { return std::string(SLIPWAY_SOURCE_DIR) + "/docs/pipeline.md"; }

std::string page() {
  std::ostringstream text;
  text << std::ifstream(page_path()).rdbuf();
  return text.str();
}

void expect_table(const std::string& name, const std::string& table) {
  const std::string begins = "<!-- " + name + ": made by pipeline_test, SLIPWAY_UPDATE=1 rewrites them -->\n";
  const std::string text = page();
  const auto begin = text.find(begins);
  const auto end = text.find("<!-- end of " + name + " -->\n");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << name;
  const std::string found = text.substr(begin + begins.size(), end - begin - begins.size());
  if (found != table && std::getenv("SLIPWAY_UPDATE") != nullptr) {
    std::ofstream(page_path()) << text.substr(0, begin) << begins << table << text.substr(end);
  }
  EXPECT_EQ(found, table);
}

TEST(PipelinePage, has_the_fields_of_the_described_structs) { expect_table("fields", delivery::pipeline::field_table()); }

TEST(PipelinePage, names_every_command) {
  const std::string text = page();
  for (const delivery::Command& command : delivery::pipeline::family().commands) {
    EXPECT_TRUE(text.contains("slipway " + command.verb)) << command.verb;
  }
  for (const delivery::KindRow& row : delivery::pipeline::family().kinds) {
    for (const delivery::Action& action : row.actions) {
      EXPECT_TRUE(text.contains("slipway " + action.verb)) << action.verb;
    }
  }
}

using PipelineExamples = PipelineCommands;

TEST_F(PipelineExamples, are_accepted_as_they_stand) {
  const std::string text = page();
  const std::string fence = "```yaml\n";
  int accepted = 0;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const std::string block = text.substr(at + fence.size(), text.find("\n```", at) - at - fence.size());
    const auto documents = json::parse_yaml_all(block + "\n");
    ASSERT_TRUE(documents) << documents.error().message;
    for (const json::YamlDocument& document : *documents) {
      const std::string_view kind = kube::kind(document.value);
      if (kind != pipeline::kPipelineKind.kind && kind != pipeline::kGitopsClusterKind.kind) continue;
      const auto made = apply(kind == pipeline::kPipelineKind.kind ? pipeline::kPipelines : pipeline::kGitopsClusters,
                              json::print(document.value));
      EXPECT_TRUE(made) << made.error().message;
      ++accepted;
    }
  }
  EXPECT_GE(accepted, 2);
}

}  // namespace
}  // namespace slipway::pipeline_test
