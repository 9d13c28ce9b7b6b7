// docs/use-cases.md says what is: its examples are applied as they stand, with a repository of the test for those it names, and
// its sentences about messages are those of the steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../docs/page.h"
#include "oracle_case.h"
#include "outside_plane.h"

namespace slipway::oracle_test {
namespace {

const docs_test::Page kPage("use-cases.md");

/// The nth example, with `repository` for the URLs of git.
std::string example(std::size_t n, const std::string& repository) {
  const auto all = kPage.examples();
  EXPECT_LT(n, all.size());
  if (n >= all.size()) return "";
  std::string block = all[n].text;
  for (const std::string url : {"https://git.example.org/team/config.git", "https://git.example.org/team/templates.git"}) {
    for (std::size_t found = block.find(url); found != std::string::npos; found = block.find(url)) {
      block.replace(found, url.size(), repository);
    }
  }
  return block;
}

TEST(UseCasesPage, the_first_example_spreads_and_tells_what_the_page_says) {
  OutsidePlane outside({{"east-1", {{"region", "east"}}}, {"east-2", {{"region", "east"}}}, {"west-1", {{"region", "west"}}}});
  ASSERT_EQ(outside.apply(example(0, "")), "");
  EXPECT_EQ(outside.end("spread"), "running spread:succeeded") << outside.message(0, "spread");
  EXPECT_TRUE(kPage.text().contains("`" + outside.message(0, "spread") + "`")) << outside.message(0, "spread");
}

TEST(UseCasesPage, the_second_example_pushes_the_file_that_the_page_names) {
  OutsidePlane outside;
  ASSERT_EQ(outside.apply(example(1, outside.repository().path())), "");
  EXPECT_EQ(outside.end("shop"), "running push:succeeded") << outside.message(0, "shop");
  EXPECT_EQ(outside.repository().bare("ls-tree -r --name-only main"), "shop/web.yaml");
}

TEST(UseCasesPage, the_third_example_renders_with_helm_and_with_kustomize) {
  OutsidePlane outside;
  outside.repository().commit({{"charts/web/Chart.yaml", "name: web\n"}, {"base/kustomization.yaml", "resources: []\n"}},
                              "templates");
  const auto renders = [](const char* component) {
    return [component](const ProgramCall&) -> Result<ProgramEnd> {
      return ProgramEnd{
          .code = 0,
          .output = fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: t}}, spec: "
                                "{{components: [{{name: {}, type: worker, properties: {{image: x}}}}]}}}}",
                                component),
          .error = ""};
    };
  };
  outside.programs().add("helm", renders("from-helm"));
  outside.programs().add("kubectl", renders("from-kustomize"));
  ASSERT_EQ(outside.apply(example(2, outside.repository().path())), "");
  const std::pair<const char*, const char*> made[] = {{"from-chart", "from-helm"}, {"from-base", "from-kustomize"}};
  for (const auto& [name, component] : made) {
    EXPECT_EQ(outside.end(name), fmt::format("running render:succeeded deliver:succeeded {}:succeeded", component))
        << outside.message(0, name);
    EXPECT_EQ(outside.application(name)["status"]["latestRevision"]["name"].as_string(), fmt::format("{}-v2", name));
  }
}

}  // namespace
}  // namespace slipway::oracle_test
