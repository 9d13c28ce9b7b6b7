// docs/workflow.md says what is: its field table is the one made from the described structs, and its examples run to the end
// they claim. SLIPWAY_UPDATE=1 rewrites the table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "delivery/jobflow/kinds.h"
#include "plane_fixture.h"

namespace slipway::jobflow_test {
namespace {

const std::string kBegin = "<!-- fields: made by jobflow_test, SLIPWAY_UPDATE=1 rewrites them -->\n";
const std::string kEnd = "<!-- end of fields -->\n";

std::string page_path() { return std::string(SLIPWAY_SOURCE_DIR) + "/docs/workflow.md"; }

std::string page() {
  std::ostringstream text;
  text << std::ifstream(page_path()).rdbuf();
  return text.str();
}

TEST(WorkflowPage, has_the_fields_of_the_described_structs) {
  const std::string text = page();
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  const std::string table = delivery::jobflow::field_table();
  const std::string found = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
  if (found != table && std::getenv("SLIPWAY_UPDATE") != nullptr) {
    std::ofstream(page_path()) << text.substr(0, begin) << kBegin << table << text.substr(end);
  }
  EXPECT_EQ(found, table);
}

TEST(Definitions, are_checked_in_as_the_described_structs_make_them) {
  for (const Value& definition : plane::custom_resource_definitions()) {
    const std::string path = fmt::format("{}/crds/{}.yaml", SLIPWAY_SOURCE_DIR, kube::name(definition));
    std::ostringstream found;
    found << std::ifstream(path).rdbuf();
    EXPECT_EQ(found.str(), json::print_yaml(definition)) << "run `make crds`";
  }
}

struct Example {
  std::string outcome;  // what follows "```yaml " on the fence
  std::string text;
};

std::vector<Example> examples() {
  std::vector<Example> out;
  const std::string text = page();
  const std::string fence = "```yaml ";
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const auto line_end = text.find('\n', at);
    const auto close = text.find("\n```", line_end);
    out.push_back({text.substr(at + fence.size(), line_end - at - fence.size()), text.substr(line_end + 1, close - line_end)});
  }
  return out;
}

using WorkflowExamples = PlaneTest;

TEST_F(WorkflowExamples, end_as_they_say) {
  const auto all = examples();
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
