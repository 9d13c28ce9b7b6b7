#include "delivery/package/protected.h"

#include <fmt/format.h>

#include "delivery/family/annotation.h"
#include "delivery/package/kind.h"
#include "delivery/package/repository_access.h"
#include "delivery/package/ticket_answer.h"

namespace slipway::delivery::package {
namespace {

using Paths = std::vector<std::string>;

/// Enforce for a spec that cannot be read: validation refuses it elsewhere.
GateMode mode_of(const kube::Object& repository) {
  const auto spec = json::decode<RepositorySpec>(repository["spec"], "spec", {.allow_unknown = true});
  return spec ? gate_mode(*spec, kube::annotation(repository, kGateMode)) : GateMode::Enforce;
}

Paths weakened_mode(const kube::Object& object, const kube::Object& old) {
  if (mode_of(old) != GateMode::Enforce || mode_of(object) == GateMode::Enforce) return {};
  return {fmt::format("metadata.annotations[{}]", kGateMode)};
}

/// A caller with that key answers tickets of gates for their owners.
Paths changed_answers(const kube::Object& object, const kube::Object& old) {
  if (answer_secret(object) == answer_secret(old) || answer_secret(object).empty()) return {};
  return {fmt::format("metadata.annotations[{}]", kTicketAnswers)};
}

/// Whoever could delete the Repository could register it again with gates that only report, or with another key.
Paths deleted_protection(const kube::Object& object, const kube::Object& old) {
  Paths paths;
  if (!kube::is_deleting(object)) return paths;
  if (mode_of(old) == GateMode::Enforce) paths.push_back(fmt::format("metadata.annotations[{}]", kGateMode));
  if (!answer_secret(old).empty()) paths.push_back(fmt::format("metadata.annotations[{}]", kTicketAnswers));
  return paths;
}

const kube::Resource kApprovals{kRevisions.group, kRevisions.version, kRevisions.plural + "/" + std::string(kApproval)};
const Protection kRows[] = {
    {kRepositoryKind, "annotation packages.slipway.dev/gates, spec.deployment", "update", kApprovals, false, weakened_mode},
    {kRepositoryKind, "annotations packages.slipway.dev/tickets, ticket-answers", "update", kApprovals, false, changed_answers},
    {kRepositoryKind, "delete in mode enforce, or with a key for ticket answers", "update", kApprovals, false,
     deleted_protection},
};

}  // namespace

std::span<const Protection> protections() { return kRows; }

kube::Object stamp_waiver(const kube::Object& repository, const kube::Object& old, const kube::Asker& asker) {
  if (mode_of(repository) == GateMode::Enforce) return with_annotation(repository, kGatesWaived, {});
  const bool may_waive = asker.user == nullptr ? old.is_null() : asker.may("update", kApprovals, kube::ns(repository), "");
  return with_annotation(repository, kGatesWaived,
                         may_waive ? json::Value("true") : old["metadata"]["annotations"][kGatesWaived]);
}

}  // namespace slipway::delivery::package
