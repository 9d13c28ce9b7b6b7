// Use cases 4 and 5 in the simulator, over a real repository: an application that is made from a template in git, and that
// brings what it renders to git. A crash or another fault at any point of its controller, its git and its programs included,
// ends as the clean run does: nothing is pushed twice, and writing back comes to its end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>

#include "../world/strike.h"
#include "base/function_programs.h"
#include "base/text.h"
#include "delivery/application/kind.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "json/text.h"

namespace slipway::sim {
namespace {

using delivery::application::kApplications;
using json::Value;
using namespace std::chrono_literals;

constexpr const char* kTemplate = R"(apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: template}
spec:
  components:
  - {name: web, type: webservice, properties: {image: IMAGE}}
  - {name: settings, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {of: IMAGE}}]}}
)";

/// The repository before each run, copied for it.
const git::TestRepository& origin() {
  static const auto* const kMade = [] {
    auto* made = new git::TestRepository();
    made->commit(
        {{"chart/app.yaml", kTemplate}, {"base/app.yaml", kTemplate}, {"base/kustomization.yaml", "resources: [app.yaml]\n"}},
        "template");
    return made;
  }();
  return *kMade;
}

/// What outlives the processes.
struct Outside {
  git::TemporaryFolder folder;

  Outside() { std::filesystem::copy(origin().path(), repository(), std::filesystem::copy_options::recursive); }
  std::string repository() const { return folder / "remote.git"; }
};

ProgramEnd with_image(std::string text, const std::string& image) {
  for (std::size_t at = text.find("IMAGE"); at != std::string::npos; at = text.find("IMAGE")) text.replace(at, 5, image);
  return {.code = 0, .output = std::move(text), .error = ""};
}

Result<ProgramEnd> play_helm(const ProgramCall& call) {
  return with_image(call.files.at("chart/app.yaml").content,
                    json::parse(call.files.at("values.yaml").content).value()["image"].str());
}

/// Of the patch it takes the image of its first component, for both.
Result<ProgramEnd> play_kustomize(const ProgramCall& call) {
  const Value patch = json::parse(call.files.at("overlay/patch.yaml").content).value();
  return with_image(call.files.at("source/base/app.yaml").content,
                    patch["spec"]["components"].item(0)["properties"]["image"].str());
}

/// How an application is made from a template: the step, its folder, and its properties for an image.
struct Template {
  std::string name, path, properties;
};

const Template kHelm{"helm-template", "chart", "parameters: {{image: \"{}\"}}"};
const Template kKustomize{"kustomize-patch", "base",
                          "patch: {{spec: {{components: [{{name: web, properties: {{image: \"{}\"}}}}]}}}}"};

std::string application(const Outside& outside, const Template& made_by, int version) {
  return fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: shop}}
spec:
  components: []
  workflow:
    steps:
    - {{name: render, type: {1}, stage: pre-render, properties: {{source: "{0}", path: {2}, {3}}}}}
    - {{name: push, type: gitops, properties: {{gitRepo: "{0}", path: env}}}}
    - {{name: propose, type: gitops, properties: {{gitRepo: "{0}", path: proposed, pullRequestBranch: proposal}}}}
)",
                     outside.repository(), made_by.name, made_by.path,
                     fmt::format(fmt::runtime(made_by.properties), fmt::format("web:{}", version)));
}

Task<> wait_for_revision(World& world, std::string revision) {
  for (;;) {
    const auto found = co_await client::get(world.user(), kApplications, {"default", "shop"});
    SLIPWAY_CHECK(found.has_value(), found.error().message);
    const Value& status = (*found)["status"];
    if (status["status"].as_string() == "running" && status["latestRevision"]["name"].as_string() == revision) co_return;
    SLIPWAY_CHECK(status["status"].as_string() != "workflowFailed", json::print(status["workflow"]["steps"]));
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

Task<> script(World& world, Outside& outside, const Template& made_by) {
  co_await apply_text(world, application(outside, made_by, 1));
  co_await wait_for_revision(world, "shop-v2");
  // The file again, with other parameters and no components: a new revision, and one that is written back.
  co_await apply_text(world, application(outside, made_by, 2));
  co_await wait_for_revision(world, "shop-v4");
}

std::string told(const Ending& ending, const Outside& outside) {
  std::string state = ending.state;
  RE2::GlobalReplace(&state, "[0-9a-f]{40}|-[0-9a-f]{10}", "#");
  std::string text = "main:\n" + git::git_program(outside.repository(), "log --format=%s main");
  text += "\nproposal:\n" + git::git_program(outside.repository(), "log --first-parent --format=%s proposal");
  for (const char* file : {"main:env/web.yaml", "main:env/settings.yaml", "proposal:proposed/web.yaml"}) {
    text += fmt::format("\n{}:\n{}", file, git::git_program(outside.repository(), fmt::format("show {}", file)));
  }
  return text + "\n" + state;
}

Played run_with(const Template& made_by, FaultPlan faults) {
  static const Image kImage = Image::bootstrapped();
  auto outside = std::make_shared<Outside>();
  const Scenario scenario{.name = made_by.name,
                          .script = [outside, &made_by](World& world) { return script(world, *outside, made_by); }};
  WorldOptions options;
  options.image = &kImage;
  options.faults = std::move(faults);
  options.git = [outside](Env& env) -> std::unique_ptr<Git> {
    return std::make_unique<git::Repositories>(env, std::vector<Lane*>{&env.compute}, std::vector<Lane*>{&env.compute},
                                               git::RepositoriesOptions{.folder = outside->folder / "mirrors"});
  };
  options.programs = [](Env&) -> std::unique_ptr<Programs> {
    auto programs = std::make_unique<FunctionPrograms>();
    programs->add("helm", play_helm);
    programs->add("kustomize", play_kustomize);
    return programs;
  };
  Played made{.ending = play(scenario, std::move(options)), .state = ""};
  made.state = made.ending.is_over ? told(made.ending, *outside) : made.ending.state;
  return made;
}

void strike_with(const Template& made_by, const std::vector<FaultKind>& kinds) {
  const auto run = [&made_by](FaultPlan faults) { return run_with(made_by, std::move(faults)); };
  const Played clean = run({});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  ASSERT_TRUE(
      clean.state.starts_with("main:\ndeliver default/shop shop-v4\ndeliver default/shop shop-v2\ntemplate\nroot\n"
                              "proposal:\ndeliver default/shop shop-v4\n"))
      << clean.state;
  const auto is_ours = [](const Point& point) {
    return point.who == "slipway-application" || point.what.starts_with("GIT") || point.what.starts_with("PROGRAM");
  };
  strike({.name = "outside, " + made_by.name, .play = run, .is_ours = is_ours}, clean, kinds);
}

const std::vector<FaultKind> kCrashes = {FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth};
const std::vector<FaultKind> kFaults = {FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict,
                                        FaultKind::CutWatches, FaultKind::StaleCache};

TEST(OutsideFaults, a_crash_anywhere_pushes_nothing_twice_and_ends_as_the_clean_run) { strike_with(kHelm, kCrashes); }

TEST(OutsideFaults, any_single_fault_ends_as_the_clean_run) { strike_with(kHelm, kFaults); }

TEST(OutsideFaults, with_a_kustomization_a_crash_anywhere_ends_as_the_clean_run) { strike_with(kKustomize, kCrashes); }

TEST(OutsideFaults, with_a_kustomization_any_single_fault_ends_as_the_clean_run) { strike_with(kKustomize, kFaults); }

}  // namespace
}  // namespace slipway::sim
