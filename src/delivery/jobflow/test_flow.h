// A workflow played through plan() in virtual time, with Jobs that end when told: what the tests of this room stand on.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/lookup.h"
#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/job.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/plan.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {

using Names = std::vector<std::string>;

/// YAML text to a value; a test with a typo fails loudly.
inline Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  if (!value) ADD_FAILURE() << value.error().message << "\n" << text;
  return value ? *value : Value();
}

inline const char* const kDiamond = R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps:
      one: {template: {name: t}}
      two: {template: {name: t}, dependencies: [one]}
      three: {template: {name: t}, dependencies: [one]}
      four: {template: {name: t}, dependencies: [two, three]}
)";

inline Value workflow_of(std::string_view spec, std::string_view name = "w") {
  return mutate(json::object({{"apiVersion", kWorkflowKind.api_version()},
                              {"kind", kWorkflowKind.kind},
                              {"metadata", json::object({{"name", name}, {"namespace", "default"}})},
                              {"spec", yaml(spec)}}),
                {});
}

class Play {
 public:
  enum class Jobs : std::uint8_t { Made, Lost };

  explicit Play(std::string_view spec) : workflow_(workflow_of(spec)) {
    workflow_ = workflow_.with_path({"metadata", "uid"}, "u-1").with_path({"metadata", "generation"}, 1);
  }

  /// Plans and carries out.
  Actions step(Jobs jobs = Jobs::Made) {
    Observed observed{.workflow = workflow_, .step_sets = {}, .jobs = {}, .external = {}};
    for (const auto& [index, set] : sets_) observed.step_sets.push_back(set);
    for (const auto& [name, job] : jobs_) observed.jobs.push_back(job);
    observed.external = [this](const Step& step) { return view_external(step, external_); };
    Actions actions = plan(observed, now_);
    for (const auto& set : actions.sets) {
      sets_[set.index] =
          json::object({{"spec", json::object({{"index", set.index}, {"count", set.count}, {"statuses", set.statuses}})}});
    }
    if (actions.status) {
      workflow_ = workflow_.with("status", *actions.status);
      ++status_writes_;
    }
    if (jobs == Jobs::Made && !actions.create.empty()) {
      const auto program = *Program::compile(workflow_);
      for (const auto& one : actions.create) {
        Value job = make_job(workflow_, *program, one.step, one.attempt);
        jobs_[kube::key_of(job).name] = job.with_path({"metadata", "uid"}, fmt::format("j-{}", jobs_.size()));
      }
    }
    return actions;
  }

  void finish(const std::string& step) { end(step, "{type: Complete, status: 'True'}"); }
  void fail(const std::string& step, const std::string& reason) {
    end(step, "{type: Failed, status: 'True', reason: " + reason + ", message: Job has reached the specified backoff limit}");
  }
  void forget_jobs() { jobs_.clear(); }
  void pass(Duration time) { now_ += time; }
  void external(Value object) { external_ = std::move(object); }
  template <class Edit>
  void edit(Edit edit) {
    workflow_ =
        workflow_.with("spec", edit(workflow_["spec"])).with_path({"metadata", "generation"}, kube::generation(workflow_) + 1);
  }
  /// Every Job succeeds as soon as it is made.
  void run_to_end() {
    for (int i = 0; i < 1000 && !is_finished(workflow_); ++i) {
      const auto program = *Program::compile(workflow_);
      for (const auto& one : step().create) finish(program->name(one.step));
    }
  }

  Time now() const { return now_; }
  const Value& workflow() const { return workflow_; }
  const Value& status() const { return workflow_["status"]; }
  int status_writes() const { return status_writes_; }
  const std::map<std::string, Value>& jobs() const { return jobs_; }
  Value job(const std::string& step) const { return value_at(jobs_, current(step)); }
  Value record(const std::string& step) const {
    for (const auto& [index, set] : sets_) {
      if (set["spec"]["statuses"].has(step)) return set["spec"]["statuses"][step];
    }
    return status()["statuses"][step];
  }
  std::vector<Value> step_sets() const {
    std::vector<Value> out;
    for (const auto& [index, set] : sets_) out.push_back(set);
    return out;
  }
  /// Names of the steps whose Jobs are to be created, sorted.
  Names created(const Actions& actions) const {
    const auto program = *Program::compile(workflow_);
    Names names;
    for (const auto& one : actions.create) names.push_back(program->name(one.step));
    std::ranges::sort(names);
    return names;
  }

 private:
  std::string current(const std::string& step) const { return record(step)["reference"]["name"].str(); }
  void end(const std::string& step, const std::string& condition) {
    Value& job = jobs_[current(step)];
    job = job.with_path({"status", "conditions"}, yaml("[" + condition + "]"));
  }

  Value workflow_;
  std::map<std::int64_t, Value> sets_;
  std::map<std::string, Value> jobs_;
  Value external_;
  Time now_{std::chrono::seconds{1'767'225'600}};
  int status_writes_ = 0;
};

}  // namespace slipway::delivery::jobflow
