// How revisions come and go: what may be created from what, changed and deleted. Updates are lifecycle.cc.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/kind.h"
#include "delivery/package/lifecycle.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using json::quoted;

Result<void> bad(std::string text) { return fail(Reason::BadRequest, std::move(text)); }

const Existing* find(const std::vector<Existing>& there, std::string_view name) {
  const auto found = std::ranges::find(there, name, &Existing::name);
  return found == there.end() ? nullptr : &*found;
}

Result<void> check_source(const std::vector<Existing>& there, const NameRef& ref, std::string_view field) {
  const Existing* source = find(there, ref.name);
  if (source == nullptr) return fail(Reason::NotFound, fmt::format("{}: package revision {:?} not found", field, ref.name));
  if (source->revision < 0) {
    return bad(fmt::format("{}: may not be the placeholder package revision {}/{}", field, source->repository, ref.name));
  }
  if (!is_published(source->lifecycle)) return bad("source revision must be published");
  return {};
}

Result<void> check_clone(const CloneTask& clone, const std::vector<Existing>& there) {
  if (!clone.upstream.revision) return {};
  const Existing* source = find(there, clone.upstream.revision->name);
  if (source == nullptr) {
    return fail(Reason::NotFound, fmt::format("spec.tasks[0].clone.upstreamRef.upstreamRef: package revision {:?} not found",
                                              clone.upstream.revision->name));
  }
  if (source->revision >= 0) return {};
  return bad(
      fmt::format("upstream revision may not be the placeholder package revision {}/{}", source->repository, source->name));
}

Result<void> check_edit(const RevisionSpec& spec, const EditTask& edit, const std::vector<Existing>& there) {
  const std::string field = "spec.tasks[0].edit.sourceRef";
  if (!edit.source || edit.source->name.empty()) return bad(field + ": is required");
  SLIPWAY_TRY_VOID(check_source(there, *edit.source, field));
  const Existing& source = *find(there, edit.source->name);
  if (source.package == spec.package_name && source.repository == spec.repository) return {};
  return bad(fmt::format("source revision must be from same package {}/{} (got: {}/{})", spec.repository, spec.package_name,
                         source.repository, source.package));
}

Result<void> check_upgrade(const UpgradeTask& upgrade, const std::vector<Existing>& there) {
  const std::string field = "spec.tasks[0].upgrade.";
  SLIPWAY_TRY_VOID(check_source(there, upgrade.old_upstream, field + "oldUpstreamRef"));
  SLIPWAY_TRY_VOID(check_source(there, upgrade.new_upstream, field + "newUpstreamRef"));
  return check_source(there, upgrade.local, field + "localPackageRevisionRef");
}

Result<void> check_first(const RevisionSpec& spec, std::string_view task, const std::vector<Existing>& there) {
  const bool exists = std::ranges::any_of(
      there, [&](const Existing& one) { return one.repository == spec.repository && one.package == spec.package_name; });
  if (!exists) return {};
  return bad(
      fmt::format("`{}` cannot create a new revision for package {:?} that already exists in repo {:?}; make subsequent "
                  "revisions using `copy`",
                  task, spec.package_name, spec.repository));
}

}  // namespace

std::vector<Cause> create_causes(const RevisionSpec& spec, const json::Value& labels) {
  std::vector<Cause> causes;
  if (labels.has(kLatestLabel)) {
    causes.push_back(field::forbidden(fmt::format("metadata.labels.{}", kLatestLabel),
                                      "label is managed by porch and cannot be set by users"));
  }
  if (!spec.lifecycle.empty() && spec.lifecycle != json::enum_name(Lifecycle::Draft)) {
    causes.push_back(field::invalid("spec.lifecycle", quoted(spec.lifecycle), "value can be only created as Draft"));
  }
  if (spec.tasks.size() > 1) causes.push_back(field::too_many("spec.tasks", spec.tasks.size(), 1));
  const TaskType type = spec.tasks.empty() ? TaskType::None : spec.tasks.front().type;
  if (type == TaskType::Render || type == TaskType::Push) {
    causes.push_back(
        field::not_supported("spec.tasks[0].type", quoted(json::enum_name(type)), {"init", "clone", "edit", "upgrade"}));
  }
  return causes;
}

Result<void> check_task(const RevisionSpec& spec, const std::vector<Existing>& there) {
  for (const Existing& one : there) {
    const bool is_taken =
        one.repository == spec.repository && one.package == spec.package_name && one.workspace == spec.workspace;
    if (!is_taken) continue;
    return fail(Reason::AlreadyExists,
                fmt::format("package revision workspaceNames must be unique; package revision with name {} in repo {} with "
                            "workspaceName {} already exists",
                            spec.package_name, spec.repository, spec.workspace));
  }
  const RevisionTask task = spec.tasks.empty() ? RevisionTask{} : spec.tasks.front();
  switch (task.type) {
    case TaskType::Init:
    case TaskType::None:
      return check_first(spec, "init", there);
    case TaskType::Clone:
      SLIPWAY_TRY_VOID(check_first(spec, "clone", there));
      return check_clone(task.clone.value_or(CloneTask{}), there);
    case TaskType::Edit:
      return check_edit(spec, task.edit.value_or(EditTask{}), there);
    case TaskType::Upgrade:
      return check_upgrade(task.upgrade.value_or(UpgradeTask{}), there);
    case TaskType::Render:
    case TaskType::Push:
      return bad("spec.tasks[0].type: render and push are marks in commits");
  }
  return {};
}

Result<void> check_content(Lifecycle lifecycle) {
  if (lifecycle == Lifecycle::Draft) return {};
  return bad(fmt::format("cannot update a package revision with lifecycle value {}; package must be Draft",
                         quoted(json::enum_name(lifecycle))));
}

Result<void> check_delete(std::string_view name, Lifecycle lifecycle, const std::vector<std::string>& dependents) {
  if (lifecycle == Lifecycle::Published) {
    return fail(Reason::Forbidden, fmt::format("packagerevisions.porch.kpt.dev {:?} is forbidden: a published package revision "
                                               "is deleted after its deletion was proposed: set spec.lifecycle to "
                                               "DeletionProposed",
                                               name));
  }
  if (dependents.empty()) return {};
  return fail(Reason::Conflict,
              fmt::format("packagerevisions.porch.kpt.dev {:?} is the upstream of {}", name, joined(dependents, ", ")));
}

}  // namespace slipway::delivery::package
