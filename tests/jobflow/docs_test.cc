// docs/workflow.md says what is: its field table is the one made from the described structs, and its examples run to the end
// they claim. SLIPWAY_UPDATE=1 rewrites the table.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "../docs/page.h"
#include "delivery/jobflow/kinds.h"
#include "plane_fixture.h"

namespace slipway::jobflow_test {
namespace {

const docs_test::Page kPage("workflow.md", "jobflow_test");

TEST(WorkflowPage, has_the_fields_of_the_described_structs) { kPage.expect_table("fields", delivery::jobflow::field_table()); }

TEST(WorkflowPage, has_the_fields_of_a_cron_workflow) {
  kPage.expect_table("cron fields", delivery::jobflow::cron_field_table());
}

TEST(Definitions, are_checked_in_as_the_described_structs_make_them) {
  for (const Value& definition : plane::custom_resource_definitions()) {
    const std::string path = fmt::format("{}/crds/{}.yaml", SLIPWAY_SOURCE_DIR, kube::name(definition));
    std::ostringstream found;
    found << std::ifstream(path).rdbuf();
    EXPECT_EQ(found.str(), json::print_yaml(definition)) << "run `make crds`";
  }
}

using WorkflowExamples = PlaneTest;

TEST_F(WorkflowExamples, end_as_they_say) {
  const auto all = kPage.examples_with_outcome();
  EXPECT_GE(all.size(), 5u);
  for (const auto& [outcome, text] : all) {
    auto documents = json::parse_yaml_all(text);
    ASSERT_TRUE(documents) << documents.error().message << "\n" << text;
    Status refusal;
    std::string name;
    for (const auto& document : *documents) {
      const Value object = document.value.with_path({"metadata", "namespace"}, "default");
      name = kube::name(object);
      const auto made = create(object["kind"].as_string() == "Job" ? kJobs : kWorkflows, object);
      if (!made) refusal = made.error();
    }
    if (outcome == "refused") {
      EXPECT_EQ(refusal.reason, Reason::Invalid) << text;
      continue;
    }
    EXPECT_EQ(refusal.message, "") << text;
    EXPECT_EQ(end_of(name)["status"]["phase"].as_string(), outcome) << text;
  }
}

}  // namespace
}  // namespace slipway::jobflow_test
