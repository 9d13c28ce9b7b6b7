#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::error_of;
using testing::Inputs;
using testing::Library;
using testing::render;
using testing::rendered;
using testing::yaml;

constexpr const char* kConfigMap = R"CUE(
output: {
	apiVersion: "v1"
	kind:       "ConfigMap"
	data: {for k, v in parameter {"\(k)": "\(v)"}}
}
parameter: {...}
)CUE";

Library with_config() {
  Library library;
  library.add(DefinitionKind::Component, "config", kConfigMap);
  return library;
}

/// A trait with this template on a component of type config, rendered.
testing::Outcome with_trait(const std::string& text, const Value& spec = json::object({}), const Inputs& inputs = {},
                            const std::string& properties = "{}") {
  Library library = with_config();
  library.add(DefinitionKind::Trait, "tried", text, spec);
  return render(library,
                "{name: web, type: config, properties: {a: 1}, traits: [{type: tried, properties: " + properties + "}]}",
                inputs);
}

TEST(Render, workload_has_the_names_and_labels_of_upstream) {
  Inputs inputs;
  inputs.context.app_labels = json::object({{"team", "blue"}, {"app.oam.dev/name", "not me"}});
  inputs.context.app_annotations = json::object({{"note", "x"}, {"filter.oam.dev/label-keys", ""}});
  EXPECT_EQ(rendered(render(with_config(), "{name: web, type: config@v2, properties: {a: 1}}", inputs)).workload, yaml(R"(
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: prod
  labels:
    app.oam.dev/name: shop
    app.oam.dev/namespace: prod
    app.oam.dev/component: web
    app.oam.dev/appRevision: shop-v3
    app.oam.dev/resourceType: WORKLOAD
    workload.oam.dev/type: config-v2
    team: blue
  annotations: {note: x}
data: {a: "1"}
)"));
}

TEST(Render, filters_keep_labels_and_annotations_of_the_application_away) {
  Inputs inputs;
  inputs.context.app_labels = json::object({{"team", "blue"}, {"tier", "a"}});
  inputs.context.app_annotations = json::object({{"filter.oam.dev/label-keys", "team, none"},
                                                 {"filter.oam.dev/annotation-keys", "note"},
                                                 {"note", "x"},
                                                 {"kubectl.kubernetes.io/last-applied-configuration", "{}"},
                                                 {"kept", "y"}});
  const Value workload = rendered(render(with_config(), "{name: web, type: config}", inputs)).workload;
  EXPECT_FALSE(workload["metadata"]["labels"].has("team"));
  EXPECT_EQ(kube::label(workload, "tier"), "a");
  EXPECT_EQ(workload["metadata"]["annotations"], json::object({{"kept", "y"}}));
}

TEST(Render, objects_beside_the_workload_say_who_made_them) {
  Library library = with_config();
  library.add(DefinitionKind::Component, "two", std::string(kConfigMap) + R"(
outputs: own: {apiVersion: "v1", kind: "Secret", metadata: name: "own"}
)");
  library.add(DefinitionKind::Trait, "adds",
              R"(outputs: more: {apiVersion: "v1", kind: "Service", metadata: {name: "more", namespace: "there"}})");
  auto made = rendered(render(library, "{name: web, type: two, traits: [{type: adds}]}"));
  ASSERT_EQ(made.others.size(), 2u);
  EXPECT_EQ(kube::label(made.others[0].object, "trait.oam.dev/type"), "AuxiliaryWorkload");
  EXPECT_EQ(kube::label(made.others[0].object, "trait.oam.dev/resource"), "own");
  EXPECT_EQ(made.others[0].trait, "");
  EXPECT_EQ(kube::label(made.others[1].object, "trait.oam.dev/type"), "adds");
  EXPECT_EQ(kube::label(made.others[1].object, "trait.oam.dev/resource"), "more");
  EXPECT_EQ(kube::label(made.others[1].object, "app.oam.dev/resourceType"), "TRAIT");
  EXPECT_EQ(kube::ns(made.others[1].object), "there");
  EXPECT_EQ(made.others[1].trait, "adds");
}

TEST(Render, topology_namespace_wins_except_for_namespaces_and_the_control_plane) {
  Inputs inputs;
  inputs.context.target_namespace = "elsewhere";
  const char* text = R"(outputs: {
	in: {apiVersion: "v1", kind: "Service", metadata: {name: "in", namespace: "there"}}
	ns: {apiVersion: "v1", kind: "Namespace", metadata: name: "ns"}
})";
  auto made = rendered(with_trait(text, json::object({}), inputs));
  EXPECT_EQ(kube::ns(made.workload), "elsewhere");
  EXPECT_EQ(kube::ns(made.others[0].object), "elsewhere");
  EXPECT_EQ(kube::ns(made.others[1].object), "");
  made = rendered(with_trait(text, json::object({{"controlPlaneOnly", true}}), inputs));
  EXPECT_EQ(kube::ns(made.others[0].object), "prod");
  EXPECT_TRUE(made.others[0].is_control_plane_only);
}

TEST(Render, unnamed_objects_keep_their_name_across_revisions) {
  const char* text = R"(outputs: x: {apiVersion: "v1", kind: "Service", spec: v: parameter.v})";
  auto name_of = [&](const char* properties, const char* revision) {
    Inputs inputs;
    inputs.context.app_revision = revision;
    return std::string(kube::name(rendered(with_trait(text, json::object({}), inputs, properties)).others[0].object));
  };
  const std::string first = name_of("{v: 1}", "shop-v1");
  EXPECT_TRUE(first.starts_with("web-tried-")) << first;
  EXPECT_EQ(name_of("{v: 1}", "shop-v2"), first);
  EXPECT_NE(name_of("{v: 2}", "shop-v1"), first);
}

TEST(Render, traits_see_what_those_before_them_made) {
  Library library = with_config();
  library.add(DefinitionKind::Trait, "first", R"(
patch: data: b: "2"
outputs: s: {apiVersion: "v1", kind: "Secret", metadata: name: "s"}
)");
  library.add(DefinitionKind::Trait, "second", R"(
patch: data: seen: context.output.data.b + context.outputs.s.metadata.name + context.componentType + context.parameter.a
patchOutputs: s: type: "Opaque"
patchOutputs: none: type: "Opaque"
)");
  auto made =
      rendered(render(library, "{name: web, type: config, properties: {a: x}, traits: [{type: first}, {type: second}]}"));
  EXPECT_EQ(made.workload["data"], yaml("{a: x, b: '2', seen: 2sconfigx}"));
  EXPECT_EQ(made.others[0].object["type"].as_string(), "Opaque");
}

TEST(Render, markers_of_patches_count) {
  Library library;
  library.add(DefinitionKind::Component, "list",
              R"(output: {apiVersion: "v1", kind: "X", l: [{name: "a", v: 1}], num: 1, m: {k: 1, gone: 1}})");
  struct Row {
    const char* patch;
    const char* expected;
  };
  const Row rows[] = {
      {"// +patchKey=name\npatch: l: [{name: \"a\", w: 2}, {name: \"b\"}]",
       "{l: [{name: a, v: 1, w: 2}, {name: b}], num: 1, m: {k: 1, gone: 1}}"},
      {"patch: {\n\t// +patchStrategy=retainKeys\n\tnum: 2\n}", "{l: [{name: a, v: 1}], num: 2, m: {k: 1, gone: 1}}"},
      {"patch: {\n\t// +patchStrategy=replace\n\tl: [{name: \"c\"}]\n}", "{l: [{name: c}], num: 1, m: {k: 1, gone: 1}}"},
      {"// +patchStrategy=jsonMergePatch\npatch: {num: 3, m: gone: null}", "{l: [{name: a, v: 1}], num: 3, m: {k: 1}}"},
      {"// +patchStrategy=jsonPatch\npatch: {operations: [{op: \"remove\", path: \"/m/gone\"}]}",
       "{l: [{name: a, v: 1}], num: 1, m: {k: 1}}"},
  };
  for (const Row& row : rows) {
    library.add(DefinitionKind::Trait, "tried", row.patch);
    const Value workload = rendered(render(library, "{name: web, type: list, traits: [{type: tried}]}")).workload;
    const Value left = workload.without("metadata").without("apiVersion").without("kind");
    EXPECT_EQ(left, yaml(row.expected)) << row.patch;
  }
}

TEST(Render, step_patches_come_after_all_traits) {
  Inputs inputs;
  inputs.patch = yaml("{workload: {data: {late: yes-sir}}, traits: {s: {type: Opaque}, none: {a: 1}}}");
  auto made =
      rendered(with_trait(R"(outputs: s: {apiVersion: "v1", kind: "Secret", metadata: name: "s"})", json::object({}), inputs));
  EXPECT_EQ(made.workload["data"], yaml("{a: '1', late: yes-sir}"));
  EXPECT_EQ(made.others[0].object["type"].as_string(), "Opaque");
  inputs.patch = yaml("{workload: {data: {a: '2'}}}");
  EXPECT_EQ(error_of(render(with_config(), "{name: web, type: config, properties: {a: 1}}", inputs)),
            "component web: the patch of output does not apply: data.a: conflicting values \"2\" and \"1\"");
}

TEST(Render, post_dispatch_traits_wait_for_the_live_workload) {
  const Value spec = json::object({{"stage", "PostDispatch"}});
  const char* text =
      R"(outputs: x: {apiVersion: "v1", kind: "Service", metadata: name: context.output.status.ip + context.outputs.o.v})";
  auto made = rendered(with_trait(text, spec));
  EXPECT_TRUE(made.others.empty());
  EXPECT_EQ(made.pending_traits, std::vector<std::size_t>{0});
  Inputs inputs;
  inputs.live = yaml("{output: {status: {ip: a}}, outputs: {o: {v: b}}}");
  made = rendered(with_trait(text, spec, inputs));
  EXPECT_TRUE(made.pending_traits.empty());
  ASSERT_EQ(made.others.size(), 1u);
  EXPECT_EQ(kube::name(made.others[0].object), "ab");
  EXPECT_EQ(made.others[0].stage, Stage::PostDispatch);
  EXPECT_EQ(made.others[0].object["metadata"]["labels"], yaml(R"({app.oam.dev/name: shop, app.oam.dev/namespace: prod,
    app.oam.dev/component: web, app.oam.dev/appRevision: shop-v3, trait.oam.dev/type: tried, trait.oam.dev/resource: x})"));
}

TEST(Render, traits_may_refer_to_the_workload_and_manage_it) {
  const Value spec = json::object({{"workloadRefPath", "spec.workloadRef"}, {"manageWorkload", true}});
  auto made = rendered(with_trait(R"(outputs: x: {apiVersion: "v1", kind: "Rollout", metadata: name: "r"})", spec));
  EXPECT_TRUE(made.workload.is_null());
  EXPECT_TRUE(made.is_workload_managed);
  EXPECT_EQ(made.others[0].object["spec"], yaml("{workloadRef: {apiVersion: v1, kind: ConfigMap, name: web}}"));
  EXPECT_EQ(kube::label(made.others[0].object, "trait.oam.dev/manage-workload"), "true");
}

TEST(Render, templates_of_old_add_lists_and_take_parameters) {
  Library library;
  library.add(DefinitionKind::Component, "old", R"(
output: {apiVersion: "v1", kind: "X", args: ["a"] + parameters.args}
parameters: args: [...string]
)");
  EXPECT_EQ(rendered(render(library, "{name: web, type: old, properties: {args: [b]}}")).workload["args"],
            json::array({"a", "b"}));
  EXPECT_EQ(error_of(render(library, "{name: web, type: old, properties: {args: [1]}}")),
            "component web: parameter.args.0: must be string, but is 1");
}

TEST(Context, has_every_key_of_upstream) {
  Inputs inputs;
  inputs.context.cluster = "east";
  inputs.context.cluster_version = yaml("{major: '1', minor: 33+, gitVersion: v1.33.4+k, platform: linux/amd64}");
  inputs.context.publish_version = "p1";
  inputs.context.workflow_name = "w1";
  inputs.context.custom = yaml("{a: 1}");
  inputs.context.components = yaml("[{name: web, type: config}]");
  ComponentSpec component;
  component.name = "web";
  component.type = "config";
  component.replica_key = "r1";
  component.properties = yaml("{a: 1}");
  const Value context = component_context(component, inputs.context);
  EXPECT_EQ(context.without("revision"), yaml(R"(
name: web
namespace: prod
appName: shop
appRevision: shop-v3
appRevisionNum: 3
appLabels: {}
appAnnotations: {}
components: [{name: web, type: config}]
replicaKey: r1
publishVersion: p1
workflowName: w1
cluster: east
clusterVersion: {major: "1", minor: 33, gitVersion: v1.33.4+k, platform: linux/amd64}
parameter: {a: 1}
custom: {a: 1}
)"));
  EXPECT_EQ(context["revision"].as_string().size(), 16u);
  inputs.context.target_namespace = "elsewhere";
  EXPECT_EQ(component_context(component, inputs.context)["namespace"].as_string(), "elsewhere");
}

}  // namespace
}  // namespace slipway::delivery::application
