#include "delivery/application/template_source.h"

#include <gtest/gtest.h>

#include "base/function_programs.h"
#include "base/manual_env.h"
#include "delivery/application/template_programs.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

GitFile file(std::string path, std::string content = "x") {
  return {.path = std::move(path), .size = content.size(), .content = std::move(content)};
}

TEST(TemplateSource, a_path_stays_inside_the_repository) {
  EXPECT_EQ(source_path("/chart/folder/").value(), "chart/folder");
  EXPECT_EQ(source_path("").value(), "");
  for (const char* path : {"..", "a/../b", "./a", "a//b", "a/./b", "../../etc"}) EXPECT_FALSE(source_path(path)) << path;
}

TEST(TemplateSource, kustomizations_refer_to_the_repository_only) {
  const auto check = [](std::string content) {
    const auto checked = check_kustomizations(
        {file("a/b/kustomization.yaml", std::move(content)), file("a/b/app.yaml"), file("common/kustomization.yml", "{}")});
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(check("resources: [app.yaml, ../../common, ./app.yaml]"), "");
  EXPECT_EQ(check("namespace: x"), "");
  const std::string prefix = "a/b/kustomization.yaml: resources: ";
  for (const char* away : {"https://example.org/app.yaml", "../../../elsewhere", "/etc", "github.com/owner/name",
                           "missing.yaml", "git@example.org:owner/name", "../../..//common"}) {
    EXPECT_EQ(check(std::string("resources: ['") + away + "']"), prefix + away + " is not in the repository");
  }
  EXPECT_EQ(check("bases: [../none]"), "a/b/kustomization.yaml: bases: ../none is not in the repository");
  EXPECT_NE(check("resources: [}"), "");
}

const SourceFiles& source() {
  static const SourceFiles kSource{
      .commit = "c", .files = {file("chart/web/Chart.yaml"), file("chart/web/templates/app.yaml"), file("other/x.yaml")}};
  return kSource;
}

const TemplateOrder kOrder{.application = "shop",
                           .ns = "team",
                           .path = "chart/web",
                           .parameters = json::parse(R"({"spec":{"image":"x"}})").value(),
                           .timeout = std::chrono::seconds{5}};

std::string names_of(const ProgramCall& call) {
  std::string text = call.name;
  for (const std::string& one : call.arguments) text += " " + one;
  for (const auto& [name, content] : call.files) text += "\n" + name;
  return text;
}

TEST(TemplatePrograms, helm_gets_the_chart_and_the_values) {
  const ProgramCall call = helm_call(kOrder, source());
  EXPECT_EQ(names_of(call),
            "helm template shop chart --namespace team --values "
            "values.yaml\nchart/Chart.yaml\nchart/templates/app.yaml\nvalues.yaml");
  EXPECT_EQ(call.files.at("values.yaml").content, R"({"spec":{"image":"x"}})");
  EXPECT_EQ(call.network, ProgramCall::Network::none);
}

TEST(TemplatePrograms, kustomize_gets_the_repository_and_an_overlay_with_the_patch) {
  const ProgramCall call = kustomize_call(kOrder, source(), "kubectl");
  EXPECT_EQ(names_of(call),
            "kubectl kustomize overlay\noverlay/application.json\noverlay/kustomization.yaml\noverlay/patch.yaml\n"
            "source/chart/web/Chart.yaml\nsource/chart/web/templates/app.yaml\nsource/other/x.yaml");
  EXPECT_EQ(json::parse(call.files.at("overlay/patch.yaml").content).value()["metadata"]["name"].as_string(), "shop");
  EXPECT_TRUE(names_of(kustomize_call(kOrder, source(), "kustomize")).starts_with("kustomize build overlay\n"));
}

TEST(TemplatePrograms, kustomize_comes_before_kubectl_and_both_missing_is_told) {
  FunctionPrograms programs;
  EXPECT_EQ(kustomize_program(programs).error().message,
            "neither kustomize nor kubectl is in the PATH of Slipway: install one of them");
  programs.add("kubectl", nullptr);
  EXPECT_EQ(kustomize_program(programs).value(), "kubectl");
  programs.add("kustomize", nullptr);
  EXPECT_EQ(kustomize_program(programs).value(), "kustomize");
}

TEST(TemplatePrograms, a_failure_is_told_in_the_programs_words) {
  ManualEnv env;
  FunctionPrograms programs;
  const auto missing = env.run(rendered_by(programs, helm_call(kOrder, source())));
  EXPECT_EQ(missing.error().message, "exec: \"helm\": executable file not found in $PATH: install helm where Slipway runs");
  programs.add("helm", [](const ProgramCall&) -> Result<ProgramEnd> { return ProgramEnd{1, "", "Error: no such chart\n"}; });
  const auto failed = env.run(rendered_by(programs, helm_call(kOrder, source())));
  EXPECT_EQ(failed.error().reason, Reason::Invalid);
  EXPECT_TRUE(failed.error().message.starts_with("helm ended with 1: Error: no such chart")) << failed.error().message;
}

}  // namespace
}  // namespace slipway::delivery::application
