#include "delivery/jobflow/admission.h"

#include <gtest/gtest.h>

#include <random>

#include "delivery/jobflow/test_flow.h"

namespace slipway::delivery::jobflow {
namespace {

const std::string kTemplate = "templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\n";

/// "field: message" of each cause.
Names wrong(std::string_view spec) {
  Names out;
  for (const auto& cause : validate(workflow_of(spec), {})) out.push_back(cause.field + ": " + cause.message);
  return out;
}

Names with_steps(std::string_view steps) { return wrong(kTemplate + "steps: " + std::string(steps)); }

TEST(Validate, accepts_what_can_be_run) {
  EXPECT_EQ(wrong(kDiamond), Names{});
  EXPECT_EQ(with_steps("{'any text / at all …': {template: {name: t}, retry: {limit: 2}, timeoutSeconds: 5, tolerated: true}}"),
            Names{});
}

TEST(Validate, names_the_new_spelling_of_old_ones) {
  EXPECT_EQ(with_steps("{a: {template: {name: t}}, b: {template: {name: t}, dependencies: {dependencyIDs: [a]}}}"),
            (Names{"spec.steps[b].dependencies.dependencyIDs: Forbidden: the old spelling: write the names as a list, "
                   "spec.steps[b].dependencies: [\"a\"]"}));
  EXPECT_EQ(with_steps("{a: {objectReference: {kind: Workflow, name: x}}}"),
            (Names{"spec.steps[a].objectReference: Forbidden: the old spelling: write spec.steps[a].externalRef"}));
  EXPECT_EQ(with_steps("{a: {jobTemplate: {template: {spec: {containers: [{name: m}]}}}}}"),
            (Names{"spec.steps[a].jobTemplate.template: Forbidden: a JobSpec in place of a JobTemplateSpec is the old "
                   "spelling: write it "
                   "below spec.steps[a].jobTemplate.spec"}));
}

TEST(Validate, wants_exactly_one_of_the_kinds_of_step) {
  EXPECT_EQ(
      with_steps("{a: {}}"),
      (Names{
          "spec.steps[a]: Required value: exactly one of jobTemplate, template, objectTemplate and externalRef must be set"}));
  EXPECT_EQ(with_steps("{a: {template: {name: t}, externalRef: {apiVersion: batch/v1, kind: Job, name: x}}}"),
            (Names{"spec.steps[a]: Forbidden: only one of jobTemplate, template, objectTemplate and externalRef may be set"}));
  EXPECT_EQ(wrong("steps: {}"), (Names{"spec.steps: Required value: at least one step"}));
}

TEST(Validate, knows_templates_and_dependencies_by_name) {
  EXPECT_EQ(with_steps("{a: {template: {name: tt}}}"),
            (Names{"spec.steps[a].template.name: Invalid value: \"tt\": no such template; spec.templates has \"t\""}));
  EXPECT_EQ(with_steps("{build: {template: {name: t}}, b: {template: {name: t}, dependencies: [biuld]}}"),
            (Names{"spec.steps[b].dependencies[0]: Invalid value: \"biuld\": no such step; did you mean \"build\"?"}));
  EXPECT_EQ(with_steps("{a: {template: {name: t}, dependencies: [a]}}"),
            (Names{"spec.steps[a].dependencies[0]: Invalid value: \"a\": a step cannot depend on itself"}));
  EXPECT_EQ(
      with_steps("{a: {template: {name: t}, dependencies: [b]}, b: {template: {name: t}, dependencies: [a]}}"),
      (Names{"spec.steps[a].dependencies[0]: Invalid value: \"b\": a cycle of 2 steps, each waits for the next: a -> b -> a"}));
  EXPECT_EQ(with_steps("{a: {template: {name: t}, dependencies: b}}"),
            (Names{"spec.steps[a].dependencies: Invalid value: \"b\": must be of type array"}));
}

TEST(Validate, looks_into_job_templates) {
  const auto one = [](const char* spec) { return wrong(fmt::format("steps: {{a: {{jobTemplate: {{spec: {}}}}}}}", spec)); };
  EXPECT_EQ(one("{template: {spec: {containers: [{name: m}]}}}"),
            (Names{"spec.steps[a].jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
                   "\"Never\""}));
  EXPECT_EQ(
      one("{template: {spec: {restartPolicy: Always, containers: [{name: m}]}}}"),
      (Names{"spec.steps[a].jobTemplate.spec.template.spec.restartPolicy: Unsupported value: \"Always\": supported values: "
             "\"OnFailure\", \"Never\""}));
  EXPECT_EQ(one("{selector: {}, parallelism: -1, backoffLimit: 2.5, template: {spec: {restartPolicy: Never, containers: []}}}"),
            (Names{"spec.steps[a].jobTemplate.spec.selector: Forbidden: the Job gets its own selector",
                   "spec.steps[a].jobTemplate.spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
                   "spec.steps[a].jobTemplate.spec.backoffLimit: Invalid value: 2.5: must be an integer",
                   "spec.steps[a].jobTemplate.spec.template.spec.containers: Required value: at least one container"}));
}

TEST(Validate, keeps_numbers_in_range) {
  const auto causes = with_steps("{a: {template: {name: t}, timeoutSeconds: 0, retry: {limit: -1}}}");
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_TRUE(causes[0].starts_with("spec.steps[a].")) << causes[0];
  EXPECT_EQ(wrong(kTemplate + "parallelism: 0\nactiveDeadlineSeconds: -5\nsteps: {a: {template: {name: t}}}").size(), 2u);
}

TEST(Validate, asks_external_steps_for_what_they_need) {
  EXPECT_EQ(
      with_steps("{a: {externalRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}"),
      (Names{
          "spec.steps[a].until: Required value: Deployment has no end known to workflows: say which condition to wait for"}));
  EXPECT_EQ(with_steps("{a: {externalRef: {apiVersion: batch/v1, kind: Job, name: x, namespace: elsewhere, cluster: prod}}}"),
            Names{});
  EXPECT_EQ(with_steps("{a: {externalRef: {apiVersion: batch/v1, kind: Job, name: x, namespace: No}}}").size(), 1u);
  EXPECT_EQ(with_steps("{a: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: w}}}"),
            (Names{"spec.steps[a].externalRef.name: Invalid value: \"w\": a workflow cannot wait for itself"}));
  EXPECT_EQ(with_steps("{a: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: w, cluster: prod}}}"),
            Names{});
  EXPECT_EQ(with_steps("{a: {externalRef: {apiVersion: batch/v1, kind: Job, name: x}, retry: {limit: 1}}}").size(), 1u);
  EXPECT_EQ(with_steps("{a: {externalRef: {kind: Workflow, name: x}}, b: {externalRef: {kind: Job, name: z}}}"), Names{})
      << "both have a default version";
  EXPECT_EQ(with_steps("{a: {externalRef: {kind: Deployment, name: x}, until: {condition: Available}}}"),
            (Names{"spec.steps[a].externalRef.apiVersion: Required value: only a Workflow and a Job have a default"}));
  EXPECT_EQ(with_steps("{a: {template: {name: t}, until: {condition: Ready}}}"),
            (Names{"spec.steps[a].until: Forbidden: only for steps with externalRef or objectTemplate"}));
}

TEST(Validate, wants_the_selector_to_find_the_jobs) {
  EXPECT_EQ(
      wrong(kTemplate + "selector: {matchLabels: {app: x}}\nsteps: {a: {template: {name: t}}}"),
      (Names{
          "spec.templates[t].metadata.labels: Invalid value: {\"batch.slipway.dev/workflow\":\"w\"}: `selector` (app=x) does "
          "not match the labels of the template"}));
  EXPECT_EQ(
      wrong(kTemplate + "metadata: {labels: {app: x}}\nselector: {matchLabels: {app: x}}\nsteps: {a: {template: {name: t}}}"),
      Names{});
}

TEST(Validate, limits_names) {
  EXPECT_EQ(with_steps("{'': {template: {name: t}}}").size(), 1u);
  EXPECT_EQ(with_steps("{'" + std::string(254, 'x') + "': {template: {name: t}}}").size(), 1u);
  EXPECT_EQ(with_steps("{'" + std::string(253, 'x') + "': {template: {name: t}}}"), Names{});
}

TEST(Mutate, gives_the_workflow_its_own_selector_and_finalizer) {
  const Value made = workflow_of(kDiamond);
  EXPECT_EQ(made["spec"]["selector"]["matchLabels"][kWorkflowLabel].as_string(), "w");
  EXPECT_TRUE(kube::has_finalizer(made, kWorkflowFinalizer));
  const Value own = workflow_of(std::string(kDiamond) + "    selector: {matchLabels: {a: b}}\n");
  EXPECT_EQ(own["spec"]["selector"]["matchLabels"]["a"].as_string(), "b");
  // An apply that leaves it out keeps it.
  EXPECT_EQ(mutate(own.without_path({"spec", "selector"}), own)["spec"]["selector"], own["spec"]["selector"]);
  const std::string long_name(200, 'n');
  const Value with_long_name = workflow_of(kDiamond, long_name);
  EXPECT_LE(with_long_name["spec"]["selector"]["matchLabels"][kWorkflowLabel].as_string().size(), 63u);
  EXPECT_TRUE(validate(with_long_name, {}).empty());
}

// Whatever is in a spec, checking it ends with causes or with a program that plan() can run.

using Seed = std::mt19937_64;

Value random_value(Seed& seed) {
  switch (seed() % 10) {
    case 0:
      return Value();
    case 1:
      return Value(true);
    case 2:
      return Value(static_cast<std::int64_t>(seed()));
    case 3:
      return Value(-1.5);
    case 4:
      return Value("");
    case 5:
      return Value("one");
    case 6:
      return json::array({Value("two"), Value(3)});
    case 7:
      return json::object({{"name", "t"}, {"spec", Value()}});
    case 8:
      return json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"dependencyIDs", "x"}});
    default:
      return Value::empty_object();
  }
}

Value shaken(const Value& value, Seed& seed) {
  if (seed() % 12 == 0) return random_value(seed);
  if (value.is_array())
    return value.empty() ? value : value.with_item(seed() % value.size(), shaken(value.item(seed() % value.size()), seed));
  if (!value.is_object() || value.empty()) return value;
  std::size_t at = seed() % (value.size() + 1);
  for (auto [name, member] : value.members()) {
    if (at-- == 0) return value.with(name, shaken(member, seed));
  }
  static const Names fields = {"retry",   "until",    "externalRef", "jobTemplate", "template",   "trigger",
                               "suspend", "selector", "metadata",    "rerun",       "parallelism"};
  return value.with(fields[seed() % fields.size()], random_value(seed));
}

TEST(Validate, ends_well_on_any_spec) {
  int refused = 0;
  const Value whole = workflow_of(kDiamond).with_path({"metadata", "uid"}, "u");
  for (std::uint64_t number = 0; number < 4000; ++number) {
    Seed seed(number);
    Value workflow = whole;
    for (int i = 0; i < 3; ++i) workflow = workflow.with("spec", shaken(workflow["spec"], seed));
    workflow = mutate(workflow, {});
    refused += validate(workflow, {}).empty() ? 0 : 1;
    validate(workflow, whole);
    Observed observed;
    observed.workflow = workflow;
    observed.external = [](const Step& step) { return view_external(step, {}); };
    const Actions actions = plan(observed, Time{});
    EXPECT_TRUE(actions.status.has_value());
    if (actions.create.empty()) continue;
    const auto program = *Program::compile(workflow);
    for (const auto& one : actions.create)
      EXPECT_FALSE(kube::name(make_job(workflow, *program, one.step, one.attempt)).empty());
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3900);
}

// Updates -------------------------------------------------------------------------------------------------------------------

template <class Edit>
Names change(const Play& play, Edit edit) {
  Names out;
  const Value& old = play.workflow();
  for (const auto& cause : validate(mutate(old.with("spec", edit(old["spec"])), old), old))
    out.push_back(cause.field + ": " + cause.message);
  return out;
}

TEST(Update, pins_what_has_started_and_lets_the_rest_change) {
  Play play(kDiamond);
  play.step();
  EXPECT_EQ(change(play, [](Value spec) { return spec.with_path({"steps", "one", "tolerated"}, true); }),
            (Names{"spec.steps[one]: Forbidden: a step that has started may not be changed"}));
  EXPECT_EQ(change(play, [](Value spec) { return spec.without_path({"steps", "one"}); }).size(), 3u)
      << "and two dependencies dangle";
  EXPECT_EQ(
      change(play, [](Value spec) { return spec.with_path({"templates", "t", "spec", "backoffLimit"}, 3); }),
      (Names{"spec.templates[t]: Forbidden: step \"one\" has been started with this template: give the change a new name"}));
  EXPECT_EQ(change(play, [](Value spec) { return spec.with_path({"steps", "four", "tolerated"}, true); }), Names{});
  EXPECT_EQ(change(play, [](Value spec) { return spec.without_path({"steps", "four"}); }), Names{});
  EXPECT_EQ(
      change(play,
             [](Value spec) { return spec.with_path({"steps", "five"}, yaml("{template: {name: t}, dependencies: [one]}")); }),
      Names{});
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("suspend", true); }), Names{});
  EXPECT_EQ(
      change(play, [](Value spec) { return spec.with_path({"steps", "two", "dependencies"}, json::array({Value("four")})); })
          .size(),
      1u);
}

TEST(Update, keeps_the_selector) {
  Play play(kDiamond);
  EXPECT_EQ(change(play,
                   [](Value spec) {
                     return spec.with("selector",
                                      yaml("{matchExpressions: [{key: batch.slipway.dev/workflow, operator: Exists}]}"));
                   })
                .size(),
            1u);
}

TEST(Update, takes_only_a_rerun_of_a_finished_workflow) {
  Play play(kDiamond);
  play.run_to_end();
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("parallelism", 3); }),
            (Names{"spec.parallelism: Forbidden: the workflow has finished: only spec.rerun may be changed"}));
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("rerun", yaml("{id: r1, from: two}")); }), Names{});
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("rerun", yaml("{id: r1, from: nine}")); }),
            (Names{"spec.rerun.from: Invalid value: \"nine\": no such step"}));
}

TEST(Update, wants_a_new_id_and_an_ended_step_for_a_rerun) {
  Play play(kDiamond);
  play.step();
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("rerun", yaml("{id: r1, from: one}")); }),
            (Names{"spec.rerun: Forbidden: the workflow has not finished and step \"one\" has not ended"}));
  play.run_to_end();
  play.edit([](Value spec) { return spec.with("rerun", yaml("{id: r1, from: four}")); });
  play.run_to_end();
  EXPECT_EQ(change(play, [](Value spec) { return spec.with("rerun", yaml("{id: r1, from: two}")); }),
            (Names{"spec.rerun.id: Invalid value: \"r1\": a new rerun needs a new id"}));
}

TEST(Update, never_holds_up_status_metadata_or_deletion) {
  const Value broken = workflow_of("steps: {a: {dependencies: [a]}}");
  EXPECT_FALSE(validate(broken, {}).empty());
  EXPECT_TRUE(validate(broken.with_path({"metadata", "labels", "x"}, "y"), broken).empty());
  EXPECT_TRUE(
      validate(broken.with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z"), workflow_of(kDiamond)).empty());
}

}  // namespace
}  // namespace slipway::delivery::jobflow
