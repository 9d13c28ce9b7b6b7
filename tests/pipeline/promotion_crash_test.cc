// Promotions in the simulator, over a real bare repository: a crash or another fault at any point of their controller, its git
// included, ends as the clean run does. The user plays the agents: what is in the repository comes to run a second later.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>

#include "../world/strike.h"
#include "base/text.h"
#include "delivery/pipeline/family.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promotion_controller.h"
#include "json/text.h"
#include "landscape.h"
#include "os/test_folder.h"
#include "sim/lost_right_scenario.h"

namespace slipway::sim {
namespace {

using delivery::pipeline::kPipelines;
using delivery::pipeline::kPromotions;
using delivery::pipeline::kReleases;
using json::Value;
using pipeline_test::Repository;
using namespace std::chrono_literals;

std::string field(std::string_view environment, std::string_view version) {
  return fmt::format("version: {} # {{\"$promotion\": \"default:web:{}\"}}\n", version, environment);
}

/// What outlives the processes: the repository, and what the agents run.
struct Outside {
  os::TestFolder folder;
  Repository repository{folder / "config.git"};
  std::map<std::string, std::string> runs{{"dev", "1.0.0"}, {"staging", "1.0.0"}, {"prod", "1.0.0"}};

  Outside() {
    repository.commit({{"staging.yaml", field("staging", "1.0.0")}, {"prod.yaml", field("prod", "1.0.0")}}, "first");
  }
};

/// `more`: a member of commit.
std::string pipeline_of(const Outside& outside, std::string_view more = "") {
  return fmt::format(R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {{name: web}}
spec:
  appRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}}
  promotion: {{strategy: {{commit: {{{}url: '{}', baseBranch: main}}}}}}
  environments:
    - {{name: dev, targets: [{{namespace: dev}}]}}
    - {{name: staging, targets: [{{namespace: staging}}], gates: [{{name: ask, at: before, webhook: {{url: 'http://hooks.test/late'}}}}]}}
    - {{name: prod, targets: [{{namespace: prod}}], soak: 3s}}
)",
                     more, outside.repository.path());
}

std::string environment_status(std::string_view version) {
  return fmt::format(
      R"({{"targetCount": 1, "readyCount": 1, "states": {{"settled": 1}}, "versions": {{"{0}": 1}}, "version": {{"version": "{0}"}},
      "targets": [{{"clusterAppRef": {{"apiVersion": "v2", "kind": "HelmRelease", "name": "web"}}, "namespace": "n", "ready": true,
      "revision": "{0}", "state": "settled", "specified": {{"version": "{0}"}}, "attempted": {{"version": "{0}"}},
      "running": {{"version": "{0}"}}}}]}})",
      version);
}

Task<> write_status(World& world, Outside& outside) {
  std::vector<std::string> parts;
  for (const auto& [name, version] : outside.runs)
    parts.push_back(fmt::format("\"{}\": {}", name, environment_status(version)));
  const std::string text =
      fmt::format(R"({{"status": {{"observedGeneration": 1, "environments": {{{}}}}}}})", joined(parts, ", "));
  const auto written =
      co_await client::merge_patch(world.user(), kPipelines, {"default", "web"}, json::parse(text).value(), "agents", "status");
  SLIPWAY_CHECK(written.has_value(), written.error().message);
}

/// The agents bring up what is in the repository, until that has the version in prod and its promotion has ended.
Task<> play_agents(World& world, Outside& outside, std::string version) {
  for (;;) {
    co_await sleep_for(world.user_domain().env(), 1s);
    bool is_changed = false;
    for (const char* name : {"staging", "prod"}) {
      const std::string text = outside.repository.file(fmt::format("{}.yaml", name));
      const std::string wanted = text.substr(9, text.find(" #") - 9);
      is_changed |= outside.runs[name] != wanted;
      outside.runs[name] = wanted;
    }
    if (is_changed) co_await write_status(world, outside);
    const auto promotions =
        co_await client::list(world.user(), kPromotions, {.ns = "default", .label_selector = "", .field_selector = ""});
    SLIPWAY_CHECK(promotions.has_value(), promotions.error().message);
    bool is_live = outside.runs["prod"] != version;
    for (const Value& one : (*promotions)["items"].items()) {
      const std::string_view phase = one["status"]["phase"].as_string();
      is_live |= phase != "Succeeded" && phase != "Rejected" && phase != "Superseded";
    }
    if (!is_live) co_return;
  }
}

Task<> script(World& world, Outside& outside) {
  co_await apply_text(world, pipeline_of(outside));
  co_await write_status(world, outside);
  co_await sleep_for(world.user_domain().env(), 3s);
  outside.runs["dev"] = "1.1.0";
  co_await write_status(world, outside);
  co_await play_agents(world, outside, "1.1.0");
  co_await apply_text(world, fmt::format(
                                 "{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Promotion, metadata: {{name: back}}, "
                                 "spec: {{pipeline: web, environment: prod, release: {}, attempt: 9, action: rollback}}}}",
                                 co_await [](World& in) -> Task<std::string> {
                                   const auto all = co_await client::list(
                                       in.user(), kReleases, {.ns = "default", .label_selector = "", .field_selector = ""});
                                   for (const Value& one : (*all)["items"].items()) {
                                     if (one["spec"]["version"].as_string() == "1.0.0") co_return std::string(kube::name(one));
                                   }
                                   co_return std::string("none");
                                 }(world)));
  co_await play_agents(world, outside, "1.0.0");
}

/// The author of the pipeline loses all rights, so that the Secret which the promotion needs cannot be read.
Task<> lost_right_script(World& world, Outside& outside) {
  co_await give_rights(world);
  co_await apply_text(world, "{apiVersion: v1, kind: Secret, metadata: {name: forge}, stringData: {username: u, password: p}}");
  co_await apply_as_dev(world, pipeline_of(outside, "secretRef: {name: forge}, "));
  co_await write_status(world, outside);
  co_await sleep_for(world.user_domain().env(), 3s);
  co_await take_rights(world);
  outside.runs["dev"] = "1.1.0";
  co_await write_status(world, outside);
  for (bool is_held = false; !is_held;) {
    co_await sleep_for(world.user_domain().env(), 1s);
    const auto all =
        co_await client::list(world.user(), kPromotions, {.ns = "default", .label_selector = "", .field_selector = ""});
    SLIPWAY_CHECK(all.has_value(), all.error().message);
    for (const Value& one : (*all)["items"].items()) is_held |= json::print(one["status"]).contains("AuthorLacksRight");
  }
  world.tell("the promotion holds");
  co_await sleep_for(world.user_domain().env(), 5min);
  SLIPWAY_CHECK(outside.runs["staging"] == "1.0.0", "promoted without the right");
  co_await give_rights(world);
  co_await play_agents(world, outside, "1.1.0");
}

/// The end without what differs between two good runs.
std::string told(const Ending& ending, Outside& outside) {
  std::string state = ending.state;
  RE2::GlobalReplace(&state, "[0-9a-f]{40}|-[0-9a-f]{10}", "#");
  std::vector<std::string> lines;
  for (const std::string_view line : split(state, '\n')) lines.emplace_back(line);
  std::ranges::sort(lines);
  // The order of commits is the order of changes: none twice, none backwards.
  return joined(outside.repository.log("%s"), "\n") + "\n" + joined(lines, "\n");
}

const delivery::Family& promotions_only() {
  static const delivery::Family made = [] {
    delivery::Family family = delivery::pipeline::family();
    family.controllers = [](const delivery::ControllerContext& context) {
      std::vector<std::unique_ptr<control::Controller>> all;
      all.push_back(std::make_unique<delivery::pipeline::PromotionController>(context));
      return all;
    };
    return family;
  }();
  return made;
}

using Script = Task<> (*)(World& world, Outside& outside);

Played run_with(Script play_script, FaultPlan faults) {
  static const Image kImage = Image::bootstrapped();
  static const delivery::Family* const kFamilies[] = {&promotions_only()};
  auto outside = std::make_shared<Outside>();
  const Scenario scenario{.name = "promotion",
                          .script = [outside, play_script](World& world) { return play_script(world, *outside); }};
  WorldOptions options;
  options.image = &kImage;
  options.faults = std::move(faults);
  options.controllers.families = kFamilies;
  options.git = git_with_mirrors(outside->folder / "mirrors");
  Played made{.ending = play(scenario, std::move(options)), .state = ""};
  made.state = told(made.ending, *outside);
  return made;
}

/// `commits`: the subjects in the repository at the end.
void strike_with(Script play_script, std::string_view commits, const std::vector<FaultKind>& kinds) {
  const Played clean = run_with(play_script, {});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  ASSERT_TRUE(clean.state.starts_with(commits)) << clean.state;
  const auto is_ours = [](const Point& point) { return point.who == "slipway-promotion" || point.what.starts_with("GIT"); };
  const auto play = [play_script](FaultPlan faults) { return run_with(play_script, std::move(faults)); };
  strike({.name = "promotion", .play = play, .is_ours = is_ours}, clean, kinds);
}

const std::vector<FaultKind> kCrashes{FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth};
const std::vector<FaultKind> kOthers{FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict, FaultKind::CutWatches,
                                     FaultKind::StaleCache};
constexpr std::string_view kThere = "first\npromote web 1.1.0 to staging\npromote web 1.1.0 to prod\n";
constexpr std::string_view kThereAndBack =
    "first\npromote web 1.1.0 to staging\npromote web 1.1.0 to prod\npromote web 1.0.0 to prod\n";

TEST(PromotionFaults, a_crash_anywhere_ends_as_the_clean_run) { strike_with(script, kThereAndBack, kCrashes); }
TEST(PromotionFaults, any_single_fault_ends_as_the_clean_run) { strike_with(script, kThereAndBack, kOthers); }
TEST(PromotionFaults, a_crash_anywhere_around_a_lost_right_ends_as_the_clean_run) {
  strike_with(lost_right_script, kThere, kCrashes);
}
TEST(PromotionFaults, any_single_fault_around_a_lost_right_ends_as_the_clean_run) {
  strike_with(lost_right_script, kThere, kOthers);
}

}  // namespace
}  // namespace slipway::sim
