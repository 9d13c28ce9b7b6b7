#include "delivery/package/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kField = "spec.lifecycle";

using json::quoted;
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
  return std::ranges::any_of(ask.changes, [](Part part) {
    return part == Part::Identity || part == Part::Gates || part == Part::ApprovalGates || part == Part::PackageMetadata;
  });
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
  std::string_view but;
};
constexpr PartRow kDraftOnly[] = {
    {Part::Gates, "spec.readinessGates", "; a gate with `at: approve` may be added to a proposal"},
    {Part::PackageMetadata, "spec.packageMetadata", ""}};

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
                                                  "Draft{}",
                                                  quoted(ask.from), row.but)));
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
  } else if (ask.render == Render::Unreadable) {
    found.push_back(field::forbidden(
        std::string(kField), fmt::format("the Kptfile cannot be read, so its gates are not known: {}", ask.render_error)));
  }
  for (Cause& cause : found) {
    if (ask.mode == GateMode::Enforce) {
      causes.push_back(std::move(cause));
    } else {
      constexpr std::string_view kForbidden = "Forbidden: ";
      const std::size_t begin = cause.message.starts_with(kForbidden) ? kForbidden.size() : 0;
      warnings.push_back(
          fmt::format("{}: {} (gates are only reported in this repository)", cause.field, cause.message.substr(begin)));
    }
  }
}

/// Sent and another than before.
template <class T>
bool is_other(const T& old, const T& sent) {
  return sent != T{} && sent != old;
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
  for (const ReadinessGate& one : sent.gates) {
    const auto was = std::ranges::find(old.gates, one.type, &ReadinessGate::type);
    const bool is_new = was == old.gates.end();
    const bool is_changed = !is_new && (is_other(was->owner, one.owner) || is_other(was->at, one.at));
    if (is_new) parts.insert(one.at == GateAt::Approve ? Part::ApprovalGates : Part::Gates);
    if (is_changed)
      parts.insert(was->at == GateAt::Approve && one.at.value_or(*was->at) == GateAt::Approve ? Part::ApprovalGates
                                                                                              : Part::Gates);
  }
  for (const ReadinessGate& one : old.gates) {
    const bool is_left_out = std::ranges::find(sent.gates, one.type, &ReadinessGate::type) == sent.gates.end();
    if (is_left_out) parts.insert(one.at == GateAt::Approve ? Part::ApprovalGates : Part::Gates);
  }
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

}  // namespace slipway::delivery::package
