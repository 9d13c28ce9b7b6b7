// A Workflow's spec, checked and ready to run: the decoded struct, its graph and its Job templates. Made once per generation;
// admission and the controller use the same function, so that what one accepts the other can run.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "delivery/graph/graph.h"
#include "delivery/jobflow/workflow.h"
#include "kube/object.h"

namespace slipway::delivery::jobflow {

class Program {
 public:
  /// Every violation with its field path (at most a hundred). Old spellings are named with the new ones.
  static std::expected<std::shared_ptr<const Program>, std::vector<Cause>> compile(const kube::Object& workflow);

  const WorkflowSpec& spec() const { return spec_; }
  const graph::Graph& graph() const { return graph_; }
  const Step& step(graph::StepIndex index) const { return *steps_[index]; }
  const std::string& name(graph::StepIndex index) const { return graph_.nodes()[index].name; }
  std::size_t size() const { return steps_.size(); }
  bool is_external(graph::StepIndex index) const { return steps_[index]->external_ref.has_value(); }
  bool makes_object(graph::StepIndex index) const { return steps_[index]->object_template.has_value(); }
  bool makes_job(graph::StepIndex index) const { return !is_external(index) && !makes_object(index); }
  /// The step's JobTemplateSpec with the environment of its template reference. REQUIRES: makes_job().
  Value job_template(graph::StepIndex index) const;

 private:
  WorkflowSpec spec_;
  graph::Graph graph_;
  std::vector<const Step*> steps_;  // by index; they live in spec_
};

/// A JobTemplateSpec with variables set in all its containers.
Value with_env(const Value& job_template, const std::vector<EnvVar>& env);
/// The labels that a Job made from the template gets, before the step's own.
Value job_labels(const WorkflowSpec& spec, std::string_view workflow, const Value& job_template);
/// Violations in a JobTemplateSpec at `path`; `labels` as job_labels() gives them.
std::vector<Cause> check_job_template(const Value& job_template, const std::string& path);

}  // namespace slipway::delivery::jobflow
