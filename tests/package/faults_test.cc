// The life of revisions in the simulator, over real bare repositories: a crash of the server, of the controllers or of both, or
// another fault, at any operation on Git (of the server and of the controllers) and at any request of the controllers, ends as
// the clean run does. The user repeats what has not happened yet.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../pipeline/landscape.h"
#include "../world/strike.h"
#include "base/text.h"
#include "control/author_right.h"
#include "delivery/package/family.h"
#include "delivery/package/kind.h"
#include "json/text.h"
#include "os/test_folder.h"
#include "sim/lost_right_scenario.h"

namespace slipway::sim {
namespace {

using namespace delivery::package;
using json::Value;
using pipeline_test::Repository;
using namespace std::chrono_literals;

constexpr const char* kNamespace = "default";

/// What outlives the processes.
struct Outside {
  os::TestFolder folder;
  Repository blueprints{folder / "blueprints.git"};
  Repository edge{folder / "edge.git"};

  Outside() {
    for (Repository* one : {&blueprints, &edge}) one->commit({{"README.md", "packages\n"}}, "begin");
  }
};

/// A user who looks at what is there, asks for what is not, and looks again.
class Person {
 public:
  Person(World& world, Outside& outside) : world_(world), outside_(outside) {}

  Task<> register_repositories() {
    for (Repository* one : {&outside_.blueprints, &outside_.edge}) {
      const std::string name = one == &outside_.edge ? "edge" : "blueprints";
      co_await apply_text(world_, fmt::format("{{apiVersion: {}, kind: {}, metadata: {{name: {}}}, spec: {{type: git, git: "
                                              "{{repo: '{}'}}}}}}",
                                              kRepositoryKind.api_version(), kRepositoryKind.kind, name, one->path()));
      co_await wait_for_condition(world_, kRepositories, name, {"Ready"});
    }
  }

  Task<> make(std::string name, std::string task) {
    while ((co_await record(name)).is_null()) {
      const auto parts = split(name, '.');
      const std::string yaml = fmt::format(
          "{{apiVersion: {}, kind: {}, metadata: {{namespace: default}}, spec: {{repository: {}, packageName: {}, "
          "workspaceName: {}, tasks: [{}]}}}}",
          kRevisionKind.api_version(), kRevisionKind.kind, parts[0], parts[1], parts[2], task);
      co_await ask(client::Verb::Create, kRevisions, "", "", json::parse_yaml(yaml).value());
    }
  }
  /// The file is in the draft, as the log has it.
  Task<> put(std::string name, std::string path, std::string text) {
    while (!(co_await record(name))["spec"]["files"].has(path)) {
      const auto files = co_await client::get(world_.user(), kResources, {kNamespace, name});
      if (files) {
        co_await ask(client::Verb::Update, kResources, name, "", files->with_path({"spec", "resources", path}, text));
      } else {
        co_await sleep_for(world_.user_domain().env(), 1s);
      }
    }
  }
  Task<> say(std::string name, std::string type) {
    const std::string yaml = fmt::format(
        "{{apiVersion: {}, kind: {}, metadata: {{name: {}, namespace: default}}, status: "
        "{{conditions: [{{type: {}, status: 'True', reason: Said}}]}}}}",
        kRevisionKind.api_version(), kRevisionKind.kind, name, type);
    while (!has_condition(co_await record(name), type)) {
      client::Request request = about(client::Verb::Patch, kRevisions, name, "");
      request.patch_type = client::PatchType::Apply;
      request.body = json::parse_yaml(yaml).value();
      co_await send(std::move(request));
    }
  }
  Task<> move(std::string name, std::string lifecycle, std::string subresource = "") {
    for (;;) {
      const Value now = co_await record(name);
      if (now["spec"]["lifecycle"].as_string() == lifecycle && now["spec"]["intents"].empty()) co_return;
      const auto object = co_await client::get(world_.user(), kRevisions, {kNamespace, name});
      if (object && (*object)["spec"]["lifecycle"].as_string() != lifecycle) {
        co_await ask(client::Verb::Update, kRevisions, name, subresource, object->with_path({"spec", "lifecycle"}, lifecycle));
      }
      co_await sleep_for(world_.user_domain().env(), 1s);
    }
  }
  Task<> publish(std::string name) {
    co_await move(name, "Proposed");
    co_await move(name, "Published", std::string(kApproval));
  }
  Task<> take_away(std::string name) {
    while (!(co_await record(name)).is_null()) co_await ask(client::Verb::Delete, kRevisions, name, "", {});
  }
  /// The draft's Kptfile in Git says what the log says.
  Task<> wait_for_catching_up(Repository& repository, std::string branch, std::string path, std::string type) {
    while (!repository.file(path, branch).contains(type)) co_await sleep_for(world_.user_domain().env(), 5s);
  }

 private:
  static bool has_condition(const Value& record, const std::string& type) {
    return std::ranges::any_of(record["spec"]["conditions"].items(), [&](const Value& one) {
      return one["type"].as_string() == type && one["status"].as_string() == "True";
    });
  }
  /// Null when absent; without Git.
  Task<Value> record(std::string name) {
    const auto found = co_await client::get(world_.user(), kRecords, {kNamespace, name});
    co_return found ? *found : Value();
  }
  static client::Request about(client::Verb verb, const kube::Resource& resource, const std::string& name,
                               const std::string& subresource) {
    client::Request request;
    request.verb = verb;
    request.resource = resource;
    request.ns = kNamespace;
    request.name = name;
    request.subresource = subresource;
    request.field_manager = request.user_agent = "person";
    return request;
  }
  Task<> ask(client::Verb verb, kube::Resource resource, std::string name, std::string subresource, Value body) {
    client::Request request = about(verb, resource, name, subresource);
    request.body = std::move(body);
    co_await send(std::move(request));
  }
  Task<> send(client::Request request) {
    (void)co_await world_.user().call(std::move(request));
    co_await sleep_for(world_.user_domain().env(), 1s);
  }

  World& world_;
  Outside& outside_;
};

/// init, edit, propose, approve; a clone whose Kptfile catches up while it rests; a second revision upstream and the upgrade to
/// it; the first one's removal.
Task<> life(World& world, Outside& outside) {
  Person person(world, outside);
  co_await person.register_repositories();
  co_await person.make("blueprints.web.v1", "{type: init, init: {}}");
  co_await person.put("blueprints.web.v1", "own.txt", "one\n");
  co_await person.publish("blueprints.web.v1");
  co_await person.make("edge.web.v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: blueprints.web.v1}}}}");
  co_await person.say("edge.web.v1", "checked");
  co_await person.wait_for_catching_up(outside.edge, "drafts/web/v1", "web/Kptfile", "checked");
  co_await person.publish("edge.web.v1");
  co_await person.make("blueprints.web.v2", "{type: edit, edit: {sourceRef: {name: blueprints.web.v1}}}");
  co_await person.put("blueprints.web.v2", "more.txt", "two\n");
  co_await person.publish("blueprints.web.v2");
  co_await person.make("edge.web.v2",
                       "{type: upgrade, upgrade: {oldUpstreamRef: {name: blueprints.web.v1}, newUpstreamRef: {name: "
                       "blueprints.web.v2}, localPackageRevisionRef: {name: edge.web.v1}}}");
  co_await person.publish("edge.web.v2");
  co_await person.move("edge.web.v1", "DeletionProposed");
  co_await person.take_away("edge.web.v1");
}

/// A proposal that is taken back and dropped.
Task<> dropped(World& world, Outside& outside) {
  Person person(world, outside);
  co_await person.register_repositories();
  co_await person.make("edge.web.v1", "{type: init, init: {}}");
  co_await person.move("edge.web.v1", "Proposed");
  co_await person.move("edge.web.v1", "Draft");
  co_await person.take_away("edge.web.v1");
}

/// What the branch has of a published package is deleted; its tag stays.
Task<> removed(World& world, Outside& outside) {
  Person person(world, outside);
  co_await person.register_repositories();
  co_await person.make("edge.web.v1", "{type: init, init: {}}");
  co_await person.publish("edge.web.v1");
  co_await person.move("edge.web.main", "DeletionProposed");
  co_await person.take_away("edge.web.main");
}

/// Of a variant whose author loses all rights before there is a second revision upstream.
Task<> lost_right(World& world, Outside& outside) {
  Person person(world, outside);
  const auto variant = [](int revision) {
    return fmt::format(
        "{{apiVersion: {}, kind: {}, metadata: {{name: one}}, spec: {{upstream: {{repo: blueprints, package: web, revision: "
        "{}}}, "
        "downstream: {{repo: edge, package: web}}}}}}",
        kVariantKind.api_version(), kVariantKind.kind, revision);
  };
  const auto is_ready = [&world](std::string reason) -> Task<> {
    for (;;) {
      const auto one = co_await client::get(world.user(), kVariants, {kNamespace, "one"});
      SLIPWAY_CHECK(one.has_value(), one.error().message);
      if (kube::condition(*one, "Ready")["reason"].as_string() == reason) co_return;
      co_await sleep_for(world.user_domain().env(), 1s);
    }
  };
  co_await person.register_repositories();
  co_await person.make("blueprints.web.v1", "{type: init, init: {}}");
  co_await person.publish("blueprints.web.v1");
  co_await give_rights(world);
  co_await apply_as_dev(world, variant(1));
  co_await is_ready("NoErrors");
  co_await person.publish("edge.web.packagevariant-1");
  co_await person.make("blueprints.web.v2", "{type: edit, edit: {sourceRef: {name: blueprints.web.v1}}}");
  co_await person.put("blueprints.web.v2", "more.txt", "two\n");
  co_await person.publish("blueprints.web.v2");
  co_await take_rights(world);
  co_await apply_text(world, variant(2));  // by the process, which is nobody's author
  co_await is_ready(std::string(control::kAuthorLacksRight));
  co_await sleep_for(world.user_domain().env(), 5min);
  const auto early = co_await client::get(world.user(), kRecords, {kNamespace, "edge.web.packagevariant-2"});
  SLIPWAY_CHECK(!early.has_value(), "a draft was made without the right");
  co_await give_rights(world);
  co_await is_ready("NoErrors");
  co_await person.publish("edge.web.packagevariant-2");
}

std::string told(Repository& repository) {
  const std::string all = repository.git("log --format=%s main");
  std::vector<std::string_view> subjects = split(all, '\n');
  std::ranges::sort(subjects);
  return fmt::format("{}{}\n{}", repository.git("log --first-parent --format=%s main"), fmt::join(subjects, ", "),
                     repository.git("for-each-ref --format='%(refname)'"));
}

/// The log and the repositories, without what differs between two good runs.
std::string told(const std::vector<Value>& records, Outside& outside) {
  std::set<std::string> lines;
  for (const Value& one : records) {
    const Value& spec = one["spec"];
    std::set<std::string> conditions;
    for (const Value& condition : spec["conditions"].items()) {
      conditions.insert(fmt::format("{}={}", condition["type"].as_string(), condition["status"].as_string()));
    }
    lines.insert(fmt::format("{} {} {} {} intents={} drift='{}' latest={} files={}\n", kube::name(one),
                             spec["lifecycle"].as_string(), spec["revision"].as_int(), fmt::join(conditions, ","),
                             spec["intents"].size(), spec["drift"].as_string(), kube::label(one, kLatestLabel),
                             spec["files"].size()));
  }
  return fmt::format("{}{}{}{}", fmt::join(lines, ""), told(outside.blueprints), told(outside.edge),
                     outside.edge.git("ls-tree -r main --name-only"));
}

using Story = Task<> (*)(World& world, Outside& outside);

Played run_with(Story story, FaultPlan faults) {
  static const Image kImage = Image::bootstrapped();
  static const delivery::Family* const kFamilies[] = {&delivery::package::family()};
  auto outside = std::make_shared<Outside>();
  auto records = std::make_shared<std::vector<Value>>();
  const Scenario scenario{.name = "packages", .script = [outside, records, story](World& world) -> Task<> {
                            co_await story(world, *outside);
                            co_await sleep_for(world.user_domain().env(), 90s);  // for the worker's last things
                            const auto list = co_await client::list(
                                world.user(), kRecords, {.ns = kNamespace, .label_selector = "", .field_selector = ""});
                            for (const Value& one : (*list)["items"].items()) records->push_back(one);
                          }};
  WorldOptions options;
  options.image = &kImage;
  options.faults = std::move(faults);
  options.controllers.families = kFamilies;
  options.git = git_with_mirrors(outside->folder / "mirrors");
  Played made{.ending = play(scenario, std::move(options)), .state = ""};
  made.state = told(*records, *outside);
  return made;
}

bool is_ours(const Point& point) { return point.who.starts_with("slipway-package") || point.what.starts_with("GIT"); }

void strike_story(Story story, std::uint64_t weight, const std::vector<FaultKind>& kinds) {
  const Played clean = run_with(story, {});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  strike({.name = "packages",
          .play = [story](FaultPlan faults) { return run_with(story, std::move(faults)); },
          .is_ours = is_ours,
          .every = 12,
          .weight = weight},
         clean, kinds);
}

const std::vector<FaultKind> kCrashes{FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth};
const std::vector<FaultKind> kOthers{FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict, FaultKind::CutWatches,
                                     FaultKind::StaleCache, FaultKind::DiskFails,   FaultKind::DiskFull};

TEST(PackageFaults, a_crash_anywhere_in_a_life_ends_as_the_clean_run) { strike_story(life, 8, kCrashes); }
TEST(PackageFaults, any_other_fault_in_a_life_ends_as_the_clean_run) { strike_story(life, 8, kOthers); }
TEST(PackageFaults, a_crash_anywhere_in_a_dropped_proposal_ends_as_the_clean_run) { strike_story(dropped, 3, kCrashes); }
TEST(PackageFaults, any_other_fault_in_a_dropped_proposal_ends_as_the_clean_run) { strike_story(dropped, 3, kOthers); }
TEST(PackageFaults, a_crash_anywhere_in_a_removal_from_the_branch_ends_as_the_clean_run) { strike_story(removed, 3, kCrashes); }
TEST(PackageFaults, any_other_fault_in_a_removal_from_the_branch_ends_as_the_clean_run) { strike_story(removed, 3, kOthers); }
/// Found here: one that could not be read again was taken for one that is gone, and was never said to be Ready.
TEST(PackageFaults, a_crash_anywhere_around_a_lost_right_ends_as_the_clean_run) { strike_story(lost_right, 8, kCrashes); }
TEST(PackageFaults, any_other_fault_around_a_lost_right_ends_as_the_clean_run) { strike_story(lost_right, 8, kOthers); }

TEST(PackageFaults, a_repository_that_was_read_is_said_to_be_ready_though_the_server_dies_meanwhile) {
  const auto is_read = [](const Point& point) {
    return is_ours(point) && point.what.contains("GET repositories.config.porch.kpt.dev default/edge");
  };
  const Played clean = run_with(dropped, {});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  strike({.name = "packages",
          .play = [](FaultPlan faults) { return run_with(dropped, std::move(faults)); },
          .is_ours = is_read,
          .tries_all = true},
         clean, {FaultKind::CrashServer});
}

/// Found here: what could not be written of one reading was left as it was until the references changed again.
TEST(PackageFaults, what_a_reading_could_not_write_is_written_though_the_references_stay) {
  const auto is_placeholder = [](const Point& point) {
    return is_ours(point) && point.what.starts_with("PUT packagerecords.packages.slipway.dev default/blueprints.web.main");
  };
  const Played clean = run_with(life, {});
  ASSERT_TRUE(clean.ending.is_over) << clean.state;
  strike({.name = "packages",
          .play = [](FaultPlan faults) { return run_with(life, std::move(faults)); },
          .is_ours = is_placeholder,
          .tries_all = true},
         clean, {FaultKind::CrashServer, FaultKind::Unavailable, FaultKind::Conflict});
}

}  // namespace
}  // namespace slipway::sim
