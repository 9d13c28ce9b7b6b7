#include "kube/field_ownership.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace slipway::kube {
namespace {

using json::Value;
using typed::Difference;

constexpr std::size_t kNone = ManagedFields::kNone;

FieldSet current_fields(const ManagedFields& managed, const SchemaNode* node, std::size_t at) {
  return typed::reconciled(node, managed.fields(at));
}

/// Takes `lost` from every row but one.
void take_from_others(ManagedFields& managed, const SchemaNode* node, const FieldSet& lost, std::size_t own) {
  if (lost.empty()) return;
  for (std::size_t at = 0; at < managed.size(); ++at) {
    if (at == own) continue;
    const Overlap overlap = managed.overlap(at, lost);
    if (!overlap.touches && !overlap.has_below) continue;
    FieldSet left = subtract(current_fields(managed, node, at), lost);
    if (!left.is_same(managed.fields(at))) managed.set_fields(at, std::move(left));
  }
}

struct Conflict {
  std::size_t at = 0;
  FieldSet fields;
};

std::vector<Conflict> conflicts_of(const ManagedFields& managed, const SchemaNode* node, const FieldSet& wanted,
                                   std::size_t own, const FieldSet& may_take) {
  std::vector<Conflict> result;
  for (std::size_t at = 0; at < managed.size(); ++at) {
    if (at == own || wanted.empty()) continue;
    const Overlap overlap = managed.overlap(at, wanted);
    if (!overlap.touches && !overlap.has_below) continue;
    FieldSet shared = subtract(intersect(current_fields(managed, node, at), wanted), may_take);
    if (!shared.empty()) result.push_back({at, std::move(shared)});
  }
  std::ranges::sort(result, {}, [&](const Conflict& one) { return managed.title(one.at); });
  return result;
}

Status conflict_status(const ManagedFields& managed, const std::vector<Conflict>& conflicts) {
  Status status;
  status.reason = Reason::Conflict;
  std::string listed;
  for (const Conflict& conflict : conflicts) {
    const std::string title = managed.title(conflict.at);
    listed += fmt::format("{}conflicts with {}:", listed.empty() ? "" : "\n", title);
    conflict.fields.for_each([&](const FieldPath& path) {
      status.causes.push_back({"FieldManagerConflict", "conflict with " + title, to_string(path)});
      listed += "\n- " + status.causes.back().field;
    });
  }
  if (status.causes.size() == 1) {
    status.message = fmt::format("Apply failed with 1 conflict: {}: {}", status.causes[0].message, status.causes[0].field);
  } else {
    status.message = fmt::format("Apply failed with {} conflicts: {}", status.causes.size(), listed);
  }
  return status;
}

/// The part of a set that lies under the same fields of the root as another.
FieldSet under_roots_of(const FieldSet& set, const FieldSet& roots) {
  std::vector<FieldSet::Entry> entries;
  for (const FieldSet::Entry& entry : set.entries()) {
    if (roots.find(entry.element) != nullptr) entries.push_back(entry);
  }
  return FieldSet::of(std::move(entries));
}

Value under_roots_of(const Value& object, const FieldSet& roots) {
  json::ObjectBuilder result;
  for (auto [name, value] : object.members()) {
    if (roots.find(PathElement::field(name)) != nullptr) result.add(name, value);
  }
  return result.build();
}

/// What in `merged` the applier applied last time and no manager owns now. Three steps, as upstream: all it
/// had goes, what another manager owns comes back, what was never its own comes back.
FieldSet dropped(const ManagedFields& managed, const SchemaNode* node, const Value& merged, const FieldSet& last,
                 const FieldSet& mentioned, std::size_t own) {
  FieldSet owned = mentioned;
  for (std::size_t at = 0; at < managed.size(); ++at) {
    if (at != own) owned = unite(owned, current_fields(managed, node, at));
  }
  const FieldSet roots = subtract(last, owned);  // nothing goes elsewhere
  if (roots.empty()) return {};
  const Value object = under_roots_of(merged, roots);
  const FieldSet all = typed::paths_of(node, object);
  const FieldSet had = typed::with_named_parents(node, under_roots_of(last, roots));
  auto paths_left = [&](const FieldSet& gone) {
    return typed::paths_of(node, typed::remove_items(node, object, gone, typed::Emptied::Null));
  };
  const FieldSet kept = unite(paths_left(had), typed::with_named_parents(node, under_roots_of(owned, roots)));
  const FieldSet restored = paths_left(subtract(all, kept));
  return intersect(subtract(all, restored), had);
}

}  // namespace

FieldSet OwnableFields::in_reach(const FieldSet& set) const {
  FieldSet result = subtract_subtrees(set, ignored);
  if (only.empty()) return result;
  const FieldSet::Entry* entry = result.find(PathElement::field(only));
  return entry == nullptr ? FieldSet() : FieldSet::of({*entry});
}

void own_update(ManagedFields& managed, const SchemaNode* node, const Difference& difference, const Claim& claim) {
  const auto& [writer, ownable, now, may_take] = claim;
  const FieldSet removed = ownable.in_reach(difference.removed);
  const FieldSet won = subtract(ownable.in_reach(unite(difference.modified, difference.added)), ownable.never);
  if (won.empty() && removed.empty()) return;
  const std::size_t own = managed.find(ManagedOperation::Update, writer);
  take_from_others(managed, node, unite(won, removed), own);
  if (own == kNone) {
    managed.put(ManagedOperation::Update, writer, won, now);
  } else {
    const Overlap gone = managed.overlap(own, removed);
    const Overlap had = managed.overlap(own, won);
    if (gone.touches || gone.has_below || had.has_below || !had.covers) {
      managed.set_fields(own, unite(subtract(current_fields(managed, node, own), removed), won));
    }
    if (!won.empty()) managed.set_time(own, now);
  }
  managed.cap_updaters();
}

Result<Value> own_apply(ManagedFields& managed, const SchemaNode* node, const Value& live, const Value& config,
                        const Claim& claim, OnConflict on_conflict, typed::Emptied emptied) {
  const auto& [writer, ownable, now, may_take] = claim;
  const FieldSet mentioned = ownable.in_reach(typed::fields_of(node, config));
  FieldSet claimed = subtract(mentioned, ownable.never);
  const std::size_t own = managed.find(ManagedOperation::Apply, writer);
  const bool is_known = own != kNone && managed.owns_exactly(own, claimed);

  Value result = typed::merge(node, live, config);
  Value shown = result;
  if (own != kNone && !is_known) {
    const FieldSet last = ownable.in_reach(current_fields(managed, node, own));
    const FieldSet gone = subtract(last, mentioned).empty() ? FieldSet() : dropped(managed, node, result, last, mentioned, own);
    shown = typed::remove_items(node, result, gone, emptied);
    // A map that the configuration says is empty stays, where upstream makes it null.
    if (emptied == typed::Emptied::Absent && !gone.empty()) shown = typed::merge(node, shown, config);
    result = typed::remove_items(node, result, gone, typed::Emptied::Null);
  }

  bool is_changed = false;
  if (!result.is_same(live)) {
    const Difference difference = typed::compare(node, live, result);
    is_changed = !(shown == live);
    const FieldSet won = ownable.in_reach(unite(difference.modified, difference.added));
    const std::vector<Conflict> conflicts = conflicts_of(managed, node, won, own, may_take);
    if (on_conflict == OnConflict::Refuse && !conflicts.empty()) return fail(conflict_status(managed, conflicts));
    take_from_others(managed, node, unite(won, ownable.in_reach(difference.removed)), own);
  }
  if (own != kNone && is_known && managed.api_version(own) == writer.api_version) {
    if (is_changed) managed.set_time(own, now);
  } else {
    managed.put(ManagedOperation::Apply, writer, std::move(claimed), now);
  }
  return is_changed ? shown : live;
}

}  // namespace slipway::kube
