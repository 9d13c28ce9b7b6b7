// The recorded lives of Flux objects (flux.jsonl of the corpus), lived once more on a member cluster by a user in the place of
// Flux's controllers: what the view says of each state, through its caches, against what the recording says ran.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "base/corpus_test.h"
#include "delivery/pipeline/family.h"
#include "delivery/pipeline/gitops_clusters.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_controller.h"
#include "landscape.h"

namespace slipway::pipeline_test {
namespace {

constexpr const char* kMember = "dev";
constexpr const char* kSpace = "apps";

const delivery::Family& views_only() {
  static const delivery::Family made = [] {
    delivery::Family family = delivery::pipeline::family();
    family.controllers = [](const delivery::ControllerContext& context) {
      std::vector<std::unique_ptr<control::Controller>> all;
      all.push_back(std::make_unique<delivery::pipeline::GitopsClusterController>(context));
      all.push_back(std::make_unique<delivery::pipeline::ViewController>(context));
      return all;
    };
    return family;
  }();
  return made;
}

/// `status` as it is when the object has had `later` more generations than were recorded.
Value with_generations(const Value& status, std::int64_t later) {
  const auto moved = [&](const Value& of) {
    const Value& seen = of["observedGeneration"];
    return seen.is_int() && seen.as_int() > 0 ? of.with("observedGeneration", seen.as_int() + later) : of;
  };
  Value made = moved(status);
  if (!status["conditions"].is_array()) return made;
  json::ArrayBuilder conditions;
  for (const Value& one : status["conditions"].items()) conditions.add(moved(one));
  return made.with("conditions", conditions.build());
}

/// A hub with the view alone, and a member on which nothing works.
class LivesCorpus : public Landscape {
 protected:
  void SetUp() override {}

  void begin() {
    static const delivery::Family* const kFamilies[] = {&views_only()};
    ++life_;
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
    controllers_ = std::make_unique<plane::Controllers>(env_->env(), remotes());
    for (const char* name : {kMember, kHub}) {
      plane::ApiServer::Options options;
      options.store.path = fmt::format("/data/{}-{}.db", name, life_);
      options.simulates_flux = true;
      if (name == std::string_view(kMember)) options.families = {};
      auto api = env_->run(plane::ApiServer::open(*env_, options));
      ASSERT_TRUE(api) << api.error().message;
      clusters_[name].api = std::move(*api);
    }
    plane::Controllers::Options options{plane::PodRuntimeKind::None, "", {}};
    options.makes_cluster = false;
    options.families = kFamilies;
    controllers_->add(kHub, clusters_[kHub].api->server(), options);
    controllers_->start();
    join(kMember);
    make_namespace(kMember, kSpace);
  }

  /// Calls `on(state, key, row, say)` for each target and state that the recording speaks of.
  template <class On>
  void live(const Value& line, On on) {
    begin();
    std::set<std::string> targets;
    for (const Value& state : line["states"].items()) {
      for (const auto& [key, say] : state["say"].members()) targets.insert(std::string(key));
    }
    for (const std::string& key : targets) {
      const auto slash = key.find('/');
      apply(kHub, fmt::format("apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata: {{name: {0}}}\nspec:\n"
                              "  appRef: {{kind: {1}, name: {2}}}\n  environments: [{{name: e, targets: [{{namespace: {3}, "
                              "clusterRef: {{kind: GitopsCluster, name: {4}}}}}]}}]\n",
                              pipeline_of(key), key.substr(0, slash), key.substr(slash + 1), kSpace, kMember));
    }
    advance(seconds{10});
    Value says;
    for (std::size_t i = 0; i < line["states"].size(); ++i) {
      const Value& state = line["states"].item(i);
      for (const Value& path : state["gone"].items()) drop(path.str());
      for (const Value& object : state["set"].items()) put(object);
      if (state.has("say")) says = state["say"];
      advance(seconds{3});
      for (const auto& [key, say] : says.members()) {
        const Value status = get(kHub, delivery::pipeline::kPipelines, pipeline_of(std::string(key)))["status"];
        on(i, std::string(key), status["environments"]["e"]["targets"].item(0), say);
      }
    }
    close();
  }

 private:
  static std::string pipeline_of(const std::string& key) {
    std::string name = key;
    for (char& c : name) c = c == '/' ? '-' : static_cast<char>(std::tolower(c));
    return name;
  }

  kube::Resource resource_of(const Value& object) {
    const auto mapped = env_->run(kinds_.find_for(client(kMember), kMember, object));
    EXPECT_TRUE(mapped) << mapped.error().message;
    return mapped ? mapped->resource : kube::Resource{};
  }

  /// As a user with two writes: the object, and its status.
  void put(const Value& recorded) {
    const kube::Resource resource = resource_of(recorded);
    if (!kube::ns(recorded).empty() && kube::ns(recorded) != kSpace) space(std::string(kube::ns(recorded)));
    const Value now = get(kMember, resource, std::string(kube::name(recorded)), std::string(kube::ns(recorded)));
    Value wanted = recorded.without("status");
    for (const char* own : {"uid", "generation", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "ownerReferences", "managedFields"}) {
      wanted = wanted.without_path({"metadata", own});
    }
    // The recording leaves out what the view does not read.
    const Value& labels = wanted["spec"]["template"]["metadata"]["labels"];
    if (!labels.is_null()) wanted = wanted.with_path({"spec", "selector", "matchLabels"}, labels);
    auto made = now.is_null()
                    ? env_->run(client::create(client(kMember), resource, wanted, "flux"))
                    : env_->run(client::update(
                          client(kMember), resource,
                          wanted.with_path({"metadata", "resourceVersion"}, now["metadata"]["resourceVersion"]), "flux"));
    ASSERT_TRUE(made) << made.error().message << json::print(recorded);
    if (recorded.has("status")) {
      const std::int64_t later = kube::generation(*made) - kube::generation(recorded);
      made = env_->run(client::update_status(client(kMember), resource,
                                             made->with("status", with_generations(recorded["status"], later)), "flux"));
      ASSERT_TRUE(made) << made.error().message << json::print(recorded);
    }
    known_[fmt::format("{}/{}/{}", kube::kind(recorded), kube::ns(recorded), kube::name(recorded))] = resource;
    if (!kube::is_deleting(recorded) || kube::is_deleting(*made)) return;
    static_cast<void>(env_->run(
        client::remove(client(kMember), resource, {std::string(kube::ns(recorded)), std::string(kube::name(recorded))})));
  }

  void space(const std::string& name) {
    if (get(kMember, kube::kNamespaces, name, "").is_null()) make_namespace(kMember, name);
  }

  void drop(const std::string& path) {
    const auto first = path.find('/');
    const auto second = path.find('/', first + 1);
    const kube::ObjectKey key{path.substr(first + 1, second - first - 1), path.substr(second + 1)};
    const kube::Resource resource = known_.at(path);
    const Value now = get(kMember, resource, key.name, key.ns);
    if (!now["metadata"]["finalizers"].empty()) {
      static_cast<void>(
          env_->run(client::update(client(kMember), resource, now.without_path({"metadata", "finalizers"}), "flux")));
    }
    static_cast<void>(env_->run(client::remove(client(kMember), resource, key)));
  }

  std::map<std::string, kube::Resource> known_;
  int life_ = 0;
};

std::string difference(const Value& row, const Value& say) {
  std::string text;
  for (const char* name : {"specified", "attempted", "running"}) {
    const std::string_view got = row[name]["version"].as_string();
    if (got != say[name].as_string()) text += fmt::format("{} {}, not {}; ", name, got, say[name].as_string());
  }
  const bool is_ready = row["ready"].as_bool();
  if (is_ready && row["revision"].as_string() != say["ready_at"].as_string()) {
    text += fmt::format("ready at {}, not {}; ", row["revision"].as_string(), say["ready_at"].as_string());
  }
  return text;
}

TEST_F(LivesCorpus, the_view_says_of_recorded_states_what_ran_in_them) {
  std::ifstream in(corpus_path("pipelines/flux.jsonl"));
  if (!in) GTEST_SKIP() << "no corpus";
  // A life is some hundred states: all of them where bars are held, of others one in eight.
  const char* every = std::getenv("SLIPWAY_PIPELINE_LIVES");
  const std::size_t stride = every == nullptr ? 8 : std::strtoull(every, nullptr, 10);
  std::size_t number = 0, passed = 0, total = 0;
  for (std::string text; std::getline(in, text);) {
    if (number++ % stride != 0) continue;
    // Simulated Flux serves the newest versions of its kinds alone.
    if (text.contains("helm.toolkit.fluxcd.io/v2beta2")) continue;
    for (auto at = text.find("$NS"); at != std::string::npos; at = text.find("$NS", at)) text.replace(at, 3, kSpace);
    const Value line = json::parse(text).value();
    std::map<std::size_t, std::string> states;
    live(line, [&](std::size_t state, const std::string& key, const Value& row, const Value& say) {
      const std::string differs = difference(row, say);
      states[state] += differs.empty() ? "" : key + ": " + differs;
    });
    for (const auto& [state, differs] : states) {
      ++total;
      passed += differs.empty() ? 1 : 0;
      if (!differs.empty()) fmt::print("{}#{}: {}\n", line["id"].as_string(), state, differs);
    }
  }
  if (stride == 1) fmt::print("conformance: pipeline/values-view {}/{}\n", passed, total);
  EXPECT_GE(static_cast<double>(passed), 0.95 * static_cast<double>(total)) << passed << " of " << total;
}

}  // namespace
}  // namespace slipway::pipeline_test
