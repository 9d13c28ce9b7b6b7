// Clusters as KubeVela leaves them, out of the oracle's recordings (applications, the revisions and trackers that belong to
// them, objects), and Slipway starting there: no workload is created, deleted, restarted or renamed, no workflow runs again,
// and the next edit makes the next revision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/corpus_sample_test.h"
#include "base/digest.h"
#include "json/text.h"
#include "kube/object.h"
#include "kubevela_shop.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kBegan = "2026-11-22T06:43:50Z";
constexpr const char* kEnded = "2026-11-22T06:43:58Z";

Value document(const Documents& documents, const Value& target) {
  for (const Value& one : documents.rest) {
    if (kube::kind(one) == target["kind"].as_string() && kube::name(one) == target["name"].as_string()) return one;
  }
  return {};
}

/// One case of the oracle, stored on a plane without Slipway's controllers.
class Left {
 public:
  Left(Plane& plane, const std::filesystem::path& folder, const Case& of, Compression how)
      : plane_(plane), line_(of.lines.front()), documents_(read_documents(folder, of)), ns_(of.ns()), how_(how) {
    for (const std::string& name : {std::string(kNamespace), ns_, std::string("vela-system")}) plane.make_namespace(name);
    for (const Value& one : documents_.definitions) plane_.store(kHub, at_home(one), kKubeVela);
    for (const Value& one : documents_.rest) {
      const bool is_target = kube::kind(one) == line_["target"]["kind"].as_string();
      if (!is_target && !is_recorded(one)) store_other(one);
    }
  }

  void store_application() {
    const Value& latest = line_["latestRevision"];
    const Value written = at_home(document(documents_, line_["target"]));
    Value app = written.with_path({"metadata", "finalizers"}, json::array({Value("app.oam.dev/resource-tracker-finalizer")}));
    for (const auto& [key, value] : line_["annotations"].members())
      app = app.with_path({"metadata", "annotations", key}, value);
    app = plane_.store(kHub, app.without("status"), kKubeVela);
    const Value owner = kube::owner_reference(app);
    for (const Value& one : line_["otherObjects"].items()) store_beside(one, owner);
    json::ArrayBuilder managed;
    for (const Value& one : line_["objects"].items()) managed.add(store_object(one));
    store_tracker(app, managed.build());
    plane_.store(kHub, revision(app, written), kKubeVela);
    plane_.store(kHub, app.with("status", status(app, latest["name"].str())), kKubeVela);
  }

  void store_run() {
    const Value app = plane_.store(kHub, at_home(document(documents_, line_["target"])).without("status"), kKubeVela);
    for (const Value& one : line_["otherObjects"].items()) store_beside(one, kube::owner_reference(app));
    Value run = workflow("").without("appRevision").with("mode", json::object({{"steps", "StepByStep"}, {"subSteps", "DAG"}}));
    run = run.with("conditions", conditions());
    plane_.store(kHub, app.with("status", run.with("status", line_["phase"])), kKubeVela);
  }

 private:
  Value at_home(const Value& one) const {
    const bool has_none = kube::ns(one).empty() && kube::kind(one) != "Namespace";
    return has_none ? one.with_path({"metadata", "namespace"}, ns_) : one;
  }

  bool is_recorded(const Value& one) const {
    const auto is_it = [&](const Value& other) {
      return kube::kind(other) == kube::kind(one) && kube::name(other) == kube::name(one);
    };
    return std::ranges::any_of(line_["objects"].items(), is_it) || std::ranges::any_of(line_["otherObjects"].items(), is_it);
  }

  /// What the manifest brings beside its target, where it is served at all.
  void store_other(const Value& one) { plane_.apply(one, ns_); }

  void store_beside(const Value& one, const Value& owner) {
    if (kube::kind(one) == "Pod" || kube::kind(one) == "Application") return;
    Value object = one;
    json::ArrayBuilder owners;
    for (const Value& each : one["metadata"]["ownerReferences"].items()) {
      owners.add(each["kind"] == owner["kind"] && each["name"] == owner["name"] ? owner : each.with("uid", "gone"));
    }
    if (one["metadata"].has("ownerReferences")) object = object.with_path({"metadata", "ownerReferences"}, owners.build());
    plane_.store(kHub, object, kKubeVela);
  }

  /// Gives its entry in the tracker.
  Value store_object(const Value& one) {
    const std::string cluster(kube::label(one, "app.oam.dev/cluster"));
    plane_.store(cluster.empty() ? kHub : cluster, one, kKubeVela);
    json::ObjectBuilder entry;
    entry.add("apiVersion", one["apiVersion"]);
    entry.add("kind", one["kind"]);
    entry.add("name", one["metadata"]["name"]);
    if (!kube::ns(one).empty()) entry.add("namespace", Value(kube::ns(one)));
    if (!cluster.empty() && cluster != kHub) entry.add("cluster", cluster);
    entry.add("creator", "workflow");
    entry.add("component", Value(kube::label(one, "app.oam.dev/component")));
    if (const auto trait = kube::label(one, "trait.oam.dev/type"); !trait.empty()) entry.add("trait", Value(trait));
    entry.add("raw", one.without("status"));
    return entry.build();
  }

  void store_tracker(const Value& app, const Value& managed) {
    if (managed.size() == 0) return;
    const auto version = kube::annotation(app, "app.oam.dev/publishVersion");
    const std::string part = version.empty() ? fmt::format("v{}", kube::generation(app)) : std::string(version);
    const Value labels = json::object({{"app.oam.dev/name", Value(kube::name(app))},
                                       {"app.oam.dev/namespace", ns_},
                                       {"app.oam.dev/uid", Value(kube::uid(app))},
                                       {"app.oam.dev/appRevision", line_["latestRevision"]["name"]}});
    const Value metadata = json::object({{"name", fmt::format("{}-{}-{}", kube::name(app), part, ns_)},
                                         {"labels", labels},
                                         {"finalizers", json::array({Value("resourcetracker.core.oam.dev/finalizer")})}});
    const Value spec = json::object({{"type", "versioned"}, {"applicationGeneration", kube::generation(app)}});
    plane_.store(kHub,
                 json::object({{"apiVersion", kOam},
                               {"kind", "ResourceTracker"},
                               {"metadata", metadata},
                               {"spec", spec_with(spec, "managedResources", managed, how_)}}),
                 kKubeVela);
  }

  /// The definitions that the application names, as those of the namespace or built-in ones are: whole, with their status.
  Value definitions(const char* kind) const {
    json::ObjectBuilder out;
    for (const Value& one : documents_.definitions) {
      if (kube::kind(one) != kind) continue;
      const Value whole = at_home(one).with("status", json::object({{"configMapRef", "s"}}));
      out.set(kube::name(one), whole.without("kind").without("apiVersion"));  // as Go's types leave them
    }
    return out.build();
  }

  Value revision(const Value& app, const Value& written) const {
    // As Go writes the object: without members that say nothing, with a time that is null.
    Value embedded = written.with_path({"metadata", "creationTimestamp"}, nullptr).with("status", Value::empty_object());
    if (embedded["spec"]["policies"].is_array() && embedded["spec"]["policies"].empty()) {
      embedded = embedded.without_path({"spec", "policies"});
    }
    const Value content = json::object({{"application", embedded},
                                        {"componentDefinitions", definitions("ComponentDefinition")},
                                        {"traitDefinitions", definitions("TraitDefinition")},
                                        {"workflowStepDefinitions", definitions("WorkflowStepDefinition")},
                                        {"policyDefinitions", definitions("PolicyDefinition")}});
    Value whole = content;
    json::ObjectBuilder policies;
    for (const Value& one : documents_.rest) {
      // Objects that went through Go's types.
      if (kube::kind(one) == "Policy") policies.set(kube::name(one), one.without("kind").without("apiVersion"));
      if (kube::kind(one) == "Workflow") whole = whole.with("workflow", one.without("kind").without("apiVersion"));
    }
    whole = whole.with("policies", policies.build());
    const Value& latest = line_["latestRevision"];
    json::ObjectBuilder annotations;
    if (const auto version = kube::annotation(app, "app.oam.dev/publishVersion"); !version.empty()) {
      annotations.add("app.oam.dev/publishVersion", Value(version));
    }
    const Value labels =
        json::object({{"app.oam.dev/name", Value(kube::name(app))}, {"app.oam.dev/app-revision-hash", latest["revisionHash"]}});
    return json::object({{"apiVersion", kOam},
                         {"kind", "ApplicationRevision"},
                         {"metadata", json::object({{"name", latest["name"]},
                                                    {"namespace", ns_},
                                                    {"labels", labels},
                                                    {"annotations", annotations.build()},
                                                    {"ownerReferences", json::array({kube::owner_reference(app)})}})},
                         {"spec", spec_with(Value::empty_object(), nullptr, whole, how_)},
                         {"status", json::object({{"succeeded", line_["workflow"]["status"].as_string() == "succeeded"},
                                                  {"workflow", workflow(latest["name"].str())}})}});
  }

  Value workflow(const std::string& revision) const {
    Value out = line_["workflow"].is_object() ? line_["workflow"] : Value::empty_object();
    json::ArrayBuilder steps;
    for (const Value& step : line_["steps"].items()) steps.add(with_id(step));
    out = out.with("appRevision", revision).with("steps", steps.build()).with("startTime", kBegan);
    if (out["finished"].as_bool()) out = out.with("endTime", kEnded);
    for (const Value& one : line_["otherObjects"].items()) {
      if (kube::kind(one) != "ConfigMap" || !kube::name(one).starts_with("workflow-")) continue;
      out = out.with(
          "contextBackend",
          json::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", one["metadata"]["name"]}, {"namespace", ns_}}));
    }
    return out;
  }

  static Value with_id(const Value& step) {
    Value out = step.with("id", sha256_hex(step["name"].str()).substr(0, 10))
                    .with("firstExecuteTime", kBegan)
                    .with("lastExecuteTime", kEnded);
    if (!step.has("subSteps")) return out;
    json::ArrayBuilder subs;
    for (const Value& sub : step["subSteps"].items()) subs.add(with_id(sub));
    return out.with("subSteps", subs.build());
  }

  Value conditions() const {
    json::ArrayBuilder out;
    for (const Value& one : line_["conditions"].items()) out.add(one.with("lastTransitionTime", kEnded));
    return out.build();
  }

  Value status(const Value& app, const std::string& revision) const {
    json::ArrayBuilder services;
    for (const Value& one : line_["services"].items()) {
      services.add(one.without("workload").with("workloadDefinition", one["workload"]));
    }
    const auto version = kube::annotation(app, "app.oam.dev/publishVersion");
    return json::object({{"status", line_["phase"]},
                         {"observedGeneration", kube::generation(app)},
                         {"conditions", conditions()},
                         {"services", services.build()},
                         {"appliedResources", line_["applied"]},
                         {"latestRevision", line_["latestRevision"]},
                         {"workflow", workflow(version.empty() ? revision : std::string(version))}});
  }

  Plane& plane_;
  const Value& line_;
  Documents documents_;
  std::string ns_;
  Compression how_;
};

/// Every object that a client made, by place: its uid, its generation, and what its spec and data are. What a controller notes
/// for itself, such as the variables of a workflow that still runs, is left out.
using World = std::map<std::string, std::string>;

const std::set<std::string, std::less<>> kOwnKinds = {"Event",           "Lease",         "Application", "ApplicationRevision",
                                                      "ResourceTracker", "EndpointSlice", "Endpoints"};

World world(const Plane& plane, const std::string& ns) {
  World found;
  for (const char* cluster : {kHub, kWorker}) {
    for (const std::string& place : {ns, std::string(kNamespace), std::string("default")}) {
      for (const Value& one : plane.all(cluster, place)) {
        const bool is_context = kube::name(one).starts_with("workflow-") && kube::name(one).ends_with("-context");
        if (kOwnKinds.contains(kube::kind(one)) || is_context) continue;
        const std::string key = fmt::format("{} {} {}/{}", cluster, kube::kind(one), place, kube::name(one));
        found[key] =
            fmt::format("uid {} generation {} spec {} data {}", kube::uid(one), kube::generation(one),
                        sha256_hex(json::print(one["spec"])).substr(0, 8), sha256_hex(json::print(one["data"])).substr(0, 8));
      }
    }
  }
  return found;
}

std::vector<std::string> difference(const World& before, const World& after) {
  std::vector<std::string> lines;
  for (const auto& [key, state] : before) {
    const auto now = after.find(key);
    if (now == after.end()) {
      lines.push_back("deleted " + key);
    } else if (now->second != state) {
      lines.push_back(fmt::format("changed {}: {} → {}", key, state, now->second));
    }
  }
  for (const auto& [key, state] : after) {
    if (!before.contains(key)) lines.push_back("created " + key);
  }
  return lines;
}

/// Phases that are deliberately other than KubeVela's (docs/application.md).
const std::map<std::string, std::string, std::less<>> kOtherPhases = {
    // KubeVela says `running` while a PostDispatch trait cannot be applied.
    {"kubevela__kubevela/docs/examples/advanced-cue/app2.yaml", "unhealthy"},
};

/// What a run of the workflow looks like, without what Slipway adds to KubeVela's members.
Value run_of(const Value& target) {
  const Value& run = kube::kind(target) == "Application" ? target["status"]["workflow"] : target["status"];
  json::ArrayBuilder steps;
  for (const Value& step : run["steps"].items()) {
    steps.add(json::array({step["id"], step["name"], step["phase"], step["firstExecuteTime"], step["lastExecuteTime"]}));
  }
  return json::object({{"startTime", run["startTime"]},
                       {"endTime", run["endTime"]},
                       {"status", run["status"]},
                       {"suspend", run["suspend"]},
                       {"steps", steps.build()}});
}

bool has_end(const Case& of) {
  const Value& line = of.lines.front();
  if (!line["workflow"].is_object() || !of.difference.empty()) return false;
  const std::string phase = line["phase"].str();
  return phase == "running" || phase == "workflowFailed" || phase == "workflowSuspending" || phase == "succeeded" ||
         phase == "failed" || phase == "suspending";
}

class Takeover : public ::testing::Test {
 protected:
  void SetUp() override {
    if (corpus_folder().empty()) GTEST_SKIP() << "no corpus";
    cases_ = read_cases(corpus_folder());
  }
  const char* only_ = std::getenv("SLIPWAY_ORACLE_ONLY");
  std::vector<Case> cases_;
};

Compression compression_of(std::size_t index) { return static_cast<Compression>(index % 3); }

TEST_F(Takeover, touches_nothing_and_runs_nothing_again) {
  std::size_t played = 0;
  std::map<std::string, int> phases;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const Case& one = cases_[i];
    if (!has_end(one) || (only_ != nullptr && one.file.find(only_) == std::string::npos) || i % corpus_stride() != 0) continue;
    SCOPED_TRACE(one.file);
    const Value target = one.lines.front()["target"];
    Plane before(&image(), {.has_families = false});
    Left left(before, corpus_folder(), one, compression_of(i));
    if (target["kind"].as_string() == "Application") left.store_application();
    if (target["kind"].as_string() == "WorkflowRun") left.store_run();
    ASSERT_TRUE(before.pass(minutes{1}));
    const World old_world = world(before, one.ns());
    const Value old_target = before.find(kHub, target);
    ASSERT_FALSE(old_target.is_null());
    const Image stopped = before.image();

    Plane after(&stopped, {.acts_as = delivery::ActsAs::Controller});
    ASSERT_TRUE(after.pass(minutes{6}));
    const std::vector<std::string> changes = difference(old_world, world(after, one.ns()));
    EXPECT_TRUE(changes.empty()) << fmt::format("{}", fmt::join(changes, "\n"));
    const Value now = after.find(kHub, target);
    EXPECT_EQ(json::print(run_of(now)), json::print(run_of(old_target)));
    EXPECT_EQ(json::print(now["status"]["latestRevision"]), json::print(old_target["status"]["latestRevision"]));
    const auto other = kOtherPhases.find(one.file);
    EXPECT_EQ(phase_of(now), other == kOtherPhases.end() ? phase_of(old_target) : other->second)
        << json::print(now["status"]["services"]);
    ++phases[phase_of(now)];
    ++played;
  }
  std::string text;
  for (const auto& [phase, count] : phases) text += fmt::format(" {} {}", count, phase);
  fmt::print("taken over:{}\n", text);
  if (only_ == nullptr && corpus_stride() == 1) EXPECT_GT(played, 10U);
}

/// The application as a user would apply it with one more trait on its first component; null where it has no Deployment to
/// which that could go.
Value edited(const Value& app, const Case& of) {
  const std::string component = app["spec"]["components"].item(0)["name"].str();
  const auto is_its = [&](const Value& one) {
    return kube::kind(one) == "Deployment" && kube::label(one, "app.oam.dev/component") == component &&
           kube::label(one, "app.oam.dev/resourceType") == "WORKLOAD" &&
           kube::label(one, "workload.oam.dev/type") == "webservice";
  };
  if (std::ranges::none_of(of.lines.front()["objects"].items(), is_its)) return {};
  const Value trait = json::object({{"type", "labels"}, {"properties", json::object({{"taken", "over"}})}});
  json::ArrayBuilder traits;
  for (const Value& one : app["spec"]["components"].item(0)["traits"].items()) traits.add(one);
  traits.add(trait);
  const Value first = app["spec"]["components"].item(0).with("traits", traits.build());
  json::ArrayBuilder components;
  components.add(first);
  for (std::size_t i = 1; i < app["spec"]["components"].size(); ++i) components.add(app["spec"]["components"].item(i));
  return json::object({{"apiVersion", app["apiVersion"]},
                       {"kind", app["kind"]},
                       {"metadata", json::object({{"name", Value(kube::name(app))}, {"namespace", Value(kube::ns(app))}})},
                       {"spec", app["spec"].with("components", components.build())}});
}

TEST_F(Takeover, next_edit_makes_the_next_revision_of_the_same_objects) {
  std::size_t played = 0;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const Case& one = cases_[i];
    if (!has_end(one) || (only_ != nullptr && one.file.find(only_) == std::string::npos) || i % corpus_stride() != 0) continue;
    const Value& line = one.lines.front();
    if (line["phase"].as_string() != "running" || kOtherPhases.contains(one.file)) continue;
    if (line["annotations"].has("app.oam.dev/publishVersion")) continue;  // edits wait for the next version
    SCOPED_TRACE(one.file);
    Plane before(&image(), {.has_families = false});
    Left(before, corpus_folder(), one, compression_of(i)).store_application();
    const Value edit = edited(before.find(kHub, line["target"]), one);
    if (edit.is_null()) continue;
    ASSERT_TRUE(before.pass(minutes{1}));
    const World old_world = world(before, one.ns());
    const Image stopped = before.image();
    Plane after(&stopped, {.acts_as = delivery::ActsAs::Controller});
    ASSERT_TRUE(after.pass(minutes{1}));
    ASSERT_EQ(after.apply(edit, one.ns()), "");
    ASSERT_TRUE(after.pass(minutes{5}));
    const Value now = after.find(kHub, line["target"]);
    const std::int64_t number = line["latestRevision"]["revision"].as_int();
    EXPECT_EQ(now["status"]["latestRevision"]["revision"].as_int(), number + 1);
    EXPECT_EQ(phase_of(now), "running") << json::print(now["status"]["workflow"]);
    const World new_world = world(after, one.ns());
    for (const std::string& change : difference(old_world, new_world)) {
      const bool is_roll = change.find(" ReplicaSet ") != std::string::npos || change.find(" Pod ") != std::string::npos;
      const bool is_own = change.ends_with(fmt::format("/{}-v{}", kube::name(now), number + 1));
      EXPECT_TRUE(is_roll || is_own || change.starts_with("changed ")) << change;
    }
    for (const auto& [key, state] : old_world) {
      if (key.find(" ReplicaSet ") != std::string::npos || key.find(" Pod ") != std::string::npos) continue;
      const auto uid = [](const std::string& text) { return text.substr(0, text.find(" generation")); };
      if (new_world.contains(key)) EXPECT_EQ(uid(new_world.at(key)), uid(state)) << key << " was made anew";
    }
    ++played;
  }
  fmt::print("edited after a takeover: {}\n", played);
  if (only_ == nullptr && corpus_stride() == 1) EXPECT_GT(played, 5U);
}

/// Of all objects but those that live by the clock.
std::map<std::string, std::string> versions(const Plane& plane) {
  std::map<std::string, std::string> found;
  for (const char* cluster : {kHub, kWorker}) {
    for (const std::string& ns : {std::string(), std::string("shop"), std::string("vela-system")}) {
      for (const Value& one : plane.all(cluster, ns)) {
        if (kube::kind(one) == "Lease" || kube::kind(one) == "Event") continue;
        found[fmt::format("{} {} {}/{}", cluster, kube::kind(one), ns, kube::name(one))] = kube::revision(one);
      }
    }
  }
  return found;
}

constexpr const char* kLease = R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kubevela, namespace: vela-system}
spec: {holderIdentity: kubevela-vela-core-0_abc, leaseDurationSeconds: 15}
)";

Value reference(const char* kind, const char* name) {
  const std::string version = std::string_view(kind) == "Deployment"  ? "apps/v1"
                              : std::string_view(kind) == "ConfigMap" ? "v1"
                                                                      : kOam;
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "shop"}, {"name", name}});
}

void renew(Plane& plane) {
  const Value lease = yaml(kLease).with_path({"spec", "renewTime"}, to_rfc3339_micro(plane.now()));
  ASSERT_EQ(plane.apply(lease, "vela-system"), "");
}

TEST(TakeoverStory, waits_for_kubevela_to_end_then_goes_on_with_the_same_objects) {
  Plane before(&image(), {.has_families = false});
  for (const char* ns : {"shop", "vela-system"}) before.make_namespace(ns);
  leave_shop([&](const Value& object) { return before.store(kHub, object, kKubeVela); });
  ASSERT_TRUE(before.pass(minutes{1}));
  const std::string uid(kube::uid(before.find(kHub, reference("Deployment", "web"))));
  const Image stopped = before.image();

  // KubeVela still leads: nothing is written, not even after an edit.
  Plane plane(&stopped, {.acts_as = delivery::ActsAs::Controller});
  renew(plane);
  ASSERT_TRUE(plane.pass(seconds{2}));
  Value app = plane.find(kHub, reference("Application", "shop"));
  const Value old_run = app["status"]["workflow"];
  const auto old_versions = versions(plane);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(plane.pass(seconds{5}));
    renew(plane);
  }
  EXPECT_EQ(versions(plane), old_versions);

  // It ends. What it was about to delete goes; the rest stays as it is.
  ASSERT_TRUE(plane.pass(minutes{2}));
  EXPECT_TRUE(plane.find(kHub, reference("ConfigMap", "old")).is_null());
  app = plane.find(kHub, reference("Application", "shop"));
  EXPECT_EQ(app["status"]["latestRevision"]["name"].as_string(), "shop-v1");
  EXPECT_EQ(app["status"]["workflow"]["steps"].item(0)["id"], old_run["steps"].item(0)["id"]);
  EXPECT_EQ(app["status"]["workflow"]["startTime"], old_run["startTime"]);
  Value web = plane.find(kHub, reference("Deployment", "web"));
  EXPECT_EQ(kube::uid(web), uid);
  EXPECT_EQ(kube::generation(web), 1);

  // The next edit: what is left out goes, although KubeVela had set it; the object without a name keeps the one it has.
  Value edit = shop_application();
  const Value component = yaml(
      "{name: web, type: webservice, properties: {image: 'nginx:2', env: [{name: KEPT, value: a}]}, traits: [{type: note, "
      "properties: {text: two}}]}");
  edit = edit.with_path({"spec", "components"}, json::array({component}));
  ASSERT_EQ(plane.apply(edit, "shop"), "");
  ASSERT_TRUE(plane.pass(minutes{3}));
  app = plane.find(kHub, reference("Application", "shop"));
  EXPECT_EQ(app["status"]["latestRevision"]["name"].as_string(), "shop-v2");
  EXPECT_EQ(phase_of(app), "running") << json::print(app["status"]);
  web = plane.find(kHub, reference("Deployment", "web"));
  EXPECT_EQ(kube::uid(web), uid);
  const Value& container = web["spec"]["template"]["spec"]["containers"].item(0);
  EXPECT_EQ(container["image"].as_string(), "nginx:2");
  EXPECT_EQ(container["env"].size(), 1U) << json::print(container["env"]);
  EXPECT_EQ(plane.find(kHub, reference("ConfigMap", "web-note-7c9f86b4d5"))["data"]["text"].as_string(), "two");

  ASSERT_EQ(plane.remove(reference("Application", "shop")), "");
  ASSERT_TRUE(plane.pass(minutes{1}));
  for (const char* name : {"shop", "shop-v1-shop"}) {
    EXPECT_TRUE(
        plane.find(kHub, reference(name == std::string_view("shop") ? "Application" : "ResourceTracker", name)).is_null());
  }
  EXPECT_TRUE(plane.find(kHub, reference("Deployment", "web")).is_null());
  EXPECT_TRUE(plane.find(kHub, reference("ConfigMap", "web-note-7c9f86b4d5")).is_null());
}

}  // namespace
}  // namespace slipway::oracle_test
