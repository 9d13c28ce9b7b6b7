#include <fmt/format.h>

#include <map>

#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/job.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {
namespace {

constexpr std::size_t kMostCauses = 100;

/// Where the template of a step stands: "spec.steps[build].jobTemplate" or "spec.templates[unit]".
std::string template_path(const Program& program, graph::StepIndex index) {
  const Step& step = program.step(index);
  return step.job_template ? fmt::format("spec.steps[{}].jobTemplate", program.name(index))
                           : fmt::format("spec.templates[{}]", step.template_ref->name);
}

class JobChecker {
 public:
  JobChecker(const kube::Object& workflow, const kube::Object& old, const Program& program, const JobCheck& check)
      : workflow_(workflow), program_(program), check_(check) {
    if (old.is_null()) return;
    if (const auto before = Program::compile(old)) {
      for (graph::StepIndex step = 0; step < (*before)->size(); ++step) {
        if ((*before)->makes_job(step)) judge(text_of(**before, step), {});
      }
    }
  }

  std::vector<Cause> run() {
    for (const graph::StepIndex step : program_.graph().topological()) {
      if (!program_.makes_job(step)) continue;
      const std::string key = text_of(program_, step);
      auto known = judged_.find(key);
      if (known == judged_.end()) known = judge(key, check_(make_job(workflow_, program_, step, 1)));
      const std::string path = template_path(program_, step);
      for (const Cause& cause : known->second) add(cause, path);
    }
    return std::move(causes_);
  }

 private:
  using Judged = std::map<std::string, std::vector<Cause>>;

  /// Equal templates are judged once: a fan-out has thousands.
  static std::string text_of(const Program& program, graph::StepIndex step) { return json::print(program.job_template(step)); }
  Judged::iterator judge(std::string key, std::vector<Cause> causes) {
    return judged_.emplace(std::move(key), std::move(causes)).first;
  }
  void add(Cause cause, const std::string& path) {
    cause.field = fmt::format("{}.{}", path, cause.field);
    const bool is_known = std::ranges::any_of(
        causes_, [&](const Cause& one) { return one.field == cause.field && one.message == cause.message; });
    if (!is_known && causes_.size() < kMostCauses) causes_.push_back(std::move(cause));
  }

  const kube::Object& workflow_;
  const Program& program_;
  const JobCheck& check_;
  Judged judged_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> check_jobs(const kube::Object& workflow, const kube::Object& old, const JobCheck& check) {
  if (kube::is_deleting(workflow) || (!old.is_null() && workflow["spec"] == old["spec"])) return {};
  const auto program = Program::compile(workflow);
  if (!program) return {};
  return JobChecker(workflow, old, **program, check).run();
}

}  // namespace slipway::delivery::jobflow
