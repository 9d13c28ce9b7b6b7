// What users do to a run by writing its status, against the real server in virtual time: each operation, in both modes, in each
// state of a run, of an Application as of a WorkflowRun. Expected results are those of the notes on KubeVela's engine: a run
// that is suspended begins nothing and keeps what has begun, terminated steps fail with Terminate and what depends on them is
// skipped unless its `if` says otherwise, a restarted run begins from nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "base/digest.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::minutes;
using std::chrono::seconds;

/// Waits for the ConfigMap that it names.
constexpr const char* kGate = R"(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: gate}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        parameter: name: string
        read: op.#Read & {value: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: parameter.name, namespace: context.namespace}}}
        wait: op.#ConditionalWait & {continue: read.value.data != _|_, message: "no ConfigMap"}
)";
constexpr const char* kBroken = R"(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: broken}
spec: {schematic: {cue: {template: "a: 1 & 2"}}}
)";

/// The first step of a run, by the state that it brings the run to. Two more steps follow: b, and c with `if: always`.
const std::map<std::string, std::string> kStates = {
    {"waiting", "{name: a, type: gate, properties: {name: open}}"},
    {"suspending", "{name: a, type: suspend}"},
    {"retrying", "{name: a, type: broken}"},
    {"group",
     "{name: a, type: step-group, subSteps: [{name: x, type: gate, properties: {name: open}}, {name: z, type: suspend}]}"},
    {"succeeded", "{name: a, type: print-message-in-status, properties: {message: m}}"},
};

enum class Kind : std::uint8_t { Application, WorkflowRun };

std::unique_ptr<Plane> new_plane() {
  auto plane = std::make_unique<Plane>(&image());
  plane->make_namespace(kNamespace);
  for (const char* definition : {kGate, kBroken}) {
    const Value object = yaml(definition).with_path({"metadata", "namespace"}, "vela-system");
    EXPECT_EQ(plane->apply(object, ""), "");
  }
  plane->pass(seconds{3});
  return plane;
}

/// A run in a namespace, and what users do to it.
class Operations {
 public:
  Operations(Plane& plane, Kind kind, const std::string& mode, const std::string& state, std::string ns = kNamespace)
      : plane_(plane), kind_(kind), ns_(std::move(ns)) {
    plane_.make_namespace(ns_);
    const Value steps =
        yaml(fmt::format("[{}, {{name: b, type: print-message-in-status, dependsOn: [a], properties: {{message: m}}}}, "
                         "{{name: c, type: print-message-in-status, if: always, dependsOn: [b], properties: {{message: m}}}}]",
                         kStates.at(state)));
    const Value steps_mode = json::object({{"steps", mode}});
    const Value spec = kind == Kind::Application
                           ? json::object({{"components", Value::empty_array()},
                                           {"workflow", json::object({{"mode", steps_mode}, {"steps", steps}})}})
                           : json::object({{"mode", steps_mode}, {"workflowSpec", json::object({{"steps", steps}})}});
    const Value named = reference();
    EXPECT_EQ(plane_.apply(json::object({{"apiVersion", named["apiVersion"]},
                                         {"kind", named["kind"]},
                                         {"metadata", json::object({{"name", named["name"]}})},
                                         {"spec", spec}}),
                           ns_),
              "");
  }

  Value object() { return plane_.find(kHub, reference()); }
  Value reference() const {
    const bool is_application = kind_ == Kind::Application;
    return json::object({{"apiVersion", is_application ? "core.oam.dev/v1beta1" : "core.oam.dev/v1alpha1"},
                         {"kind", is_application ? "Application" : "WorkflowRun"},
                         {"namespace", ns_},
                         {"name", "r"}});
  }
  /// The status of the run itself.
  Value run() { return kind_ == Kind::Application ? object()["status"]["workflow"] : object()["status"]; }
  /// A merge patch of members of the run.
  std::string merge(const Value& members) {
    const Value patch = kind_ == Kind::Application ? json::object({{"workflow", members}}) : members;
    return plane_.write_status(reference(), PatchType::Merge, json::object({{"status", patch}}));
  }
  std::string restart() {
    const char* patch = kind_ == Kind::Application ? "{status: {workflow: null}}" : "{status: null}";
    return plane_.write_status(reference(), PatchType::Merge, yaml(patch));
  }
  void open_gate() {
    EXPECT_EQ(plane_.apply(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: open}, data: {a: b}}"), ns_), "");
  }

  /// "suspending S a:suspending/Suspend": the phase, S(uspended) T(erminated) F(inished), the steps.
  std::string shown() {
    const Value now = run();
    std::string flags;
    for (const auto& [member, letter] : {std::pair("suspend", 'S'), std::pair("terminated", 'T'), std::pair("finished", 'F')}) {
      if (now[member].as_bool()) flags += letter;
    }
    std::string text = now["status"].str() + (flags.empty() ? "" : " " + flags);
    for (const Value& step : steps_of(object()).items()) {
      text += fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
      if (step.has("reason")) text += "/" + step["reason"].str();
    }
    return text;
  }

 private:
  Plane& plane_;
  Kind kind_;
  std::string ns_;
};

void operate(Operations& on, const std::string& operation) {
  if (operation == "suspend") EXPECT_EQ(on.merge(yaml("{suspend: true}")), "");
  if (operation == "resume") EXPECT_EQ(on.merge(yaml("{suspend: false}")), "");
  if (operation == "terminate") EXPECT_EQ(on.merge(yaml("{terminated: true}")), "");
  if (operation == "restart") EXPECT_EQ(on.restart(), "");
  if (operation == "open") on.open_gate();
}

struct Row {
  std::string state;
  std::vector<std::string> operations;  // 10 s apart
  std::string expected;
  std::string in_dag;  // empty: the same
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"waiting", {}, "executing a:running/Wait", "executing a:running/Wait b:pending c:pending"},
      {"waiting", {"suspend"}, "suspending S a:running/Wait", "suspending S a:running/Wait b:pending c:pending"},
      {"waiting", {"suspend", "open"}, "suspending S a:running/Wait", "suspending S a:running/Wait b:pending c:pending"},
      {"waiting", {"suspend", "open", "resume"}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
      {"waiting", {"suspend", "terminate"}, "terminated TF a:failed/Terminate b:skipped/Skip c:succeeded", ""},
      {"waiting", {"resume"}, "executing a:running/Wait", "executing a:running/Wait b:pending c:pending"},
      {"waiting", {"terminate"}, "terminated TF a:failed/Terminate b:skipped/Skip c:succeeded", ""},
      {"waiting", {"terminate", "restart"}, "executing a:running/Wait", "executing a:running/Wait b:pending c:pending"},
      {"waiting", {"restart"}, "executing a:running/Wait", "executing a:running/Wait b:pending c:pending"},
      {"waiting", {"open"}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
      {"suspending", {}, "suspending S a:suspending/Suspend", "suspending S a:suspending/Suspend b:pending c:pending"},
      {"suspending", {"suspend"}, "suspending S a:suspending/Suspend", "suspending S a:suspending/Suspend b:pending c:pending"},
      {"suspending", {"resume"}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
      {"suspending", {"terminate"}, "terminated TF a:failed/Terminate b:skipped/Skip c:succeeded", ""},
      {"suspending", {"restart"}, "suspending S a:suspending/Suspend", "suspending S a:suspending/Suspend b:pending c:pending"},
      {"suspending",
       {"resume", "restart"},
       "suspending S a:suspending/Suspend",
       "suspending S a:suspending/Suspend b:pending c:pending"},
      {"retrying", {}, "executing a:failed/Execute", "executing a:failed/Execute b:pending c:pending"},
      {"retrying", {"suspend"}, "suspending S a:failed/Execute", "suspending S a:failed/Execute b:pending c:pending"},
      {"retrying", {"suspend", "resume"}, "executing a:failed/Execute", "executing a:failed/Execute b:pending c:pending"},
      {"retrying", {"terminate"}, "terminated TF a:failed/Terminate b:skipped/Skip c:succeeded", ""},
      {"retrying", {"restart"}, "executing a:failed/Execute", "executing a:failed/Execute b:pending c:pending"},
      {"group",
       {},
       "suspending S a:suspending x:running/Wait z:suspending/Suspend",
       "suspending S a:suspending x:running/Wait z:suspending/Suspend b:pending c:pending"},
      {"group",
       {"open"},
       "suspending S a:suspending x:succeeded z:suspending/Suspend",
       "suspending S a:suspending x:succeeded z:suspending/Suspend b:pending c:pending"},
      {"group",
       {"resume"},
       "executing a:running x:running/Wait z:succeeded",
       "executing a:running x:running/Wait z:succeeded b:pending c:pending"},
      {"group", {"resume", "open"}, "succeeded F a:succeeded x:succeeded z:succeeded b:succeeded c:succeeded", ""},
      {"group",
       {"terminate"},
       "terminated TF a:failed/Terminate x:failed/Terminate z:failed/Terminate b:skipped/Skip c:succeeded",
       ""},
      {"group",
       {"restart"},
       "suspending S a:suspending x:running/Wait z:suspending/Suspend",
       "suspending S a:suspending x:running/Wait z:suspending/Suspend b:pending c:pending"},
      {"succeeded", {}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
      {"succeeded", {"suspend"}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
      {"succeeded", {"terminate"}, "succeeded TF a:succeeded b:succeeded c:succeeded", ""},
      {"succeeded", {"restart"}, "succeeded F a:succeeded b:succeeded c:succeeded", ""},
  };
  return kRows;
}

/// A row in one mode, run.
struct RowRun {
  const Row& row;
  std::string mode;
  Operations on;
};

TEST(Operations, by_writes_of_the_status) {
  int count = 0;
  int passed = 0;
  for (const Kind kind : {Kind::Application, Kind::WorkflowRun}) {
    const auto plane = new_plane();
    std::deque<RowRun> runs;
    for (const Row& row : rows()) {
      for (const char* mode : {"StepByStep", "DAG"}) {
        runs.push_back({row, mode, Operations(*plane, kind, mode, row.state, fmt::format("ns-{}", runs.size()))});
      }
    }
    plane->pass(seconds{5});
    for (std::size_t i = 0; i < 3; ++i) {
      for (RowRun& one : runs) {
        if (i < one.row.operations.size()) operate(one.on, one.row.operations[i]);
      }
      plane->pass(seconds{10});
    }
    for (RowRun& one : runs) {
      const std::string expected = one.mode == "DAG" && !one.row.in_dag.empty() ? one.row.in_dag : one.row.expected;
      EXPECT_EQ(one.on.shown(), expected) << (kind == Kind::Application ? "Application" : "WorkflowRun") << " in mode "
                                          << one.mode << ", " << one.row.state << ": "
                                          << fmt::format("{}", fmt::join(one.row.operations, ", "));
      ++count;
      passed += one.on.shown() == expected ? 1 : 0;
    }
  }
  fmt::print("conformance: operations {}/{}\n", passed, count);
}

TEST(Operations, the_application_has_the_phase_of_its_run) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {{{}, "runningWorkflow"},
                                                                    {{"suspend"}, "workflowSuspending"},
                                                                    {{"terminate"}, "workflowTerminated"},
                                                                    {{"terminate", "restart"}, "runningWorkflow"},
                                                                    {{"open"}, "running"}};
  for (const auto& [operations, phase] : cases) {
    const auto plane = new_plane();
    Operations on(*plane, Kind::Application, "StepByStep", "waiting");
    plane->pass(seconds{5});
    for (const std::string& operation : operations) {
      operate(on, operation);
      plane->pass(seconds{5});
    }
    EXPECT_EQ(on.object()["status"]["status"].as_string(), phase) << fmt::format("{}", fmt::join(operations, ", "));
  }
}

/// The other ways to ask for a restart that the seed and clients use.
TEST(Operations, restart_by_any_write) {
  for (const char* way : {"json patch", "put", "seed"}) {
    const auto plane = new_plane();
    Operations on(*plane, Kind::Application, "StepByStep", "waiting");
    plane->pass(seconds{5});
    operate(on, "terminate");
    plane->pass(seconds{5});
    ASSERT_EQ(on.run()["status"].as_string(), "terminated");
    if (way == std::string("json patch")) {
      const Value patch = yaml("[{op: replace, path: /status/workflow, value: {}}]");
      EXPECT_EQ(plane->write_status(on.reference(), PatchType::Json, patch), "");
    } else if (way == std::string("put")) {
      const Value object = on.object().with_path({"status", "workflow"}, Value::empty_object());
      EXPECT_EQ(plane->write_status(on.reference(), {}, object), "");
    } else {
      const Value patch = yaml("{status: {phase: runningWorkflow, workflow: null}}");
      EXPECT_EQ(plane->write_status(on.reference(), PatchType::Merge, patch), "");
    }
    plane->pass(seconds{5});
    EXPECT_EQ(on.shown(), "executing a:running/Wait") << way;
  }
}

TEST(Operations, restart_by_annotation) {
  const auto plane = new_plane();
  Operations on(*plane, Kind::Application, "StepByStep", "succeeded");
  plane->pass(seconds{5});
  const auto annotate = [&](const char* value) {
    const Value application = on.object();
    EXPECT_EQ(plane->apply(
                  json::object(
                      {{"apiVersion", application["apiVersion"]},
                       {"kind", application["kind"]},
                       {"metadata", json::object({{"name", "r"},
                                                  {"annotations", json::object({{"app.oam.dev/restart-workflow", value}})}})}}),
                  kNamespace),
              "");
  };
  const auto began = [&] { return on.run()["startTime"].str(); };
  const std::string first = began();
  annotate("true");
  plane->pass(seconds{5});
  const std::string second = began();
  EXPECT_GT(second, first);
  EXPECT_EQ(kube::annotation(on.object(), "app.oam.dev/restart-workflow"), "");
  plane->pass(minutes{10});
  EXPECT_EQ(began(), second) << "once";
  annotate("1m");
  plane->pass(seconds{61});
  EXPECT_GT(began(), second);
  const std::string third = began();
  plane->pass(seconds{65});  // a minute from its end
  EXPECT_GT(began(), third) << "again and again";
  EXPECT_EQ(on.shown(), "succeeded F a:succeeded b:succeeded c:succeeded");
}

TEST(Operations, a_put_from_an_old_read_is_refused) {
  for (const Kind kind : {Kind::Application, Kind::WorkflowRun}) {
    const auto plane = new_plane();
    Operations on(*plane, kind, "StepByStep", "waiting");
    plane->pass(seconds{5});
    const Value old = on.object();
    EXPECT_EQ(on.merge(yaml("{suspend: true}")), "");
    plane->pass(seconds{1});
    EXPECT_TRUE(plane->write_status(on.reference(), {}, old).contains("has been modified"));
    EXPECT_EQ(on.run()["suspend"], Value(true));
  }
}

/// What a step reads wakes it at once, however long the run has waited and the pauses have grown.
TEST(Operations, a_change_of_what_a_step_reads_wakes_it) {
  for (const Kind kind : {Kind::Application, Kind::WorkflowRun}) {
    const auto plane = new_plane();
    Operations on(*plane, kind, "StepByStep", "waiting");
    plane->pass(minutes{10});
    on.open_gate();
    plane->pass(seconds{1});
    EXPECT_EQ(on.shown(), "succeeded F a:succeeded b:succeeded c:succeeded");
  }
}

/// #Export with type "patch": components that are applied later render with it, those of `deploy` too.
TEST(Steps, export_into_a_component) {
  constexpr const char* kExport = R"(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: set-env, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        e: op.#Export & {type: "patch", component: "web", value: spec: template: spec: containers: [{name: "web", env: [{name: "DB", value: "there"}]}]}
)";
  for (const char* apply : {"{name: b, type: apply-component, properties: {component: web}}", "{name: b, type: deploy}"}) {
    const auto plane = new_plane();
    EXPECT_EQ(plane->apply(yaml(kExport), ""), "");
    const Value application = yaml(fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: r}}, spec: {{components: [{{name: web, type: "
        "webservice, properties: {{image: nginx}}}}], workflow: {{steps: [{{name: a, type: set-env}}, {}]}}}}}}",
        apply));
    EXPECT_EQ(plane->apply(application, kNamespace), "");
    plane->pass(seconds{10});
    const Value made = plane->find(kHub, yaml("{apiVersion: apps/v1, kind: Deployment, namespace: c-oracle, name: web}"));
    const Value container = made["spec"]["template"]["spec"]["containers"].item(0);
    EXPECT_EQ(container["env"], yaml("[{name: DB, value: there}]")) << apply;
    EXPECT_EQ(container["image"], Value("nginx")) << apply;
  }
}

/// A step of stage pre-render changes the Application; what is rendered is what it says then, and no other object may be
/// changed.
TEST(Steps, pre_render_steps_change_the_application_only) {
  constexpr const char* kSetImage = R"cue(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: set-image, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        p: op.#Patch & {
          value: {apiVersion: "core.oam.dev/v1beta1", kind: "Application", metadata: {name: context.name, namespace: context.namespace}}
          patch: spec: {
            // +patchStrategy=replace
            components: [{name: "web", type: "webservice", properties: image: "nginx:2"}]
          }
        }
)cue";
  const auto application = [](const char* step) {
    return yaml(
        fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: r}}, spec: {{components: "
                    "[{{name: web, type: webservice, properties: {{image: 'nginx:1'}}}}], workflow: {{steps: [{{name: "
                    "b, type: apply-component, properties: {{component: web}}}}, {}]}}}}}}",
                    step));
  };
  const Value web = yaml("{apiVersion: apps/v1, kind: Deployment, namespace: c-oracle, name: web}");
  const Value reference = yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: c-oracle, name: r}");
  {
    const auto plane = new_plane();
    EXPECT_EQ(plane->apply(yaml(kSetImage), ""), "");
    EXPECT_EQ(plane->apply(application("{name: a, type: set-image, stage: pre-render}"), kNamespace), "");
    plane->pass(seconds{10});
    const Value made = plane->find(kHub, web);
    EXPECT_EQ(made["spec"]["template"]["spec"]["containers"].item(0)["image"], Value("nginx:2"));
    EXPECT_EQ(kube::annotation(made, "deployment.kubernetes.io/revision"), "1") << "the first image was never delivered";
    EXPECT_EQ(plane->find(kHub, reference)["status"]["latestRevision"]["name"], Value("r-v2"));
    EXPECT_EQ(plane->find(kHub, reference)["status"]["status"], Value("running"));
  }
  const auto plane = new_plane();
  EXPECT_EQ(
      plane->apply(application("{name: a, type: apply-object, stage: pre-render, properties: {value: {apiVersion: v1, kind: "
                               "ConfigMap, metadata: {name: other, namespace: c-oracle}}}}"),
                   kNamespace),
      "");
  plane->pass(seconds{5});
  const Value step = plane->find(kHub, reference)["status"]["workflow"]["steps"].item(0);
  EXPECT_TRUE(step["message"].as_string().contains("a step of stage pre-render may change the Application r only"))
      << json::print(step);
  EXPECT_TRUE(plane->find(kHub, yaml("{apiVersion: v1, kind: ConfigMap, namespace: c-oracle, name: other}")).is_null());
  EXPECT_TRUE(plane->find(kHub, web).is_null());
}

/// What was read from a Secret, and what was made from it, is kept in a Secret and nowhere else.
TEST(Steps, values_of_secrets_stay_in_secrets) {
  constexpr const char* kReader = R"cue(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: read-it, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        parameter: kind: string
        read: op.#Read & {value: {apiVersion: "v1", kind: parameter.kind, metadata: {name: "source", namespace: context.namespace}}}
        e: op.#Export & {value: "from-\(parameter.kind)": read.value.data.word}
)cue";
  constexpr const char* kPass = R"cue(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: pass-on, namespace: vela-system}
spec: {schematic: {cue: {template: "parameter: text: string, output: parameter.text + \"!\""}}}
)cue";
  const auto plane = new_plane();
  for (const char* definition : {kReader, kPass}) EXPECT_EQ(plane->apply(yaml(definition), ""), "");
  EXPECT_EQ(
      plane->apply(yaml("{apiVersion: v1, kind: Secret, metadata: {name: source}, stringData: {word: sesame}}"), kNamespace),
      "");
  EXPECT_EQ(plane->apply(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: source}, data: {word: plain}}"), kNamespace),
            "");
  const Value run = yaml(
      "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, spec: {workflowSpec: {steps: ["
      "{name: a, type: read-it, properties: {kind: Secret}, outputs: [{name: word, valueFrom: read.value.data.word}]},"
      "{name: b, type: read-it, properties: {kind: ConfigMap}, outputs: [{name: other, valueFrom: read.value.data.word}]},"
      "{name: c, type: pass-on, inputs: [{from: word, parameterKey: text}], outputs: [{name: passed, valueFrom: output}]},"
      "{name: d, type: suspend}]}}}");
  EXPECT_EQ(plane->apply(run, kNamespace), "");
  plane->pass(seconds{5});
  const auto object = [&](const char* kind) {
    return plane->find(kHub,
                       yaml(fmt::format("{{apiVersion: v1, kind: {}, namespace: c-oracle, name: workflow-r-context}}", kind)));
  };
  const std::string open = json::print(object("ConfigMap"));
  const std::string encoded = "c2VzYW1l";  // sesame
  EXPECT_FALSE(open.contains("sesame") || open.contains(encoded)) << open;
  EXPECT_TRUE(open.contains("plain")) << open;
  std::string vars;
  EXPECT_TRUE(base64_decode(object("Secret")["data"]["vars"].as_string(), vars));
  EXPECT_EQ(json::parse(vars).value_or(Value()),
            json::object({{"from-Secret", encoded}, {"word", encoded}, {"passed", encoded + "!"}}));
  const Value target =
      plane->find(kHub, yaml("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, namespace: c-oracle, name: r}"));
  EXPECT_EQ(phase_of(target), "suspending");
}

/// A step may say what it likes in its status, but not what it has read from a Secret.
TEST(Steps, messages_do_not_show_values_of_secrets) {
  constexpr const char* kSay = R"cue(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: say-it, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import ("vela/op", "encoding/base64")
        read: op.#Read & {value: {apiVersion: "v1", kind: "Secret", metadata: {name: "source", namespace: context.namespace}}}
        word: "\(base64.Decode(null, read.value.data.word))"
        say: op.#Message & {message: "Secret source says \(word), encoded \(read.value.data.word)"}
)cue";
  constexpr const char* kWait = R"cue(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: wait-for-it, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        parameter: text: string
        wait: op.#ConditionalWait & {continue: false, message: "waits for \(parameter.text)"}
)cue";
  const auto plane = new_plane();
  for (const char* definition : {kSay, kWait}) EXPECT_EQ(plane->apply(yaml(definition), ""), "");
  EXPECT_EQ(
      plane->apply(yaml("{apiVersion: v1, kind: Secret, metadata: {name: source}, stringData: {word: sesame}}"), kNamespace),
      "");
  const Value run = yaml(
      "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, spec: {workflowSpec: {steps: ["
      "{name: a, type: say-it, outputs: [{name: word, valueFrom: word}]},"
      "{name: b, type: wait-for-it, inputs: [{from: word, parameterKey: text}]}]}}}");
  EXPECT_EQ(plane->apply(run, kNamespace), "");
  plane->pass(seconds{5});
  const Value target =
      plane->find(kHub, yaml("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, namespace: c-oracle, name: r}"));
  const Value steps = target["status"]["steps"];
  EXPECT_EQ(steps.item(0)["message"].as_string(), "Secret source says (secret), encoded (secret)") << json::print(target);
  EXPECT_EQ(steps.item(1)["message"].as_string(), "waits for (secret)");
}

TEST(Operations, a_run_begins_once_what_it_names_is_there) {
  Plane plane(&image());
  plane.make_namespace(kNamespace);
  const Value run = yaml(
      "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, "
      "spec: {workflowRef: w, context: {name: text}}}");
  EXPECT_EQ(plane.apply(run, kNamespace), "");
  const Value reference = yaml("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, namespace: c-oracle, name: r}");
  const auto condition = [&] { return kube::condition(plane.find(kHub, reference), "WorkflowRun"); };
  const auto phase = [&] { return plane.find(kHub, reference)["status"]["status"].str(); };
  plane.pass(seconds{2});
  EXPECT_EQ(condition()["message"], Value("Workflow.core.oam.dev \"w\" not found"));
  EXPECT_EQ(condition()["reason"], Value("ReconcileError"));
  EXPECT_EQ(phase(), "initializing");
  const Value workflow = yaml(
      "{apiVersion: core.oam.dev/v1alpha1, kind: Workflow, metadata: {name: w}, mode: {steps: DAG}, steps: [{name: a, type: "
      "later}]}");
  EXPECT_EQ(plane.apply(workflow, kNamespace), "");
  plane.pass(seconds{2});
  EXPECT_TRUE(condition()["message"].as_string().contains("WorkflowStepDefinition.core.oam.dev \"later\" not found"));
  EXPECT_EQ(phase(), "initializing");
  const Value definition = yaml(
      "{apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: later}, spec: {schematic: {cue: {"
      "template: \"import \\\"vela/op\\\"\\nm: op.#Message & {message: context.name}\"}}}}");
  EXPECT_EQ(plane.apply(definition, kNamespace), "");
  plane.pass(seconds{2});
  EXPECT_EQ(condition()["status"], Value("True"));
  const Value status = plane.find(kHub, reference)["status"];
  EXPECT_EQ(status["mode"], yaml("{steps: DAG, subSteps: DAG}"));
  EXPECT_EQ(status["steps"].item(0)["message"], Value("text"));
  EXPECT_EQ(status["contextBackend"]["name"], Value("workflow-r-context"));
}

}  // namespace
}  // namespace slipway::oracle_test
