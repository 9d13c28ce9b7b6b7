// What a variant writes into a package: context, functions, injected objects; and that doing it again changes nothing.
#include "delivery/package/variant_content.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr const char* kKptfileText = R"(apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web # the name
pipeline:
  mutators:
    - image: set-labels:v1 # theirs
      configMap:
        app: web
)";
constexpr const char* kContextText = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: kptfile.kpt.dev
data:
  name: web
  old: value
)";

Files package() { return {{"Kptfile", kKptfileText}, {"package-context.yaml", kContextText}}; }

std::string point(std::string_view kind, std::string_view name, std::string_view asked) {
  const std::string api = kind == "ConfigMap" ? "v1" : "example.org/v1";
  return "apiVersion: " + api + "\nkind: " + std::string(kind) + "\nmetadata:\n  name: " + std::string(name) +
         "\n  annotations:\n    kpt.dev/config-injection: " + std::string(asked) + "\n";
}

Files run(const Files& files, const VariantContent& content) {
  auto made = with_variant(files, content);
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return {};
  const auto again = with_variant(made->files, content);
  EXPECT_TRUE(again && again->files == made->files) << "it is not the same when it is done again";
  return made->files;
}

TEST(VariantContent, changes_no_byte_where_the_variant_wants_nothing) {
  EXPECT_EQ(run(package(), {.variant = "edge"}), package());
}

TEST(VariantContent, sets_and_removes_keys_of_the_context) {
  const VariantContent content{.variant = "edge", .context = PackageContext{.data = {{"site", "a"}}, .remove_keys = {"old"}}};
  EXPECT_EQ(run(package(), content)["package-context.yaml"],
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: web\n  site: a\n");
}

TEST(VariantContent, needs_a_context_file_where_it_has_context) {
  Files files = package();
  files.erase("package-context.yaml");
  const auto made = with_variant(files, {.variant = "edge", .context = PackageContext{.data = {{"site", "a"}}}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "\"package-context.yaml\" not found in the package");
}

TEST(VariantContent, puts_its_functions_in_front_and_takes_them_back) {
  const VariantContent content{.variant = "edge",
                               .pipeline = Pipeline{.mutators = {{.image = "set-namespace:v1", .name = "ns"}},
                                                    .validators = {{.image = "kubeconform:v1"}}}};
  const Files made = run(package(), content);
  const Value pipeline = json::parse_yaml(made.at("Kptfile")).value()["pipeline"];
  EXPECT_EQ(json::print(pipeline), R"({"mutators":[{"image":"set-namespace:v1","name":"PackageVariant.edge.ns.0"},)"
                                   R"({"image":"set-labels:v1","configMap":{"app":"web"}}],)"
                                   R"("validators":[{"image":"kubeconform:v1","name":"PackageVariant.edge..0"}]})");
  const Files back = run(made, {.variant = "edge"});
  EXPECT_EQ(json::parse_yaml(back.at("Kptfile")).value(), json::parse_yaml(kKptfileText).value());
}

TEST(VariantContent, leaves_functions_of_another_variant) {
  const Files one = run(package(), {.variant = "a", .pipeline = Pipeline{.mutators = {{.image = "x:v1", .name = "x"}}}});
  EXPECT_EQ(run(one, {.variant = "b"}), one);
}

TEST(VariantContent, injects_the_first_object_that_an_injector_means) {
  Files files = package();
  files["a.yaml"] = point("ConfigMap", "site", "required") + "---\n" + point("Cell", "cell", "optional");
  const VariantContent content{
      .variant = "edge",
      .injectors = {{.kind = "Cell", .name = "north"}, {.name = "missing"}, {.group = "", .name = "edge-01"}},
      .objects = {
          injectable(
              json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"edge-01"},"data":{"k":"v"}})").value()),
          injectable(json::parse(R"({"apiVersion":"example.org/v1","kind":"Cell","metadata":{"name":"south"},"spec":{"x":1}})")
                         .value())}};
  const Files made = run(files, content);
  EXPECT_TRUE(made.at("a.yaml").contains("kpt.dev/injected-resource: edge-01")) << made.at("a.yaml");
  EXPECT_TRUE(made.at("a.yaml").contains("data:\n  k: v\n")) << made.at("a.yaml");
  const auto result = with_variant(files, content).value();
  ASSERT_EQ(result.conditions.size(), 2u);
  EXPECT_EQ(result.conditions[0].type, "config.injection.ConfigMap.site");
  EXPECT_EQ(result.conditions[0].status, Truth::True);
  EXPECT_EQ(result.conditions[0].message, "injected resource \"edge-01\" from cluster");
  EXPECT_EQ(result.conditions[1].status, Truth::False);
  EXPECT_EQ(result.conditions[1].message, "no resource matched any injection selector for this injection point");
  EXPECT_EQ(result.gates, std::vector<std::string>{"config.injection.ConfigMap.site"});
}

TEST(VariantContent, says_why_nothing_was_injected) {
  Files files = package();
  files["a.yaml"] = point("Cell", "cell", "required");
  EXPECT_EQ(with_variant(files, {.variant = "edge"})->conditions[0].message, "no injectors defined");
  EXPECT_EQ(with_variant(files, {.variant = "edge", .injectors = {{.name = "x"}}})->conditions[0].message,
            "no in-cluster resources of type example.org/v1.Cell called x");
  const VariantContent bare{.variant = "edge",
                            .injectors = {{.name = "x"}},
                            .objects = {{.api_version = "example.org/v1", .kind = "Cell", .name = "x"}}};
  EXPECT_EQ(with_variant(files, bare)->conditions[0].message, "field \"spec\" not found in resource \"x\"");
}

TEST(VariantContent, refuses_points_that_cannot_be_told_apart) {
  const Files files{
      {"Kptfile", kKptfileText}, {"a.yaml", point("Cell", "cell", "required")}, {"b.yaml", point("Cell", "cell", "perhaps")}};
  const auto made = with_variant(files, {.variant = "edge"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "errors in injection points: b.yaml: Cell/cell has invalid \"kpt.dev/config-injection\" annotation value of "
            "\"perhaps\", duplicate injection conditionType \"config.injection.Cell.cell\" (a.yaml and b.yaml)");
}

}  // namespace
}  // namespace slipway::delivery::package
