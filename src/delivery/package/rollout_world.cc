#include "delivery/package/rollout_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "delivery/package/repository_access.h"
#include "kube/selector.h"

namespace slipway::delivery::package {
namespace {

using Known = RecordIndex::Known;

bool has_labels(const PackageRolloutSpec& rollout, const StoredRecord& revision) {
  if (!rollout.selector) return true;
  const auto selector = kube::LabelSelector::from_object(*rollout.selector);
  return selector && selector->matches(revision.object["metadata"]["labels"]);
}

bool is_approved(const StoredRecord& one) { return is_published(one.record.lifecycle) || one.record.is_publishing(); }

bool is_back_out(const StoredRecord& one) { return !kube::annotation(one.object, kBackOutOf).empty(); }

/// Published before proposed before draft; of several the newest.
int rank(const StoredRecord& one) {
  if (is_approved(one)) return 2;
  return one.record.lifecycle == Lifecycle::Proposed ? 1 : 0;
}

Known candidate(const PackageRolloutSpec& rollout, const std::vector<Known>& revisions) {
  Known best;
  for (const Known& one : revisions) {
    const bool is_of_it =
        upstream_number(one->record) == rollout.upstream.revision && !is_back_out(*one) && one->record.revision != kPlaceholder;
    if (!is_of_it) continue;
    const bool is_better = best == nullptr || rank(*one) > rank(*best) ||
                           (rank(*one) == rank(*best) && one->record.revision > best->record.revision);
    if (is_better) best = one;
  }
  return best;
}

BackOutState back_out_state(const std::vector<Known>& revisions, const StoredRecord& approved) {
  const Known way_back = back_out_of(revisions, approved.key().name);
  if (way_back == nullptr) {
    // A first revision: the proposal to delete it is all that can be done, a person carries it out.
    const bool is_going = approved.record.lifecycle == Lifecycle::DeletionProposed;
    return is_going ? BackOutState::Waiting : BackOutState::None;
  }
  if (is_approved(*way_back)) return BackOutState::Done;
  return way_back->record.lifecycle == Lifecycle::Proposed ? BackOutState::Proposed : BackOutState::Waiting;
}

std::string punch_list(const StoredRecord& draft, const Now& now) {
  std::vector<Unmet> missing = unmet(gates_at(draft.record.gates, draft.record.lifecycle), draft.record.conditions, now);
  if (draft.record.render == Render::Failed) return "its rendering failed";
  if (draft.record.render == Render::Unreadable) return "its Kptfile cannot be read";
  return missing.empty() ? "a draft" : missing.front().text();
}

void look_at(TargetView& target, const StoredRecord& one, const RolloutSight& sight) {
  target.revision = one.key().name;
  if (one.record.is_publishing()) {
    target.state = TargetState::Approved;
    target.text = "it is being published";
    return;
  }
  if (!is_published(one.record.lifecycle)) {
    const bool is_proposed = one.record.lifecycle == Lifecycle::Proposed;
    target.text = is_proposed ? sight.objection(one) : punch_list(one, sight.now);
    target.state = TargetState::Waiting;
    if (is_proposed) target.state = target.text.empty() ? TargetState::Proposed : TargetState::Held;
    return;
  }
  const SyncView view = sight.sync(one);
  target.text = view.text;
  switch (view.state) {
    case SyncReport::State::Syncing:
      target.state = TargetState::Approved;
      break;
    case SyncReport::State::Synced:
      target.state = TargetState::Synced;
      break;
    case SyncReport::State::Healthy:
      target.state = TargetState::Healthy;
      break;
    case SyncReport::State::Failed:
      target.state = TargetState::Failed;
      break;
  }
}

}  // namespace

std::optional<SyncPlace> place_of(const kube::Object& repository, std::string_view path) {
  if (repository.is_null()) return std::nullopt;
  const auto read = read_repository(repository);
  if (!read) return std::nullopt;
  return SyncPlace{.url = read->remote.url, .branch = read->place.branch, .path = read->folder_of(std::string(path))};
}

bool is_about(const PackageRolloutSpec& rollout, const kube::Object& upstream_repository, const StoredRecord& revision) {
  const auto& lock = revision.record.upstream_lock;
  const std::optional<SyncPlace> place = place_of(upstream_repository, rollout.upstream.package);
  if (!place || !lock || !lock->git) return false;
  const bool is_from_there =
      plain_url(lock->git->repo) == plain_url(place->url) && plain_path(lock->git->directory) == plain_path(place->path);
  return is_from_there && upstream_number(revision.record) == rollout.upstream.revision && has_labels(rollout, revision);
}

Known before(const std::vector<Known>& revisions, const StoredRecord& approved) {
  Known best;
  for (const Known& one : revisions) {
    const bool is_older =
        is_published(one->record.lifecycle) && one->record.revision > 0 && one->record.revision < approved.record.revision;
    if (is_older && (best == nullptr || one->record.revision > best->record.revision)) best = one;
  }
  return best;
}

Known back_out_of(const std::vector<Known>& revisions, std::string_view approved) {
  for (const Known& one : revisions) {
    if (kube::annotation(one->object, kBackOutOf) == approved && !kube::is_deleting(one->object)) return one;
  }
  return nullptr;
}

std::vector<TargetView> targets_of(const PackageRolloutSpec& rollout, const std::vector<Known>& followers,
                                   const RolloutSight& sight) {
  std::map<PackageKey, std::vector<Known>> packages;
  for (const Known& one : followers) {
    if (!kube::is_deleting(one->object)) packages[one->record.key().package].push_back(one);
  }
  std::vector<TargetView> targets;
  for (const auto& [package, revisions] : packages) {
    TargetView target{.id = fmt::format("{}/{}", package.repository, package.path)};
    const Known chosen = candidate(rollout, revisions);
    const bool is_selected = chosen != nullptr
                                 ? has_labels(rollout, *chosen)
                                 : std::ranges::any_of(revisions, [&](const Known& one) { return has_labels(rollout, *one); });
    if (!is_selected) continue;
    target.text = "it has no revision of that upstream yet";
    if (chosen != nullptr) look_at(target, *chosen, sight);
    if (chosen != nullptr && is_approved(*chosen)) target.back_out = back_out_state(revisions, *chosen);
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace slipway::delivery::package
