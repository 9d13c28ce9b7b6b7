#include "delivery/package/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/kind.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kField = "spec.lifecycle";

std::string quoted(std::string_view text) { return json::print(json::Value(text)); }
std::string quoted(Lifecycle lifecycle) { return quoted(json::enum_name(lifecycle)); }

std::optional<Lifecycle> lifecycle_of(std::string_view text) {
  if (text.empty()) return Lifecycle::Draft;
  for (const Lifecycle one : {Lifecycle::Draft, Lifecycle::Proposed, Lifecycle::Published, Lifecycle::DeletionProposed}) {
    if (json::enum_name(one) == text) return one;
  }
  return std::nullopt;
}

Cause not_as_sent(std::string_view sent, std::string detail) {
  return field::invalid(std::string(kField), quoted(sent), std::move(detail));
}
/// Porch names the lifecycle that the revision has, not the one that was sent.
Cause not_from(Lifecycle from, std::string detail) {
  return field::invalid(std::string(kField), quoted(from), std::move(detail));
}

bool changes_spec(const UpdateAsk& ask) {
  return std::ranges::any_of(
      ask.changes, [](Part part) { return part == Part::Identity || part == Part::Gates || part == Part::PackageMetadata; });
}

Cause only_open_spec(Lifecycle from) {
  return field::invalid("spec", quoted(from), "spec can only update package with lifecycle value one of Draft,Proposed");
}

void judge_main(const UpdateAsk& ask, std::optional<Lifecycle> to, std::vector<Cause>& causes) {
  if (!to) causes.push_back(not_as_sent(ask.to, "value can be only updated to Draft,Proposed,Published,DeletionProposed"));
  if (!is_published(ask.from)) {
    const bool is_open = to && !is_published(*to);
    if (!is_open) causes.push_back(not_from(ask.from, "value can be only updated to Draft,Proposed"));
    return;
  }
  if (changes_spec(ask) || !to || !is_published(*to)) causes.push_back(only_open_spec(ask.from));
}

void judge_approval(const UpdateAsk& ask, std::optional<Lifecycle> to, std::vector<Cause>& causes) {
  const std::string_view from = json::enum_name(ask.from);
  const auto only_to = [&](std::string_view target) {
    causes.push_back(
        not_from(ask.from, fmt::format("package with {} lifecycle value can only be updated to '{}'", from, target)));
  };
  if (ask.from == Lifecycle::Published && to != Lifecycle::DeletionProposed) only_to("ProposeDeletion");
  if (ask.from == Lifecycle::DeletionProposed && to != Lifecycle::Published) only_to("Published");
  if (ask.from == Lifecycle::Draft) {
    causes.push_back(
        not_from(ask.from, fmt::format("cannot approve package with {} lifecycle value; only Proposed packages can "
                                       "be approved",
                                       from)));
  }
  if (!to || to == Lifecycle::Proposed || ask.to.empty()) {
    causes.push_back(not_as_sent(ask.to, "value for approval can be only one of Draft,Published"));
  } else if (to == Lifecycle::DeletionProposed && ask.from != Lifecycle::Published) {
    causes.push_back(not_as_sent(ask.to,
                                 "cannot update lifecycle DeletionProposed; only Published packages require approval for "
                                 "deletion"));
  }
}

Move move_of(Lifecycle from, Lifecycle to, Endpoint endpoint) {
  if (from == Lifecycle::Draft && to == Lifecycle::Proposed) return Move::Propose;
  if (from == Lifecycle::Proposed && to == Lifecycle::Draft) {
    return endpoint == Endpoint::Approval ? Move::Reject : Move::Withdraw;
  }
  if (from == Lifecycle::Proposed && to == Lifecycle::Published) return Move::Approve;
  if (from == Lifecycle::Published && to == Lifecycle::DeletionProposed) return Move::ProposeDeletion;
  if (from == Lifecycle::DeletionProposed && to == Lifecycle::Published) return Move::Keep;
  return Move::Stay;
}

struct PartRow {
  Part part;
  std::string_view field;
};
constexpr PartRow kDraftOnly[] = {{Part::Gates, "spec.readinessGates"}, {Part::PackageMetadata, "spec.packageMetadata"}};

/// What the request changes beside the lifecycle, where that is not to be changed now.
void judge_parts(const UpdateAsk& ask, Lifecycle to, std::vector<Cause>& causes) {
  const auto changes = [&](Part part) { return ask.changes.contains(part); };
  if (changes(Part::LatestLabel)) {
    causes.push_back(field::forbidden(fmt::format("metadata.labels.{}", kLatestLabel),
                                      "label is managed by porch and cannot be modified by users"));
  }
  if (is_published(ask.from)) {
    if (ask.endpoint == Endpoint::Approval && changes_spec(ask)) causes.push_back(only_open_spec(ask.from));
    if (changes(Part::Conditions)) {
      causes.push_back(
          field::forbidden("status.conditions", "conditions of a published revision are those it was approved with"));
    }
    return;
  }
  if (changes(Part::Identity)) {
    causes.push_back(field::forbidden("spec", "packageName, repository, workspaceName, revision and tasks are immutable"));
  }
  if (ask.from == Lifecycle::Draft || to == Lifecycle::Draft) return;
  for (const PartRow& row : kDraftOnly) {
    if (!changes(row.part)) continue;
    causes.push_back(field::forbidden(std::string(row.field),
                                      fmt::format("cannot update a package revision with lifecycle value {}; package must be "
                                                  "Draft",
                                                  quoted(ask.from))));
  }
}

void judge_gates(const UpdateAsk& ask, std::vector<Cause>& causes, std::vector<std::string>& warnings) {
  std::vector<Cause> found = unmet_causes(ask.missing);
  if (ask.render == Render::Failed) {
    found.push_back(field::forbidden(std::string(kField),
                                     "the package could not be rendered; status.renderStatus of its "
                                     "PackageRevisionResources says why"));
  } else if (ask.render == Render::Running) {
    found.push_back(field::forbidden(std::string(kField), "the package is being rendered; try again when that has ended"));
  }
  for (Cause& cause : found) {
    if (ask.mode == GateMode::Enforce) {
      causes.push_back(std::move(cause));
    } else {
      warnings.push_back(fmt::format("{}: {}", cause.field, cause.message));
    }
  }
}

/// Sent and another than before.
template <class T>
bool is_other(const T& old, const T& sent) {
  return sent != T{} && sent != old;
}

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

GateMode gate_mode(const RepositorySpec& repository, std::string_view annotation) {
  if (annotation == "enforce") return GateMode::Enforce;
  if (annotation == "report") return GateMode::Report;
  return repository.is_deployment ? GateMode::Enforce : GateMode::Report;
}

std::set<Part> changed_parts(const RevisionSpec& old, const RevisionSpec& sent) {
  std::set<Part> parts;
  const bool is_renamed = is_other(old.package_name, sent.package_name) || is_other(old.repository, sent.repository) ||
                          is_other(old.workspace, sent.workspace);
  if (is_renamed || is_other(old.revision, sent.revision) || is_other(old.tasks, sent.tasks) ||
      is_other(old.parent, sent.parent)) {
    parts.insert(Part::Identity);
  }
  const auto types = [](const std::vector<ReadinessGate>& gates) {
    std::set<std::string_view> out;
    for (const ReadinessGate& one : gates) out.insert(one.type);
    return out;
  };
  const bool has_new_owner = std::ranges::any_of(sent.gates, [&](const ReadinessGate& one) {
    const auto was = std::ranges::find(old.gates, one.type, &ReadinessGate::type);
    return was != old.gates.end() && is_other(was->owner, one.owner);
  });
  if (types(old.gates) != types(sent.gates) || has_new_owner) parts.insert(Part::Gates);
  if (sent.package_metadata && sent.package_metadata != old.package_metadata) parts.insert(Part::PackageMetadata);
  return parts;
}

std::vector<Cause> decide_update(const UpdateAsk& ask, UpdateDecision& decision) {
  std::vector<Cause> causes;
  const std::optional<Lifecycle> to = lifecycle_of(ask.to);
  if (ask.endpoint == Endpoint::Main) {
    judge_main(ask, to, causes);
  } else {
    judge_approval(ask, to, causes);
  }
  decision = {.move = Move::Stay, .to = to.value_or(ask.from)};
  judge_parts(ask, decision.to, causes);
  if (!causes.empty()) return causes;
  decision.move = move_of(ask.from, *to, ask.endpoint);
  decision.needs_approval_right = decision.move == Move::ProposeDeletion && ask.endpoint == Endpoint::Main;
  if (decision.move == Move::Propose || decision.move == Move::Approve) judge_gates(ask, causes, decision.warnings);
  return causes;
}

std::vector<Cause> create_causes(const RevisionSpec& spec, const json::Value& labels) {
  std::vector<Cause> causes;
  if (labels.has(kLatestLabel)) {
    causes.push_back(field::forbidden(fmt::format("metadata.labels.{}", kLatestLabel),
                                      "label is managed by porch and cannot be set by users"));
  }
  if (!spec.lifecycle.empty() && spec.lifecycle != json::enum_name(Lifecycle::Draft)) {
    causes.push_back(not_as_sent(spec.lifecycle, "value can be only created as Draft"));
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
  const Task task = spec.tasks.empty() ? Task{} : spec.tasks.front();
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
  return bad(fmt::format("cannot update a package revision with lifecycle value {}; package must be Draft", quoted(lifecycle)));
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
