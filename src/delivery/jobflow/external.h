// Steps that wait for an object of another owner: what is seen of it, and workflows that wait for each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "delivery/jobflow/workflow.h"
#include "kube/object.h"

namespace slipway::delivery::jobflow {

struct ExternalView {
  enum class State : std::uint8_t {
    Missing,
    Unknown,  // it could not be looked at: that says nothing about it
    Foreign,  // of an object template: another object has its name
    Stale,    // of an object template: the object of an earlier attempt, or one that is being deleted
    Waiting,
    Reached,
    Failed
  };
  State state = State::Missing;
  std::string uid;
  bool is_deleting = false;
  std::string message;  // what it waits for, or how it failed
  /// Names of workflows that wait for each other, this one first; "namespace/name" in other namespaces. Empty: none.
  std::vector<std::string> cycle;
};

bool is_workflow(const ExternalRef& reference);
bool is_job(const ExternalRef& reference);
/// Whether the object is in another namespace than `ns`, the workflow's, or in another cluster.
bool is_far(const ExternalRef& reference, std::string_view ns);
/// The same of a reference as it stands in a workflow; false of null.
bool is_far(const Value& reference, std::string_view ns);
/// `Job migration`, `Job base/migration` where a namespace is given, `Job base/migration in cluster prod`.
std::string text_of(const ExternalRef& reference);

/// What `object` (null: missing) means for the step. Workflows and Jobs: Complete is Reached unless `until` says otherwise, and
/// once they have finished without reaching it, Failed.
ExternalView view_external(const Step& step, const Value& object);
/// The same of an object that is there: whether it has reached `until`. Absent: Complete.
ExternalView view_condition(const ExternalRef& reference, const std::optional<Until>& until, const Value& object);

/// "namespace/name" of the workflows of its cluster that this workflow waits for now: those that its steps have created and
/// that run, and external steps that are Running, or Failed ExternalCycle (so that all on a cycle find it, whoever is first).
/// `record` gives a step's status by name, null when there is none.
std::vector<std::string> waited_workflows(const Value& workflow, const std::function<Value(const std::string& step)>& record);

/// The way from `target` back to `self` along `waits`, `self` first; empty when there is none. Each workflow is visited once.
std::vector<std::string> find_cycle(const std::string& self, const std::string& target,
                                    const std::function<std::vector<std::string>(const std::string&)>& waits);

}  // namespace slipway::delivery::jobflow
