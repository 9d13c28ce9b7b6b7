#include "delivery/jobflow/external.h"

#include <fmt/format.h>

#include <map>

namespace slipway::delivery::jobflow {
namespace {

bool is_kind(const ExternalRef& reference, const kube::GroupVersionKind& kind) {
  return reference.kind == kind.kind && reference.api_version.starts_with(kind.group + "/");
}

std::string condition_text(const Value& condition) {
  std::string text = condition["reason"].str();
  if (const auto message = condition["message"].as_string(); !message.empty())
    text += (text.empty() ? "" : ": ") + std::string(message);
  return text;
}

}  // namespace

bool is_workflow(const ExternalRef& reference) { return is_kind(reference, kWorkflowKind); }
bool is_job(const ExternalRef& reference) { return is_kind(reference, kJobKind); }

bool is_far(const ExternalRef& reference, std::string_view ns) {
  return !reference.cluster.empty() || (!reference.ns.empty() && reference.ns != ns);
}

bool is_far(const Value& reference, std::string_view ns) {
  return is_far(ExternalRef{.api_version = "",
                            .kind = "",
                            .ns = reference["namespace"].str(),
                            .name = "",
                            .uid = "",
                            .cluster = reference["cluster"].str()},
                ns);
}

std::string text_of(const ExternalRef& reference) {
  return fmt::format("{} {}{}{}{}", reference.kind, reference.ns.empty() ? "" : reference.ns + "/", reference.name,
                     reference.cluster.empty() ? "" : " in cluster ", reference.cluster);
}

ExternalView view_external(const Step& step, const Value& object) {
  const ExternalRef& reference = *step.external_ref;
  ExternalView view;
  if (object.is_null()) {
    view.message = text_of(reference) + " does not exist yet";
    return view;
  }
  return view_condition(reference, step.until, object);
}

ExternalView view_condition(const ExternalRef& reference, const std::optional<Until>& wanted_until, const Value& object) {
  ExternalView view;
  view.uid = kube::uid(object);
  const Until until = wanted_until.value_or(Until{.condition = "Complete", .status = "True"});
  const Value& wanted = kube::condition(object, until.condition);
  if (wanted["status"].as_string() == until.status) {
    view.state = ExternalView::State::Reached;
    return view;
  }
  view.state = ExternalView::State::Waiting;
  view.message = fmt::format("{} is not {}={} yet", text_of(reference), until.condition, until.status);
  const bool has_end = is_workflow(reference) || is_job(reference);
  if (has_end && (kube::is_true(object, "Failed") || kube::is_true(object, "Complete"))) {
    view.state = ExternalView::State::Failed;
    const std::string how = kube::is_true(object, "Failed") ? condition_text(kube::condition(object, "Failed"))
                                                            : fmt::format("ended without {}={}", until.condition, until.status);
    view.message = fmt::format("{} failed: {}", text_of(reference), how);
    if (kube::is_true(object, "Complete")) view.message = fmt::format("{} {}", text_of(reference), how);
  }
  return view;
}

std::vector<std::string> waited_workflows(const Value& workflow, const std::function<Value(const std::string& step)>& record) {
  std::vector<std::string> names;
  for (auto [name, step] : workflow["spec"]["steps"].members()) {
    const bool is_made = step.has("objectTemplate");
    const Value& reference = is_made ? step["objectTemplate"] : step["externalRef"];
    if (reference.is_null() || reference["kind"].as_string() != kWorkflowKind.kind) continue;
    const auto version = reference["apiVersion"].as_string();
    if (!version.empty() && !version.starts_with(kWorkflowKind.group + "/")) continue;
    if (!reference["cluster"].as_string().empty()) continue;
    const Value status = record(std::string(name));
    const auto phase = status["phase"].as_string();
    if (is_made) {
      if (phase == "Running")
        names.push_back(fmt::format("{}/{}", kube::ns(workflow), status["reference"]["name"].as_string()));
      continue;
    }
    if (phase == "Running" || (phase == "Failed" && status["reason"].as_string() == "ExternalCycle")) {
      const std::string_view ns = reference["namespace"].as_string();
      names.push_back(fmt::format("{}/{}", ns.empty() ? kube::ns(workflow) : ns, reference["name"].as_string()));
    }
  }
  return names;
}

std::vector<std::string> find_cycle(const std::string& self, const std::string& target,
                                    const std::function<std::vector<std::string>(const std::string&)>& waits) {
  std::map<std::string, std::string> came_from = {{target, self}};
  std::vector<std::string> queue = {target};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::string at = queue[i];
    for (auto& next : waits(at)) {
      if (next == self) {
        std::vector<std::string> cycle;
        for (std::string back = at; back != self; back = came_from[back]) cycle.push_back(back);
        cycle.push_back(self);
        std::ranges::reverse(cycle);
        return cycle;
      }
      if (came_from.emplace(next, at).second) queue.push_back(std::move(next));
    }
  }
  return {};
}

}  // namespace slipway::delivery::jobflow
