// Deliveries by real processes, through the real binary: verdicts, logs, explanations, reruns, interruptions, kill -9.
#include <fmt/format.h>

#include "program.h"

namespace slipway::cli {
namespace {

class Delivery : public CommandLine {
 protected:
  std::vector<std::string> run_arguments(const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"run", "-f", file, "--pod-runtime", "process", "--data-dir", data_dir()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string shared(const std::string& name) const { return (folder_ / name).string(); }
  /// How often a step ran: it appends a line to a file each time.
  std::size_t runs(const std::string& name) const {
    const std::string text = read_file(shared(name));
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(Delivery, runs_a_graph_in_order_and_exits_with_0) {
  const std::string file = write("w.yaml", shell_workflow("flow", {{"one", "echo one >>" + shared("log")},
                                                                   {"two", "echo two >>" + shared("log"), "one"},
                                                                   {"three", "echo three >>" + shared("log"), "two"}}));
  const Ended ended = slipway(run_arguments(file));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_EQ(read_file(shared("log")), "one\ntwo\nthree\n");
  EXPECT_NE(ended.out.find("workflow/flow two: Succeeded"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("on this machine"), std::string::npos) << "the process runtime says what it does";
}

TEST_F(Delivery, a_failure_exits_with_1_and_is_explained) {
  const std::string file =
      write("w.yaml",
            shell_workflow("flow", {{"good", "true"}, {"bad", "echo broken >&2; exit 3", "good"}, {"after", "true", "bad"}}));
  EXPECT_EQ(slipway(run_arguments(file)).code, 1);
  const Ended why = slipway({"why", "workflow/flow/after", "--data-dir", data_dir()});
  EXPECT_EQ(why.code, 0);
  EXPECT_NE(why.out.find("bad"), std::string::npos) << why.out;
  EXPECT_NE(why.out.find("root cause"), std::string::npos) << why.out;
  EXPECT_NE(why.out.find("exit code 3"), std::string::npos) << "the exit code is the root cause: " << why.out;
  EXPECT_EQ(slipway({"logs", "workflow/flow/bad", "--data-dir", data_dir()}).out, "broken\n");
  const Ended described = slipway({"describe", "workflow/flow", "--data-dir", data_dir()});
  EXPECT_NE(described.out.find("Unreachable"), std::string::npos) << described.out;
  EXPECT_NE(described.out.find("bad=Failed"), std::string::npos) << described.out;
}

TEST_F(Delivery, a_missing_command_fails_with_its_name) {
  std::string text = shell_workflow("flow", {{"only", "true"}});
  text.replace(text.find("- sh\n"), 4, "- frobnicate");
  EXPECT_EQ(slipway(run_arguments(write("w.yaml", text))).code, 1);
  const Ended why = slipway({"why", "workflow/flow", "--data-dir", data_dir()});
  EXPECT_NE(why.out.find("frobnicate"), std::string::npos) << why.out;
}

TEST_F(Delivery, why_names_what_controllers_elsewhere_wait_for) {
  const auto lease = [](const char* ns, const char* holder, const char* note) {
    return fmt::format(
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
        "metadata: {{name: slipway-controller, namespace: {}, annotations: {{slipway.dev/waits-for: \"{}\"}}}}\n"
        "spec: {{holderIdentity: \"{}\"}}\n---\n",
        ns, note, holder);
  };
  const std::string text = lease("default", "one", "controller job waits for jobs\\ncontroller pod waits for pods\\n") +
                           lease("kube-system", "", "nobody says this") + shell_workflow("flow", {{"only", "true"}});
  EXPECT_EQ(slipway(run_arguments(write("w.yaml", text))).code, 0);
  const Ended why = slipway({"why", "workflow/flow", "--data-dir", data_dir()});
  EXPECT_TRUE(why.out.starts_with("note: controller job waits for jobs\nnote: controller pod waits for pods\n")) << why.out;
  EXPECT_FALSE(why.out.contains("nobody")) << why.out;
}

TEST_F(Delivery, a_rerun_runs_the_step_and_what_depends_on_it_again) {
  const std::string gate = shared("gate");
  const std::string file = write("w.yaml", shell_workflow("flow", {{"a", "echo x >>" + shared("a")},
                                                                   {"b", "echo x >>" + shared("b") + "; test -e " + gate, "a"},
                                                                   {"c", "echo x >>" + shared("c"), "b"}}));
  EXPECT_EQ(slipway(run_arguments(file)).code, 1);
  std::ofstream(gate) << "open";
  const Ended rerun = slipway({"rerun", "workflow/flow", "--from", "b", "--data-dir", data_dir()});
  EXPECT_EQ(rerun.code, 0) << rerun.out << rerun.err;
  EXPECT_EQ(runs("a"), 1U);
  EXPECT_EQ(runs("b"), 2U);
  EXPECT_EQ(runs("c"), 1U);
}

TEST_F(Delivery, deleting_a_workflow_takes_its_jobs_and_pods_along) {
  EXPECT_EQ(slipway(run_arguments(write("w.yaml", shell_workflow("flow", {{"a", "true"}})))).code, 0);
  EXPECT_EQ(slipway({"delete", "workflow/flow", "--data-dir", data_dir()}).code, 0);
  for (const char* kind : {"workflows", "jobs", "pods"}) {
    EXPECT_NE(slipway({"get", kind, "--data-dir", data_dir()}).err.find("No resources found"), std::string::npos) << kind;
  }
}

TEST_F(Delivery, orphaned_jobs_stay) {
  EXPECT_EQ(slipway(run_arguments(write("w.yaml", shell_workflow("flow", {{"a", "true"}})))).code, 0);
  EXPECT_EQ(slipway({"delete", "workflow/flow", "--cascade", "orphan", "--data-dir", data_dir()}).code, 0);
  EXPECT_NE(slipway({"get", "jobs", "--data-dir", data_dir()}).out.find("flow-a"), std::string::npos);
}

/// A step that says it is running, then waits until a file appears; the pods themselves end when their time is up.
ShellStep waiting(const std::string& name, const std::string& log, const std::string& gate) {
  return {name, "echo started >>" + log + "; while [ ! -e " + gate + " ]; do sleep 0.02; done"};
}

TEST_F(Delivery, a_time_out_exits_with_3_and_the_same_command_goes_on) {
  const std::string file =
      write("w.yaml", shell_workflow("flow", {waiting("a", shared("a"), shared("gate")), {"b", "true", "a"}}));
  const Ended late = slipway(run_arguments(file, {"--timeout", "1s"}));
  EXPECT_EQ(late.code, 3) << late.out << late.err;
  std::ofstream(shared("gate")) << "open";
  const Ended again = slipway(run_arguments(file));
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST_F(Delivery, ctrl_c_stops_the_pods_and_the_same_command_goes_on) {
  const std::string trap = "trap 'echo stopped >>" + shared("a") + "; exit 1' TERM; ";
  ShellStep step = waiting("a", shared("a"), shared("gate"));
  step.script = trap + step.script;
  const std::string file = write("w.yaml", shell_workflow("flow", {step, {"b", "true", "a"}}));
  Program first(folder_, run_arguments(file));
  ASSERT_TRUE(first.wait_for_output("a: Running"));
  ASSERT_TRUE(eventually([&] { return runs("a") > 0; }));
  first.signal(SIGINT);
  const Ended stopped = first.wait();
  EXPECT_EQ(stopped.code, 130) << stopped.out << stopped.err;
  EXPECT_NE(read_file(shared("a")).find("stopped"), std::string::npos) << "pods get SIGTERM";
  std::ofstream(shared("gate")) << "open";
  const Ended again = slipway(run_arguments(file));
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST_F(Delivery, kill_9_loses_nothing_and_runs_nothing_twice) {
  const std::string file = write(
      "w.yaml", shell_workflow("flow", {waiting("a", shared("a"), shared("gate")), {"b", "echo x >>" + shared("b"), "a"}}));
  Program first(folder_, run_arguments(file));
  ASSERT_TRUE(first.wait_for_output("a: Running"));
  ASSERT_TRUE(eventually([&] { return runs("a") > 0; }));
  first.signal(SIGKILL);
  EXPECT_EQ(first.wait().code, 128 + SIGKILL);
  std::ofstream(shared("gate")) << "open";
  const Ended again = slipway(run_arguments(file));
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(runs("a"), 1U) << "the pod outlived slipway and was found again";
  EXPECT_EQ(runs("b"), 1U);
}

TEST_F(Delivery, a_killed_supervisor_fails_the_step_and_leaves_nothing_behind) {
  ShellStep step = waiting("a", shared("a"), shared("gate"));
  step.script = "setsid sh -c 'echo $$$$ >" + shared("child") + "; exec env -i sleep 1000' & " + step.script;
  const std::string file = write("w.yaml", shell_workflow("flow", {step}));
  Program run(folder_, run_arguments(file));
  ASSERT_TRUE(eventually([&] { return runs("a") > 0 && runs("child") > 0; }));
  const auto child = static_cast<pid_t>(std::stol(read_file(shared("child"))));
  for (const auto& pod : std::filesystem::directory_iterator(folder_ / "data" / "pods")) {
    std::istringstream state(read_file(pod.path() / "state"));
    std::string word;
    pid_t supervisor = 0;
    while (supervisor == 0 && state >> word) {
      if (word == "supervisor") state >> supervisor;
    }
    ASSERT_GT(supervisor, 0);
    kill(supervisor, SIGKILL);
  }
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_EQ(runs("a"), 1U) << "there is no retry against backoffLimit 0";
  const auto is_gone = [&] {
    const std::string stat = read_file("/proc/" + std::to_string(child) + "/stat");
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_gone)) << "a child without environment, in a session of its own";
  const Ended why = slipway({"why", "workflow/flow", "--data-dir", data_dir()});
  EXPECT_NE(why.out.find("PodSupervisorLost"), std::string::npos) << why.out;
}

TEST_F(Delivery, kill_9_at_many_moments_ends_well_every_time) {
  std::vector<ShellStep> steps;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "s" + std::to_string(i);
    steps.push_back({name, "echo x >>" + shared(name), i == 0 ? "" : "s" + std::to_string(i - 1)});
  }
  steps.back().script += "; while [ ! -e " + shared("gate") + " ]; do sleep 0.02; done";
  const std::string file = write("w.yaml", shell_workflow("flow", steps));
  int kills = 0;
  for (const char* moment : {"s0: Running", "s1: Running", "s2: Succeeded", "s3: Running", "s4: Running"}) {
    Program run(folder_, run_arguments(file));
    // One that was killed a little late has missed the moment; the last step does not end before the gate is open.
    if (!eventually([&] { return run.output().contains(moment) || runs("s5") > 0; })) break;
    run.signal(SIGKILL);
    kills += run.wait().code == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_EQ(kills, 5);
  std::ofstream(shared("gate")) << "open";
  const Ended ended = slipway(run_arguments(file));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(runs("s" + std::to_string(i)), 1U) << i;
}

TEST_F(Delivery, a_folder_in_use_can_be_read_but_not_written) {
  const std::string file = write("w.yaml", shell_workflow("flow", {waiting("a", shared("a"), shared("gate"))}));
  Program first(folder_, run_arguments(file));
  ASSERT_TRUE(first.wait_for_output("a: Running"));
  const Ended read = slipway({"get", "workflow/flow", "--data-dir", data_dir()});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_NE(read.out.find("Running"), std::string::npos) << read.out;
  const Ended second = slipway(run_arguments(file));
  EXPECT_EQ(second.code, 2) << second.out << second.err;
  EXPECT_NE(second.err.find("(pid " + std::to_string(first.pid()) + ")"), std::string::npos) << second.err;
  std::ofstream(shared("gate")) << "open";
  EXPECT_EQ(first.wait().code, 0);
}

TEST_F(Delivery, a_job_that_goes_by_itself_was_delivered_all_the_same) {
  const auto job = [](const std::string& name, const std::string& spec, const std::string& script) {
    return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + "}\nspec: {" + spec +
           "backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: m, image: none, command: [sh, -c, '" +
           script + "']}]}}}\n---\n";
  };
  for (const std::string code : {"0", "1"}) {
    const std::string gate = shared("gate" + code);
    const std::string text = job("brief", "ttlSecondsAfterFinished: 0, ", "exit " + code) +
                             job("long", "", "while [ ! -e " + gate + " ]; do sleep 0.02; done");
    std::filesystem::remove_all(data_dir());
    Program run(folder_, run_arguments(write("j.yaml", text)));
    EXPECT_TRUE(run.wait_for_output("job/brief: deleted")) << run.output();
    std::ofstream(gate) << "open";
    const Ended ended = run.wait();
    EXPECT_EQ(std::to_string(ended.code), code) << ended.out << ended.err;
  }
}

TEST_F(Delivery, what_a_deadline_ends_has_ended_when_the_run_has) {
  ShellStep step{"a", "trap 'sleep 0.2; echo gone >>" + shared("a") + "; exit 0' TERM; echo up >>" + shared("a") +
                          "; while :; do sleep 0.05; done"};
  std::string text = shell_workflow("flow", {step});
  Program first(folder_, run_arguments(write("w.yaml", text)));
  ASSERT_TRUE(eventually([&] { return runs("a") > 0; }));
  first.signal(SIGKILL);  // the pod stays
  first.wait();
  text.replace(text.find("spec:\n"), 6, "spec:\n  activeDeadlineSeconds: 1\n");
  const Ended ended = slipway(run_arguments(write("w.yaml", text)));
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_EQ(read_file(shared("a")), "up\ngone\n");
  EXPECT_NE(slipway({"get", "pods", "--data-dir", data_dir()}).err.find("No resources found"), std::string::npos);
}

TEST_F(Delivery, a_suspended_workflow_says_so) {
  std::string text = shell_workflow("flow", {{"a", "true"}});
  text.replace(text.find("spec:\n"), 6, "spec:\n  suspend: true\n");
  Program run(folder_, {"run", "-f", write("w.yaml", text)});
  EXPECT_TRUE(run.wait_for_output("workflow/flow: Suspended")) << run.output();
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
}

TEST_F(Delivery, a_large_graph_tells_how_far_it_is_and_what_failed) {
  std::string text = shell_workflow("flow", {{"a", "true"}});
  for (int i = 0; i < 1001; ++i) text += "    s" + std::to_string(i) + ": {dependencies: [a], template: {name: t}}\n";
  text +=
      "  templates: {t: {spec: {backoffLimit: 0, template: {metadata: {annotations: {slipway.dev/exit-code: \"1\"}}, spec: "
      "{restartPolicy: Never, containers: [{name: m, image: none}]}}}}}\n";
  const Ended ended = slipway({"run", "-f", write("w.yaml", text)});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.out.find("/1002 steps have ended"), std::string::npos) << ended.out.substr(0, 2000);
  EXPECT_NE(ended.out.find("workflow/flow s0: Failed BackoffLimitExceeded"), std::string::npos) << ended.out.substr(0, 2000);
}

TEST_F(Delivery, a_rerun_without_a_step_runs_all_again) {
  const std::string file =
      write("w.yaml", shell_workflow("flow", {{"a", "echo x >>" + shared("a")}, {"b", "echo x >>" + shared("b"), "a"}}));
  EXPECT_EQ(slipway(run_arguments(file)).code, 0);
  EXPECT_EQ(slipway({"rerun", "workflow/flow", "--from", "b", "--data-dir", data_dir()}).code, 0);
  EXPECT_EQ(slipway({"rerun", "workflow/flow", "--data-dir", data_dir()}).code, 0);
  EXPECT_EQ(runs("a"), 2U);
  EXPECT_EQ(runs("b"), 3U);
  EXPECT_EQ(slipway({"why", "workflow/flow/absent", "--data-dir", data_dir()}).code, 2);
}

TEST_F(Delivery, tells_only_of_what_it_delivers) {
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: lone}\nspec: {template: {spec: {restartPolicy: Never, "
      "containers: "
      "[{name: m, image: none, command: ['true']}]}}}\n";
  EXPECT_EQ(slipway(run_arguments(write("old.yaml", shell_workflow("old", {{"a", "true"}})))).code, 0);
  const Ended ended = slipway(run_arguments(write("new.yaml", shell_workflow("new", {{"a", "true"}}) + job)));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("job/lone: Complete"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("/old"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("job/new-a"), std::string::npos) << "a step is told once: " << ended.out;
}

TEST_F(Delivery, a_pod_of_its_own_is_followed_to_its_end) {
  const auto pod = [](const std::string& command) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: Never, containers: [{name: main, image: "
           "shell, "
           "command: [sh, -c, '" +
           command + "']}]}\n";
  };
  EXPECT_EQ(slipway(run_arguments(write("good.yaml", pod("exit 0")))).code, 0);
  std::filesystem::remove_all(data_dir());
  const Ended failed = slipway(run_arguments(write("bad.yaml", pod("exit 2"))));
  EXPECT_EQ(failed.code, 1) << failed.out << failed.err;
  EXPECT_NE(failed.out.find("pod/p: Failed"), std::string::npos) << failed.out;
}

TEST_F(Delivery, json_output_is_one_document) {
  const std::string file = write("w.yaml", shell_workflow("flow", {{"a", "true"}}));
  const Ended ended = slipway(run_arguments(file, {"-o", "json"}));
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(ended.out.starts_with("{")) << ended.out;
  EXPECT_NE(ended.err.find("a: Succeeded"), std::string::npos) << ended.err;
  const auto get = [&](const char* what) { return slipway({"get", what, "-o", "yaml", "--data-dir", data_dir()}).out; };
  EXPECT_TRUE(get("workflow/flow").starts_with("apiVersion: batch.slipway.dev/v1alpha1\nkind: Workflow\n"));
  EXPECT_TRUE(get("workflows").starts_with("apiVersion: v1\nkind: List\n"));
}

TEST_F(Delivery, the_example_of_the_readme_runs) {
  const Ended ended = slipway(run_arguments(std::string(SLIPWAY_SOURCE_DIR) + "/examples/release.yaml"));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("10 of 10 steps succeeded"), std::string::npos) << ended.out;
  EXPECT_NE(slipway({"logs", "workflow/release/report", "--data-dir", data_dir()}).out.find("words: ok"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
