// Recorded executions as oracles: the order respects the graph, the makespan without a limit is the critical path to the
// microsecond, and with k slots it is within the bounds of list scheduling. First the planner alone with Jobs that end on time,
// then the whole plane with simulated pods, both on a virtual clock.
#include <gtest/gtest.h>

#include <map>
#include <queue>

#include "base/corpus_sample_test.h"
#include "cluster/cluster.h"
#include "cluster/simulated_runtime.h"
#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/controller.h"
#include "delivery/jobflow/plan.h"
#include "instances.h"
#include "plane_fixture.h"

namespace slipway::jobflow_test {
namespace {

using namespace delivery::jobflow;

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

struct Execution {
  std::map<std::string, Span> spans;  // by task
  std::int64_t makespan = 0;
};

/// The planner as the controller uses it, with Jobs that run as long as the instance says.
Execution run_planner(const Instance& instance, std::int64_t parallelism) {
  Value workflow = mutate(
      json::object({{"apiVersion", kWorkflowKind.api_version()},
                    {"kind", kWorkflowKind.kind},
                    {"metadata", json::object({{"name", "w"}, {"namespace", "default"}, {"uid", "u"}, {"generation", 1}})},
                    {"spec", workflow_spec(instance, parallelism)}}),
      {});
  const auto program = Program::compile(workflow);
  SLIPWAY_CHECK(program.has_value());
  std::map<std::string, std::int64_t> micros;
  for (const auto& task : instance.tasks) micros[task.id] = task.micros;
  Flow flow(*program, workflow, {});
  using Ending = std::pair<std::int64_t, delivery::graph::StepIndex>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
  Execution run;
  const Time began{};
  std::int64_t clock = 0;
  for (;;) {
    flow.decide(began + Duration(clock));
    const Actions actions = flow.take(began + Duration(clock));
    for (const auto& one : actions.create) {
      const std::string& name = (*program)->name(one.step);
      run.spans[name] = {clock, clock + micros[name]};
      running.push({clock + micros[name], one.step});
      flow.see_job({.name = "j", .uid = "j", .step = name, .attempt = one.attempt, .reason = "", .message = ""});
    }
    if (running.empty()) break;
    clock = running.top().first;
    while (!running.empty() && running.top().first == clock) {
      flow.see_job({.name = "j",
                    .uid = "j",
                    .step = (*program)->name(running.top().second),
                    .attempt = 1,
                    .is_finished = true,
                    .reason = "",
                    .message = ""});
      running.pop();
    }
  }
  EXPECT_TRUE(flow.is_finished()) << instance.file;
  run.makespan = clock;
  return run;
}

void expect_sound(const Instance& instance, const Execution& run, std::int64_t parallelism) {
  ASSERT_EQ(run.spans.size(), instance.tasks.size()) << instance.file;
  std::map<std::int64_t, std::int64_t> change;  // moment → tasks begun minus tasks ended; an end comes before a beginning
  for (const auto& task : instance.tasks) {
    const Span& span = run.spans.at(task.id);
    EXPECT_EQ(span.end - span.start, task.micros) << instance.file << " " << task.id;
    for (std::size_t parent : task.parents) EXPECT_LE(run.spans.at(instance.tasks[parent].id).end, span.start) << instance.file;
    if (span.start == span.end) continue;
    ++change[span.start];
    --change[span.end];
  }
  const std::int64_t longest = critical_path(instance);
  if (parallelism == 0) {
    EXPECT_EQ(run.makespan, longest) << instance.file;
    return;
  }
  std::int64_t at_once = 0;
  for (const auto& [moment, difference] : change) {
    at_once += difference;
    EXPECT_LE(at_once, parallelism) << instance.file;
  }
  const std::int64_t work = total_work(instance);
  EXPECT_GE(run.makespan, std::max((work + parallelism - 1) / parallelism, longest)) << instance.file << " k=" << parallelism;
  EXPECT_LE(run.makespan, work / parallelism + longest) << instance.file << " k=" << parallelism;
}

int failures() {
  const auto* result = testing::UnitTest::GetInstance()->current_test_info()->result();
  int count = 0;
  for (int i = 0; i < result->total_part_count(); ++i) count += result->GetTestPartResult(i).failed() ? 1 : 0;
  return count;
}

TEST(PlannerConformance, recorded_executions_run_in_order_and_in_exact_time) {
  const std::string folder = instances_folder();
  if (folder.empty()) {
    fmt::print("skipped: corpus not found\n");
    GTEST_SKIP();
  }
  const auto instances = corpus_sample(read_instances(folder));
  EXPECT_GT(instances.size() * corpus_stride(), 40u);
  std::size_t passed = 0;
  for (const auto& instance : instances) {
    const int before = failures();
    for (const std::int64_t parallelism : {0, 8}) expect_sound(instance, run_planner(instance, parallelism), parallelism);
    passed += failures() == before ? 1 : 0;
  }
  fmt::print("conformance: wfinstances/planner {}/{}\n", passed, instances.size());
}

/// A plane whose parts are put together here, with controllers by themselves.
class PlaneConformance : public PlaneTest {
 public:
  void SetUp() override {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    auto api = env_->run(plane::ApiServer::open(*env_, options));
    ASSERT_TRUE(api) << api.error().message;
    api_ = std::move(*api);
    clusters_ = std::make_unique<control::OneCluster>("local", api_->server());
    runtime_ = std::make_unique<control::Runtime>(env_->env(), *clusters_);
    pods_ = std::make_unique<cluster::SimulatedRuntime>(env_->env());
    cluster::add_cluster_controllers(env_->env(), *runtime_, "local", {pods_.get()});
    runtime_->add("local", std::make_unique<WorkflowController>(env_->env()));
    runtime_->start();
  }
  void TearDown() override {
    env_->drop_all();
    runtime_.reset();
    api_.reset();
  }

  /// A new, empty world.
  void renew() {
    TearDown();
    disk_.restore({});
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
    SetUp();
  }

  Execution run(const Instance& instance, std::int64_t parallelism) {
    const Time began = now();
    auto made = create(kWorkflows, json::object({{"apiVersion", kWorkflowKind.api_version()},
                                                 {"kind", kWorkflowKind.kind},
                                                 {"metadata", json::object({{"name", "w"}, {"namespace", "default"}})},
                                                 {"spec", workflow_spec(instance, parallelism)}}));
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    const Value end = end_of("w", std::chrono::hours{24 * 365});
    EXPECT_TRUE(kube::is_true(end, "Complete")) << instance.file;
    Execution run;
    run.makespan = (now() - began).count();
    EXPECT_EQ(*kube::time_of(end["status"]["completionTime"]) - *kube::time_of(end["status"]["startTime"]), now() - began);
    read_spans(end["status"]["statuses"], began, run);
    for (const Value& set : list(kStepSets)) read_spans(set["spec"]["statuses"], began, run);
    return run;
  }

 private:
  static void read_spans(const Value& statuses, Time began, Execution& run) {
    for (auto [name, record] : statuses.members()) {
      run.spans[std::string(name)] = {(*kube::time_of(record["startTime"]) - began).count(),
                                      (*kube::time_of(record["completionTime"]) - began).count()};
    }
  }

  std::unique_ptr<cluster::SimulatedRuntime> pods_;
  std::unique_ptr<control::OneCluster> clusters_;
  std::unique_ptr<control::Runtime> runtime_;
};

/// Every step is a write of the whole workflow here, for no two tasks end at one moment: large instances take long in a build
/// for tests. $SLIPWAY_WFINSTANCES_MAX raises the limit.
std::size_t max_tasks() {
  const char* wanted = std::getenv("SLIPWAY_WFINSTANCES_MAX");
  return wanted != nullptr ? static_cast<std::size_t>(std::atoll(wanted)) : 110;
}

TEST_F(PlaneConformance, recorded_executions_run_in_order_and_in_exact_time) {
  const std::string folder = instances_folder();
  if (folder.empty()) {
    fmt::print("skipped: corpus not found\n");
    GTEST_SKIP();
  }
  std::vector<Instance> instances = corpus_sample(read_instances(folder));
  const std::size_t all = instances.size();
  std::erase_if(instances, [](const Instance& one) { return one.tasks.size() > max_tasks(); });
  bool is_first = true;
  std::size_t passed = 0;
  for (const auto& instance : instances) {
    const int before = failures();
    for (const std::int64_t parallelism : {0, 16}) {
      if (!std::exchange(is_first, false)) renew();
      expect_sound(instance, run(instance, parallelism), parallelism);
    }
    passed += failures() == before ? 1 : 0;
  }
  fmt::print("conformance: wfinstances/plane {}/{}\n", passed, instances.size());
  if (all > instances.size()) {
    fmt::print("{} instances of more than {} tasks ran through the planner only; SLIPWAY_WFINSTANCES_MAX runs them here too\n",
               all - instances.size(), max_tasks());
  }
}

}  // namespace
}  // namespace slipway::jobflow_test
