// docs/pipeline.md says what is: its table of fields is made from the described structs, its examples are accepted by a server.
// SLIPWAY_UPDATE=1 rewrites the table.
#include <gtest/gtest.h>

#include "../docs/page.h"
#include "commands_fixture.h"
#include "delivery/pipeline/family.h"
#include "delivery/pipeline/kinds.h"

namespace slipway::pipeline_test {
namespace {

const docs_test::Page kPage("pipeline.md", "pipeline_test");

TEST(PipelinePage, has_the_fields_of_the_described_structs) { kPage.expect_table("fields", delivery::pipeline::field_table()); }

TEST(PipelinePage, names_every_command) {
  const std::string text = kPage.text();
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
  int accepted = 0;
  for (const docs_test::PageExample& example : kPage.examples()) {
    const auto documents = json::parse_yaml_all(example.text);
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
