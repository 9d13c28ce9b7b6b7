// PackageVariants over real repositories: what a draft has from its first moment on, and what becomes of it.
#include <fmt/format.h>

#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class Variants : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    add_repository("blueprints");
    add_repository("edge", Deployment::Yes);
  }

  void variant(std::string_view more = "", std::string_view upstream = "revision: 1") {
    make(fmt::format(R"(
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata: {{name: web}}
spec:
  upstream: {{repo: blueprints, package: web, {}}}
  downstream: {{repo: edge, package: web}}
  {}
)",
                     upstream, more));
    advance(seconds{2});
  }
  Value variant_object() { return get(kHub, kVariants, "web"); }
};

TEST_F(Variants, a_draft_has_all_that_its_variant_wants_in_its_first_commit) {
  draft("blueprints", "web", "v1", {{"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"}});
  variant("packageContext: {data: {site: north}}\n  labels: {tier: edge}", "workspaceName: v1");
  ASSERT_EQ(lifecycle("edge.web.packagevariant-1"), "Draft") << json::print(variant_object()["status"]);
  const Value made = revision("edge.web.packagevariant-1");
  EXPECT_EQ(kube::label(made, "tier"), "edge");
  EXPECT_EQ(condition("edge.web.packagevariant-1", "Drafted"), "True Drafted");
  EXPECT_TRUE(files("edge.web.packagevariant-1")["package-context.yaml"].contains("site: north"));
  EXPECT_EQ(condition_in(variant_object(), "Ready"), "True NoErrors");
  EXPECT_EQ(condition_in(variant_object(), "Stalled"), "False Valid");
  EXPECT_EQ(variant_object()["status"]["downstreamTargets"].item(0)["name"].as_string(), "edge.web.packagevariant-1");
}

}  // namespace
}  // namespace slipway::package_test
