// What an editor of one namespace can do through Applications: nothing that the editor could not do. Each way to reach beyond
// the namespace is played twice, by an administrator, to see that it is one, and by the editor.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using User = std::shared_ptr<const kube::UserInfo>;

constexpr std::string_view kPrize = "words-of-another-team";

User user(const std::string& name, std::vector<std::string> groups) {
  groups.emplace_back("system:authenticated");
  return std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = name, .uid = "", .groups = std::move(groups), .extra = {}});
}
const User kEditor = user("ann", {"dev"});
const User kAdmin = user("root", {"system:masters"});

/// What stands before any user tries anything: the rights of the editor, and what is not the editor's.
constexpr const char* kWorld[] = {
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: edit, namespace: team}, roleRef: "
    "{apiGroup: "
    "rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, "
    "name: ann}]}",
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: prize, namespace: elsewhere}, data: {text: words-of-another-team}}",
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: victim, namespace: elsewhere}, data: {a: b}}",
    // A component whose message shows what it sees of its object.
    R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: shows, namespace: team}, spec: {workload: {
      type: autodetects.core.oam.dev}, status: {customStatus: "message: context.output.data.text"}, schematic: {cue: {template: "
      output: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"prize\", namespace: \"elsewhere\"}}\n
      parameter: {}\n"}}}})y",
    // A step that does whatever it is told.
    R"y({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: deletes, namespace: team}, spec: {
      schematic: {cue: {template: "import \"vela/kube\"\n
      it: kube.#Delete & {$params: value: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"victim\", namespace:
      \"elsewhere\"}}}\nparameter: {}\n"}}}})y",
    R"y({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: lists, namespace: team}, spec: {
      schematic: {cue: {template: "import (\n\"vela/kube\"\n\"vela/builtin\"\n\"encoding/json\"\n)\n
      it: kube.#List & {$params: {resource: {apiVersion: \"v1\", kind: \"ConfigMap\"}, filter: namespace: \"elsewhere\"}}\n
      told: builtin.#Message & {$params: message: json.Marshal(it.$returns)}\nparameter: {}\n"}}}})y",
    R"y({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: patches, namespace: team}, spec: {
      schematic: {cue: {template: "import \"vela/kube\"\n
      it: kube.#Patch & {$params: {value: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"victim\", namespace:
      \"elsewhere\"}}, patch: data: more: \"patched\"}}\nparameter: {}\n"}}}})y",
};

struct Way {
  const char* name;
  const char* spec;  // of an Application
};

constexpr Way kWays[] = {
    {"a component with an object elsewhere",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "new, "
     "namespace: elsewhere}}]}}]}"},
    {"a component with an object of the whole cluster",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: "
     "ClusterRoleBinding, metadata: {name: all}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "
     "cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]}]}}]}"},
    {"a right that the editor lacks, in the own namespace",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: "
     "RoleBinding, metadata: {name: all}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "
     "cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]}]}}]}"},
    {"taking an object over",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "victim, "
     "namespace: elsewhere}, data: {a: taken}}]}}], policies: [{name: t, type: take-over, properties: {rules: [{selector: "
     "{componentNames: [c]}}]}}]}"},
    {"sharing an object",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "victim, "
     "namespace: elsewhere}, data: {a: shared}}]}}], policies: [{name: t, type: shared-resource, properties: {rules: "
     "[{selector: "
     "{resourceTypes: [ConfigMap]}}]}}]}"},
    {"a health policy that shows an object that is only read",
     "{components: [{name: c, type: shows, properties: {}}], policies: [{name: r, type: read-only, properties: {rules: "
     "[{selector: {resourceTypes: [ConfigMap]}}]}}]}"},
    {"a reference to an object elsewhere",
     "{components: [{name: c, type: ref-objects, properties: {objects: [{resource: configmap, name: prize, namespace: "
     "elsewhere}]}}]}"},
    {"a topology with another namespace",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "new}}]}}], policies: [{name: t, type: topology, properties: {clusters: [local], namespace: elsewhere}}]}"},
    {"a topology with another cluster",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "new}}]}}], policies: [{name: t, type: topology, properties: {clusters: [cluster-worker]}}]}"},
    {"a step that applies",
     "{components: [], workflow: {steps: [{name: s, type: apply-object, properties: {value: {apiVersion: v1, kind: ConfigMap, "
     "metadata: {name: new, namespace: elsewhere}}}}]}}"},
    {"a step that applies to another cluster",
     "{components: [], workflow: {steps: [{name: s, type: apply-object, properties: {cluster: cluster-worker, value: "
     "{apiVersion: "
     "v1, kind: ConfigMap, metadata: {name: new, namespace: team}}}}]}}"},
    {"a step that reads",
     "{components: [], workflow: {steps: [{name: s, type: read-object, properties: {apiVersion: v1, kind: ConfigMap, name: "
     "prize, "
     "namespace: elsewhere}, outputs: [{name: got, valueFrom: 'output.$returns.value.data.text'}]}, {name: t, type: "
     "print-message-in-status, inputs: [{from: got, parameterKey: message}], properties: {message: ''}}]}}"},
    {"a step that lists", "{components: [], workflow: {steps: [{name: s, type: lists}]}}"},
    {"a step that deletes", "{components: [], workflow: {steps: [{name: s, type: deletes}]}}"},
    {"a step that patches", "{components: [], workflow: {steps: [{name: s, type: patches}]}}"},
    {"a step that exports",
     "{components: [], workflow: {steps: [{name: s, type: export2config, properties: {configName: new, namespace: elsewhere, "
     "data: "
     "{a: b}}}]}}"},
    {"a step that stores a config",
     "{components: [], workflow: {steps: [{name: s, type: create-config, properties: {name: new, namespace: elsewhere, config: "
     "{a: b}}}]}}"},
    {"a step that makes an Application",
     "{components: [], workflow: {steps: [{name: s, type: apply-object, properties: {value: {apiVersion: core.oam.dev/v1beta1, "
     "kind: Application, metadata: {name: inner, annotations: {app.oam.dev/username: root, app.oam.dev/group: "
     "'system:masters'}, namespace: team}, spec: {components: [{name: c, type: k8s-objects, properties: {objects: "
     "[{apiVersion: "
     "v1, kind: ConfigMap, metadata: {name: new, namespace: elsewhere}}]}}]}}}}]}}"},
};

/// What must not change, and what must not be seen.
class IdentityWorld {
 public:
  IdentityWorld() : plane_(&image()) {
    for (const char* ns : {"team", "elsewhere"}) plane_.make_namespace(ns);
    for (const char* object : kWorld) EXPECT_EQ(plane_.apply(yaml(object), "team"), "") << object;
    EXPECT_TRUE(plane_.pass(std::chrono::seconds{1}));
    before_ = foreign_state();
  }

  /// As kubectl apply by a user who also claims to be another. The refusal of the server, or "".
  std::string apply(const std::string& spec, const User& as) {
    const Value application =
        yaml(
            "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a, namespace: team, annotations: "
            "{app.oam.dev/username: root, app.oam.dev/group: 'system:masters'}}}")
            .with("spec", yaml(spec));
    return plane_.apply(application, "team", as);
  }
  std::string apply_object(const char* object, const User& as) { return plane_.apply(yaml(object), "team", as); }
  std::string apply_run(const Value& workflow, const User& as) {
    const Value run =
        yaml(
            "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: a, namespace: team, annotations: "
            "{app.oam.dev/username: root, app.oam.dev/group: 'system:masters'}}}")
            .with("spec", json::object({{"workflowSpec", workflow}}));
    return plane_.apply(run, "team", as);
  }
  /// As kubectl annotate does it: the spec stays.
  std::string publish(const std::string& version, const User& as) {
    const Value application = this->application();
    return plane_.apply(application.with("metadata", json::object({{"name", "a"}, {"namespace", "team"}}))
                            .with_path({"metadata", "annotations"}, json::object({{"app.oam.dev/publishVersion", version}}))
                            .without("status"),
                        "team", as);
  }
  bool pass(Duration time) { return plane_.pass(time); }
  Value find(const char* reference) const { return plane_.find(kHub, yaml(reference)); }
  /// As kubectl patch by a user. The refusal of the server, or "".
  std::string merge(const char* reference, const char* patch, const User& as) {
    return plane_.merge(yaml(reference), yaml(patch), as);
  }
  /// As `vela workflow restart`.
  std::string restart(const User& as) {
    return plane_.merge(yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team, name: a}"),
                        yaml("{status: {workflow: null}}"), as, "status");
  }
  Value application() const {
    return plane_.find(kHub, yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team, name: a}"));
  }

  /// Objects that are not the editor's and were made, changed or deleted since.
  std::set<std::string> changed() const {
    const auto now = foreign_state();
    std::set<std::string> all;
    for (const auto& [what, state] : now) {
      if (!before_.contains(what) || before_.at(what) != state) all.insert(what);
    }
    for (const auto& [what, state] : before_) {
      if (!now.contains(what)) all.insert(what);
    }
    return all;
  }
  /// Whether something that the editor may read has words of the other team in it.
  bool is_seen() const {
    for (const Value& object : plane_.all(kHub, "team")) {
      if (json::print(object).contains(kPrize)) return true;
    }
    return false;
  }

 private:
  std::map<std::string, std::string> foreign_state() const {
    std::map<std::string, std::string> state;
    for (const auto& [cluster, ns] : {std::pair{kHub, "elsewhere"}, {kHub, ""}, {kWorker, "team"}, {kWorker, "elsewhere"}}) {
      for (const Value& object : plane_.all(cluster, ns)) put(state, cluster, object);
    }
    for (const Value& object : plane_.all(kHub, "team")) {
      if (object["kind"].as_string() == "RoleBinding") put(state, kHub, object);
    }
    return state;
  }
  /// The trackers of the own applications are the controller's.
  static void put(std::map<std::string, std::string>& state, const std::string& cluster, const Value& object) {
    const std::string kind = object["kind"].str();
    if (kind == "ResourceTracker" || kind == "Node" || kind == "Event" || kind == "Lease") return;
    state[fmt::format("{} {} {}/{}", cluster, kind, kube::ns(object), kube::name(object))] =
        json::print(object["data"]) + json::print(object["spec"]) + json::print(object["metadata"]["labels"]) +
        json::print(object["metadata"]["annotations"]);
  }

  Plane plane_;
  std::map<std::string, std::string> before_;
};

TEST(Identity, an_editor_reaches_nothing_beyond_the_namespace_through_an_application) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    IdentityWorld of_admin;
    ASSERT_EQ(of_admin.apply(way.spec, kAdmin), "");
    of_admin.pass(std::chrono::minutes{1});
    EXPECT_TRUE(!of_admin.changed().empty() || of_admin.is_seen()) << json::print(of_admin.application()["status"]);

    IdentityWorld world;
    ASSERT_EQ(world.apply(way.spec, kEditor), "");
    world.pass(std::chrono::minutes{1});
    EXPECT_EQ(world.changed(), std::set<std::string>{});
    EXPECT_FALSE(world.is_seen());
    EXPECT_EQ(kube::annotation(world.application(), "app.oam.dev/username"), "ann");
  }
}

/// The steps of those ways, as a WorkflowRun of its own.
TEST(Identity, an_editor_reaches_nothing_beyond_the_namespace_through_a_workflow_run) {
  for (const Way& way : kWays) {
    const Value steps = yaml(way.spec)["workflow"];
    if (steps.is_null()) continue;
    SCOPED_TRACE(way.name);
    IdentityWorld of_admin, world;
    ASSERT_EQ(of_admin.apply_run(steps, kAdmin), "");
    of_admin.pass(std::chrono::minutes{1});
    EXPECT_TRUE(!of_admin.changed().empty() || of_admin.is_seen());
    ASSERT_EQ(world.apply_run(steps, kEditor), "");
    world.pass(std::chrono::minutes{1});
    EXPECT_EQ(world.changed(), std::set<std::string>{});
    EXPECT_FALSE(world.is_seen());
  }
}

TEST(Identity, an_editor_delivers_in_the_own_namespace) {
  IdentityWorld world;
  ASSERT_EQ(world.apply("{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, "
                        "metadata: {name: new}}]}}]}",
                        kEditor),
            "");
  world.pass(std::chrono::minutes{1});
  EXPECT_EQ(world.application()["status"]["status"].as_string(), "running") << json::print(world.application()["status"]);
}

TEST(Identity, what_an_administrator_delivered_stays_when_an_editor_takes_the_application_over) {
  IdentityWorld world;
  ASSERT_EQ(world.apply(kWays[0].spec, kAdmin), "");
  world.pass(std::chrono::minutes{1});
  const auto delivered = world.changed();
  ASSERT_FALSE(delivered.empty());
  ASSERT_EQ(world.apply("{components: [{name: d, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, "
                        "metadata: {name: own}}]}}]}",
                        kEditor),
            "");
  world.pass(std::chrono::minutes{1});
  EXPECT_EQ(world.changed(), delivered) << "an object elsewhere is not the editor's to delete";
}

/// What an Application takes from its namespace, as its own writer wrote it and as another changes it.
struct Part {
  const char* name;
  const char* spec;  // of an Application
  const char* before;
  const char* after;  // with which something elsewhere is written
  bool is_of_definition = false;
};

constexpr Part kParts[] = {
    {"the Workflow", "{components: [], workflow: {ref: wf}}",
     "{apiVersion: core.oam.dev/v1alpha1, kind: Workflow, metadata: {name: wf}, steps: [{name: s, type: apply-object, "
     "properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: team}}}}]}",
     "{apiVersion: core.oam.dev/v1alpha1, kind: Workflow, metadata: {name: wf, annotations: {app.oam.dev/username: root}}, "
     "steps: [{name: s, type: apply-object, properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: new, "
     "namespace: elsewhere}}}}]}"},
    {"a Policy",
     "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
     "inside}}]}}], workflow: {steps: [{name: d, type: deploy, properties: {policies: [place]}}]}}",
     "{apiVersion: core.oam.dev/v1alpha1, kind: Policy, metadata: {name: place}, type: topology, properties: {clusters: "
     "[local]}}",
     "{apiVersion: core.oam.dev/v1alpha1, kind: Policy, metadata: {name: place}, type: topology, properties: {clusters: "
     "[cluster-worker]}}"},
    {"a ComponentDefinition", "{components: [{name: c, type: tried, properties: {}}]}",
     R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: tried}, spec: {workload: {type:
       autodetects.core.oam.dev}, schematic: {cue: {template: "output: {apiVersion: \"v1\", kind: \"ConfigMap\"}\nparameter: {}
       \n"}}}})y",
     R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: tried}, spec: {workload: {type:
       autodetects.core.oam.dev}, schematic: {cue: {template: "output: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name:
       \"new\", namespace: \"elsewhere\"}}\nparameter: {}\n"}}}})y",
     true},
    {"a template of configurations",
     "{components: [], workflow: {steps: [{name: s, type: create-config, properties: {name: made, template: team/tried, "
     "config: "
     "{}}}]}}",
     R"y({apiVersion: v1, kind: ConfigMap, metadata: {name: config-template-tried}, data: {template: "template: {\nparameter: {}\n
       output: {apiVersion: \"v1\", kind: \"Secret\"}\n}\n"}})y",
     R"y({apiVersion: v1, kind: ConfigMap, metadata: {name: config-template-tried}, data: {template: "template: {\nparameter: {}\n
       output: {apiVersion: \"v1\", kind: \"Secret\"}\noutputs: it: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata:
       {name: \"new\", namespace: \"elsewhere\"}}\n}\n"}})y"},
};

TEST(Identity, what_another_wrote_reaches_nothing_beyond_the_namespace_with_the_rights_of_the_writer) {
  for (const Part& part : kParts) {
    SCOPED_TRACE(part.name);
    for (const User& second : {kAdmin, kEditor}) {
      IdentityWorld world;
      ASSERT_EQ(world.apply_object(part.before, kAdmin), "");
      ASSERT_EQ(world.apply(part.spec, kAdmin), "");
      world.pass(std::chrono::minutes{1});
      EXPECT_EQ(world.application()["status"]["status"].as_string(), "running") << json::print(world.application()["status"]);
      EXPECT_EQ(world.changed(), std::set<std::string>{});
      ASSERT_EQ(world.apply_object(part.after, second), "");
      ASSERT_EQ(world.publish("second", second), "");
      world.pass(std::chrono::minutes{1});
      EXPECT_EQ(kube::annotation(world.application(), "app.oam.dev/username"), "root");
      EXPECT_EQ(world.changed().empty(), second == kEditor) << json::print(world.application()["status"]);
      const bool is_told = json::print(world.application()["status"]).contains(" was written by ann, and the ");
      EXPECT_EQ(is_told, second == kEditor) << json::print(world.application()["status"]);
    }
  }
}

constexpr const char* kNested =
    R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: tried}, spec: {workload: {type:
       autodetects.core.oam.dev}, schematic: {cue: {template: "
       output: {apiVersion: \"core.oam.dev/v1beta1\", kind: \"Application\", metadata: {name: \"nested\", namespace: \"team\"},
       spec: components: [{name: \"c\", type: \"k8s-objects\", properties: objects: [{apiVersion: \"v1\", kind: \"ConfigMap\",
       metadata: {name: \"new\", namespace: \"elsewhere\"}}]}]}\nparameter: {}\n"}}}})y";
constexpr const char* kBinds =
    R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: tried}, spec: {workload: {type:
       autodetects.core.oam.dev}, schematic: {cue: {template: "
       output: {apiVersion: \"rbac.authorization.k8s.io/v1\", kind: \"RoleBinding\", metadata: {name: \"mine\", namespace:
       \"team\"}, roleRef: {apiGroup: \"rbac.authorization.k8s.io\", kind: \"ClusterRole\", name: \"cluster-admin\"},
       subjects: [{apiGroup: \"rbac.authorization.k8s.io\", kind: \"User\", name: \"ann\"}]}\nparameter: {}\n"}}}})y";
constexpr const char* kTried = "{components: [{name: c, type: tried, properties: {}}]}";

TEST(Identity, what_another_wrote_is_done_with_the_rights_of_both) {
  for (const char* definition : {kNested, kBinds}) {
    IdentityWorld control;
    ASSERT_EQ(control.apply_object(definition, kAdmin), "");
    ASSERT_EQ(control.apply(kTried, kAdmin), "");
    control.pass(std::chrono::minutes{1});
    EXPECT_FALSE(control.changed().empty()) << "the administrator's own definition does it";
    IdentityWorld world;
    ASSERT_EQ(world.apply_object(definition, kEditor), "");
    ASSERT_EQ(world.apply(kTried, kAdmin), "");
    world.pass(std::chrono::minutes{1});
    EXPECT_EQ(world.changed(), std::set<std::string>{}) << json::print(world.application()["status"]);
  }
}

TEST(Identity, an_object_that_acts_for_users_is_narrowed_by_those_whose_content_made_it) {
  IdentityWorld world;
  ASSERT_EQ(world.apply_object(kNested, kEditor), "");
  ASSERT_EQ(world.apply(kTried, kAdmin), "");
  world.pass(std::chrono::minutes{1});
  const Value nested = world.find("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team, name: nested}");
  EXPECT_EQ(kube::annotation(nested, "app.oam.dev/username"), "root");
  EXPECT_EQ(kube::annotation(nested, "slipway.dev/content-authors"),
            R"([{"user":"ann","groups":["dev","system:authenticated"]}])");
  EXPECT_TRUE(json::print(nested["status"]).contains("ann")) << json::print(nested["status"]);
  // Whoever takes the annotation away, or adds one, has no effect on it.
  ASSERT_EQ(world.merge("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team, name: nested}",
                        "{metadata: {annotations: {slipway.dev/content-authors: null}}}", kEditor),
            "");
  const Value after = world.find("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team, name: nested}");
  EXPECT_EQ(kube::annotation(after, "slipway.dev/content-authors"), kube::annotation(nested, "slipway.dev/content-authors"));
}

TEST(Identity, a_published_version_of_an_earlier_author_is_delivered_with_the_rights_of_both) {
  constexpr const char* kElsewhere =
      "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "new, "
      "namespace: elsewhere}}]}}]}";
  constexpr const char* kHarmless =
      "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "inside}}]}}]}";
  IdentityWorld world;
  ASSERT_EQ(world.apply(kElsewhere, kEditor), "");
  ASSERT_EQ(world.publish("p1", kEditor), "");
  world.pass(std::chrono::minutes{1});
  EXPECT_EQ(world.changed(), std::set<std::string>{});
  ASSERT_EQ(world.apply(kHarmless, kAdmin), "");
  world.pass(std::chrono::minutes{10});
  EXPECT_EQ(kube::annotation(world.application(), "app.oam.dev/username"), "root");
  EXPECT_EQ(world.changed(), std::set<std::string>{}) << "what the editor wrote";
}

TEST(Identity, a_run_does_not_believe_a_context_that_a_user_has_written) {
  constexpr const char* kSteps =
      "{components: [], workflow: {steps: [{name: a, type: suspend, properties: {duration: 1s}, outputs: [{name: word, "
      "valueFrom: "
      "context.name}]}, {name: nap, type: suspend, properties: {duration: 2m}}, {name: b, type: apply-object, properties: "
      "{value: {apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: team}}}, inputs: [{from: word, "
      "parameterKey: value.data.word}]}]}}";
  const char* made = "{apiVersion: v1, kind: ConfigMap, namespace: team, name: inside}";
  const char* context = "{apiVersion: v1, kind: ConfigMap, namespace: team, name: workflow-a-context}";
  IdentityWorld world;
  ASSERT_EQ(world.apply(kSteps, kAdmin), "");
  world.pass(std::chrono::seconds{30});
  ASSERT_TRUE(json::print(world.find(context)).contains("word")) << json::print(world.find(context));
  ASSERT_EQ(world.merge(context, R"y({data: {vars: '{"word":"of ann"}'}})y", kEditor), "");
  world.pass(std::chrono::minutes{10});
  // Neither what this process remembers, nor what it reads again, is what ann wrote.
  EXPECT_NE(world.find(made)["data"]["word"].as_string(), "of ann");
  ASSERT_EQ(world.restart(kAdmin), "");
  world.pass(std::chrono::minutes{10});
  EXPECT_EQ(world.application()["status"]["status"].as_string(), "running") << json::print(world.application()["status"]);
  EXPECT_EQ(world.find(made)["data"]["word"].as_string(), "a");
}

TEST(Identity, colleagues_share_what_stays_in_the_namespace) {
  IdentityWorld world;
  ASSERT_EQ(world.apply_object(kParts[0].before, kEditor), "");
  ASSERT_EQ(world.apply(kParts[0].spec, kAdmin), "");
  world.pass(std::chrono::minutes{1});
  EXPECT_EQ(world.application()["status"]["status"].as_string(), "running") << json::print(world.application()["status"]);
}

TEST(Identity, a_workflow_run_with_the_workflow_of_another_stays_in_the_namespace) {
  for (const User& first : {kAdmin, kEditor}) {
    IdentityWorld world;
    ASSERT_EQ(world.apply_object(kParts[0].after, first), "");
    ASSERT_EQ(world.apply_object("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: a}, spec: "
                                 "{workflowRef: wf}}",
                                 kAdmin),
              "");
    world.pass(std::chrono::minutes{1});
    EXPECT_EQ(world.changed().empty(), first == kEditor);
  }
}

TEST(Identity, revisions_are_written_by_the_controller) {
  IdentityWorld world;
  ASSERT_EQ(world.apply(kParts[0].spec, kEditor), "");
  const char* revision =
      "{apiVersion: core.oam.dev/v1beta1, kind: ApplicationRevision, metadata: {name: a-v1}, spec: "
      "{application: {metadata: {name: a}, spec: {components: []}}}}";
  EXPECT_NE(world.apply_object(revision, kEditor), "");
  EXPECT_EQ(world.apply_object(revision, kAdmin), "");
}

}  // namespace
}  // namespace slipway::oracle_test
