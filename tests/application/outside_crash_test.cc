// Use cases 4 and 5 in the simulator, over a real repository: an application that is made from a template in git, and that
// brings what it renders to git. A crash or another fault at any point of its controller, its git and its programs included,
// ends as the clean run does: nothing is pushed twice, and writing back comes to its end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/function_programs.h"
#include "base/text.h"
#include "delivery/application/kind.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "json/text.h"
#include "sim/scenario.h"

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
    made->commit({{"chart/app.yaml", kTemplate}}, "template");
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

Result<ProgramEnd> play_helm(const ProgramCall& call) {
  std::string text = call.files.at("chart/app.yaml").content;
  const std::string image = json::parse(call.files.at("values.yaml").content).value()["image"].str();
  for (std::size_t at = text.find("IMAGE"); at != std::string::npos; at = text.find("IMAGE")) text.replace(at, 5, image);
  return ProgramEnd{.code = 0, .output = std::move(text), .error = ""};
}

std::string application(const Outside& outside, int version) {
  return fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: shop}}
spec:
  components: []
  workflow:
    steps:
    - {{name: render, type: helm-template, stage: pre-render, properties: {{source: "{0}", path: chart, parameters: {{image: "web:{1}"}}}}}}
    - {{name: push, type: gitops, properties: {{gitRepo: "{0}", path: env}}}}
    - {{name: propose, type: gitops, properties: {{gitRepo: "{0}", path: proposed, pullRequestBranch: proposal}}}}
)",
                     outside.repository(), version);
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

Task<> script(World& world, Outside& outside) {
  co_await apply_text(world, application(outside, 1));
  co_await wait_for_revision(world, "shop-v2");
  // The file again, with other parameters and no components: a new revision, and one that is written back.
  co_await apply_text(world, application(outside, 2));
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

struct Run {
  Ending ending;
  std::string state;
};

Run run_with(FaultPlan faults) {
  static const Image kImage = Image::bootstrapped();
  auto outside = std::make_shared<Outside>();
  const Scenario scenario{.name = "outside", .script = [outside](World& world) { return script(world, *outside); }};
  WorldOptions options;
  options.image = &kImage;
  options.faults = std::move(faults);
  options.git = [outside](Env& env) -> std::unique_ptr<Git> {
    return std::make_unique<git::Repositories>(env, env.compute, std::vector<Lane*>{&env.compute},
                                               git::RepositoriesOptions{.folder = outside->folder / "mirrors"});
  };
  options.programs = [](Env&) -> std::unique_ptr<Programs> {
    auto programs = std::make_unique<FunctionPrograms>();
    programs->add("helm", play_helm);
    return programs;
  };
  Run made{.ending = play(scenario, std::move(options)), .state = ""};
  made.state = made.ending.is_over ? told(made.ending, *outside) : made.ending.state;
  return made;
}

std::uint64_t stride() {
  const char* every = std::getenv("SLIPWAY_SIM_EVERY");
  return every == nullptr ? 8 : std::max<std::uint64_t>(1, std::strtoull(every, nullptr, 10));
}

void strike(const std::vector<FaultKind>& kinds) {
  const Run clean = run_with({});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  ASSERT_TRUE(
      clean.state.starts_with("main:\ndeliver default/shop shop-v4\ndeliver default/shop shop-v2\ntemplate\nroot\n"
                              "proposal:\ndeliver default/shop shop-v4\n"))
      << clean.state;
  std::uint64_t own = 0, tried = 0;
  for (std::uint64_t point = 0; point < clean.ending.recorded.size(); ++point) {
    const Point& recorded = clean.ending.recorded[point];
    const bool is_ours =
        recorded.who == "slipway-application" || recorded.what.starts_with("GIT") || recorded.what.starts_with("PROGRAM");
    if (!is_ours || own++ % stride() != 0) continue;
    for (const FaultKind kind : kinds) {
      if (!applies(kind, recorded.moment, recorded.is_write)) continue;
      FaultPlan plan{.exact = {{point, kind}}};
      const std::string what = fmt::format("{} at {}", plan.to_string(), recorded.what);
      const Run struck = run_with(std::move(plan));
      ++tried;
      ASSERT_TRUE(struck.ending.is_over) << "stuck after " << what << "\n" << struck.state;
      ASSERT_EQ(struck.state, clean.state) << what;
    }
  }
  fmt::print("sim: outside: {} points of its controller, {} faults tried\n", own, tried);
  EXPECT_GT(tried, 0U);
}

TEST(OutsideFaults, a_crash_anywhere_pushes_nothing_twice_and_ends_as_the_clean_run) {
  strike({FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth});
}

TEST(OutsideFaults, any_single_fault_ends_as_the_clean_run) {
  strike({FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict, FaultKind::CutWatches, FaultKind::StaleCache});
}

}  // namespace
}  // namespace slipway::sim
