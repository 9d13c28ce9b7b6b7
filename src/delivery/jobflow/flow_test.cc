// A Flow that is kept and fed changes says what plan() says from everything there is to see, whatever happens in which order.
#include "delivery/jobflow/flow.h"

#include <gtest/gtest.h>

#include <random>

#include "delivery/jobflow/test_flow.h"

namespace slipway::delivery::jobflow {
namespace {

using Seed = std::mt19937_64;
int below(Seed& seed, int limit) { return static_cast<int>(seed() % static_cast<std::uint64_t>(limit)); }

std::string random_spec(Seed& seed) {
  static const std::vector<std::string> triggers = {"AllSucceeded", "AllTerminated", "AllFailed", "AnySucceeded", "AnyFailed"};
  std::string spec = "templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\n";
  if (below(seed, 3) == 0) spec += fmt::format("parallelism: {}\n", 1 + below(seed, 3));
  if (below(seed, 4) == 0) spec += fmt::format("activeDeadlineSeconds: {}\n", 5 + below(seed, 60));
  spec += "steps:\n";
  const int count = 1 + below(seed, 8);
  for (int i = 0; i < count; ++i) {
    spec += fmt::format("  s{}:\n    trigger: {}\n    tolerated: {}\n", i, triggers[static_cast<std::size_t>(below(seed, 5))],
                        below(seed, 2) == 0);
    std::string dependencies;
    for (int j = 0; j < i; ++j) {
      if (below(seed, 3) == 0) dependencies += fmt::format("{}s{}", dependencies.empty() ? "" : ", ", j);
    }
    spec += fmt::format("    dependencies: [{}]\n", dependencies);
    if (below(seed, 4) == 0) spec += fmt::format("    timeoutSeconds: {}\n", 1 + below(seed, 20));
    if (below(seed, 8) == 0) {
      spec += "    externalRef: {apiVersion: v1, kind: Pod, name: p}\n    until: {condition: Ready}\n";
      continue;
    }
    spec += "    template: {name: t}\n";
    if (below(seed, 3) == 0)
      spec += fmt::format("    retry: {{limit: {}, backoff: {{duration: {}s}}}}\n", below(seed, 3), below(seed, 5));
  }
  return spec;
}

/// What is durable, and a kept Flow beside it.
class Twin {
 public:
  Twin(Seed& seed, std::uint64_t number) : seed_(seed), number_(number), workflow_(workflow_of(random_spec(seed))) {
    workflow_ = workflow_.with_path({"metadata", "uid"}, "u-1").with_path({"metadata", "generation"}, 1);
    renew();
  }

  bool turn() {
    const Actions expected = plan(observed(), now_);
    flow_->decide(now_);
    for (auto unseen = flow_->unseen_externals(); !unseen.empty(); unseen = flow_->unseen_externals()) {
      for (auto step : unseen) flow_->see_external(step, view_external(flow_->program().step(step), pod_));
      flow_->decide(now_);
    }
    Actions given = flow_->take(now_);
    compare(given, expected);
    carry_out(given);
    timer_ = given.timer;
    return !testing::Test::HasFailure();
  }

  void happen() {
    switch (below(seed_, 6)) {
      case 0:
        now_ = timer_ ? std::max(now_, *timer_) : now_ + std::chrono::seconds{1};
        break;
      case 1:
        now_ += std::chrono::seconds{below(seed_, 4)};
        break;
      case 2:
        renew();
        break;
      case 3:
        pod_ = yaml(fmt::format("{{metadata: {{uid: p{}}}, status: {{conditions: [{{type: Ready, status: '{}'}}]}}}}",
                                below(seed_, 12) == 0 ? 1 : 0, below(seed_, 4) == 0 ? "True" : "False"));
        break;
      default:
        end_some_job();
    }
    flow_->look_again();
  }

  bool is_over() const { return is_finished(workflow_); }
  std::string story() const { return json::print_pretty(workflow_["status"]); }
  std::size_t made() const { return made_; }

 private:
  Observed observed() const {
    Observed seen{.workflow = workflow_, .step_sets = {}, .jobs = {}, .external = [this](const Step& step) {
                    return view_external(step, pod_);
                  }};
    for (const auto& [name, job] : jobs_) seen.jobs.push_back(job);
    return seen;
  }

  /// As after a restart.
  void renew() {
    flow_ = std::make_unique<Flow>(*Program::compile(workflow_), workflow_, std::vector<Value>{});
    for (const auto& [name, job] : jobs_) flow_->see_job(job_view(job));
  }

  void end_some_job() {
    std::vector<std::string> open;
    for (const auto& [name, job] : jobs_) {
      if (!job_view(job).is_finished) open.push_back(name);
    }
    if (open.empty()) return;
    const std::string name = open[static_cast<std::size_t>(below(seed_, static_cast<int>(open.size())))];
    Value& job = jobs_[name];
    if (below(seed_, 10) == 0) {  // a user deletes it
      flow_->lose_job(job_view(job));
      jobs_.erase(name);
      return;
    }
    job = job.with_path({"status", "conditions"}, yaml(below(seed_, 3) == 0 ? "[{type: Failed, status: 'True', reason: No}]"
                                                                            : "[{type: Complete, status: 'True'}]"));
    flow_->see_job(job_view(job));
  }

  void compare(const Actions& given, const Actions& expected) {
    ASSERT_EQ(given.create, expected.create) << "seed " << number_;
    ASSERT_EQ(given.status.has_value(), expected.status.has_value()) << "seed " << number_ << "\n" << story();
    if (given.status) ASSERT_EQ(json::print_pretty(*given.status), json::print_pretty(*expected.status)) << "seed " << number_;
    ASSERT_EQ(given.timer, expected.timer) << "seed " << number_;
    ASSERT_EQ(given.events.size(), expected.events.size()) << "seed " << number_;
    // A Flow asks once for a removal, plan() as long as the Job is there.
    for (const auto& one : given.remove) ASSERT_TRUE(std::ranges::find(expected.remove, one) != expected.remove.end());
  }

  void carry_out(const Actions& actions) {
    if (actions.status) {
      workflow_ = workflow_.with("status", *actions.status);
      flow_->written(workflow_);
    }
    for (const auto& one : actions.create) {
      if (below(seed_, 12) == 0) continue;  // the create is lost; it is asked for again
      const Value job = make_job(workflow_, flow_->program(), one.step, one.attempt)
                            .with_path({"metadata", "uid"}, fmt::format("j{}", made_++));
      ASSERT_TRUE(jobs_.emplace(kube::key_of(job).name, job).second) << "seed " << number_ << ": made twice";
      flow_->see_job(job_view(job));
    }
    for (const auto& one : actions.remove) {
      const auto found = jobs_.find(one.name);
      if (found == jobs_.end()) continue;
      flow_->lose_job(job_view(found->second));
      jobs_.erase(found);
    }
  }

  Seed& seed_;
  std::uint64_t number_;
  Value workflow_;
  std::map<std::string, Value> jobs_;
  Value pod_;
  Time now_{std::chrono::seconds{1'767'225'600}};
  std::optional<Time> timer_;
  std::unique_ptr<Flow> flow_;
  std::size_t made_ = 0;
};

TEST(Flow, says_what_plan_says_whatever_happens) {
  int over = 0;
  std::size_t jobs = 0;
  for (std::uint64_t number = 0; number < 120; ++number) {
    Seed seed(number);
    Twin twin(seed, number);
    for (int turn = 0; turn < 80; ++turn) {
      ASSERT_TRUE(twin.turn()) << "seed " << number << " turn " << turn;
      twin.happen();
    }
    over += twin.is_over() ? 1 : 0;
    jobs += twin.made();
  }
  EXPECT_GT(over, 80);
  EXPECT_GT(jobs, 200u);
}

}  // namespace
}  // namespace slipway::delivery::jobflow
