// Steps that create an object from a template, and the deletion of objects before their step is cut short.
#include "delivery/jobflow/flow.h"

namespace slipway::delivery::jobflow {

using graph::Phase;
using graph::StepIndex;

void Flow::unsee_external(StepIndex step) {
  if (const auto found = externals_.find(step); found != externals_.end()) found->second.reset();
}

/// Whether the step may be cut short: no object of it runs. Else asks for its deletion.
bool Flow::is_cleared(StepIndex step) {
  const StepStatus& record = records_[step];
  if (!program_->makes_object(step) || record.phase != Phase::Running || record.next_attempt_time) return true;
  if (gone_.contains(step)) return true;
  actions_.discard.push_back({.step = step, .uid = ""});
  return false;
}

bool Flow::are_cleared(const std::vector<StepIndex>& steps) {
  bool all = true;
  for (StepIndex step : steps) all = is_cleared(step) && all;
  return all;
}

/// What was seen of the object that the step has created, or is to create.
void Flow::judge_object(StepIndex step, const ExternalView& view, Time now) {
  using State = ExternalView::State;
  missing_.erase(program_->graph().rank(step));
  if (records_[step].phase != Phase::Running || take_refusal(step, now)) return;
  const auto pin = [&] {
    if (records_[step].reference.uid == view.uid) return;
    records_.edit(step).reference.uid = view.uid;
    is_changed_ = true;
  };
  switch (view.state) {
    case State::Missing:
      missing_.insert(program_->graph().rank(step));
      break;
    case State::Unknown:
      note(step, "ObjectUnknown", view.message);
      break;
    case State::Foreign:
      end(step, Phase::Failed, "ObjectNameTaken", view.message, now);
      break;
    case State::Stale:
      if (!view.is_deleting) actions_.discard.push_back({.step = step, .uid = view.uid});
      note(step, "ObjectStale", view.message);
      break;
    case State::Waiting:
      pin();
      note(step, "ObjectPending", view.message);
      break;
    case State::Reached:
      pin();
      end(step, Phase::Succeeded, "", "", now);
      break;
    case State::Failed:
      pin();
      fail_attempt(step, "ObjectFailed", view.message, now);
      break;
  }
}

}  // namespace slipway::delivery::jobflow
