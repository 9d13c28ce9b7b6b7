// The life of a package revision: every move that a request may make, with the messages of Porch
// (pkg/registry/porch/strategy.go, packagerevision_approval.go, engine.go), and what the server asks beyond Porch before it
// happens.
//
//   (created) → Draft ⇄ Proposed → Published ⇄ DeletionProposed → (deleted)
//
// A plain update proposes, withdraws a proposal, proposes a deletion and takes that back; /approval approves and rejects both.
// DIVERGES: gates bind in the server, at propose and at approve, where the repository enforces them; to propose a deletion by a
// plain update needs the right to approve there; what Porch accepts and drops (gates and metadata of a proposal, conditions of
// a published revision, names) is refused with a reason; conditions of a proposal are applied.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/readiness.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

enum class Endpoint : std::uint8_t { Main, Approval };

/// What unmet gates do in a repository.
enum class GateMode : std::uint8_t { Enforce, Report };
/// Enforce in deployment repositories, else Report, unless the annotation kGateMode says otherwise.
GateMode gate_mode(const RepositorySpec& repository, std::string_view annotation);

/// Parts of a revision that a request changes, the lifecycle aside.
enum class Part : std::uint8_t {
  Content,          // files, through PackageRevisionResources
  Conditions,       //
  Gates,            // spec.readinessGates
  ApprovalGates,    // of them, no others than those `at: approve`
  PackageMetadata,  // spec.packageMetadata
  Identity,         // spec.packageName, repository, workspaceName, revision, tasks, parent
  Labels,           // and annotations, finalizers, owner references
  LatestLabel,      // kpt.dev/latest-revision
};
/// What `sent` changes in `old`. Identity that is left out is not changed.
std::set<Part> changed_parts(const RevisionSpec& old, const RevisionSpec& sent);

enum class Move : std::uint8_t {
  Stay,             // in the lifecycle; other parts may change
  Propose,          // Draft → Proposed
  Withdraw,         // Proposed → Draft by a plain update
  Reject,           // Proposed → Draft by /approval
  Approve,          // Proposed → Published
  ProposeDeletion,  // Published → DeletionProposed
  Keep,             // DeletionProposed → Published
};

/// A PUT or PATCH, as far as the life cycle goes.
struct UpdateAsk {
  Lifecycle from = Lifecycle::Draft;
  std::string to{};  // spec.lifecycle as sent; "" means Draft, as Porch reads it
  Endpoint endpoint = Endpoint::Main;
  std::set<Part> changes{};
  GateMode mode = GateMode::Enforce;
  std::vector<Unmet> missing{};  // of the revision with the request's own changes applied
  Render render = Render::Passed;
  std::string render_error{};  // why the Kptfile cannot be read
};

struct UpdateDecision {
  Move move = Move::Stay;
  Lifecycle to = Lifecycle::Draft;
  /// The caller must find `update packagerevisions/approval` allowed for the user, else the request is Forbidden.
  bool needs_approval_right = false;
  std::vector<std::string> warnings{};
};
/// Causes for the fields, as Porch words them; then those of gates that are not met. Empty: `decision` may be carried out.
std::vector<Cause> decide_update(const UpdateAsk& ask, UpdateDecision& decision);

/// Causes for a revision that is created: lifecycle, the label of the latest, tasks; names are names.h's.
std::vector<Cause> create_causes(const RevisionSpec& spec, const json::Value& labels);

/// What a create needs to know of the revisions that are there.
struct Existing {
  std::string name{};
  std::string package{};  // path
  std::string repository{};
  std::string workspace{};
  Lifecycle lifecycle = Lifecycle::Draft;
  std::int64_t revision = 0;
};
/// Whether the one task fits what is there: init and clone make a package's first revision; edit copies from a published one of
/// the same package; upgrade from published ones. The workspace is new in its package. BadRequest otherwise.
/// DIVERGES: Porch answers InternalError for these.
Result<void> check_task(const RevisionSpec& spec, const std::vector<Existing>& there);

/// A PUT of files: BadRequest unless the revision is a draft.
Result<void> check_content(Lifecycle lifecycle);

/// A DELETE. `dependents` are revisions that name this one as their upstream.
Result<void> check_delete(std::string_view name, Lifecycle lifecycle, const std::vector<std::string>& dependents);

}  // namespace slipway::delivery::package
