#include "delivery/package/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/package/kind.h"
#include "kube/object.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kNoteEnd = ": ";

std::string condition_path(std::string_view type) { return fmt::format("status.conditions[{}]", type); }

bool is_same_verdict(const Condition& one, const Condition& other) {
  return one.status == other.status && one.reason == other.reason && one.message == other.message;
}

/// Whether the sender of `sent` changed it. Fields that the server sets do not count, nor does a scope that is left out.
bool is_changed(const Condition& base, const Condition& sent) {
  return !is_same_verdict(base, sent) || (!sent.scope.empty() && sent.scope != base.scope) ||
         (sent.observed && sent.observed != base.observed);
}

Result<void> check(const Conditions& sent, std::string_view object) {
  std::vector<Cause> causes;
  std::set<std::string_view> seen;
  for (const Condition& one : sent) {
    if (!seen.insert(one.type).second)
      causes.push_back(field::duplicate(condition_path(one.type), fmt::format("{:?}", one.type)));
  }
  if (sent.size() > kMostConditions) causes.push_back(field::too_many("status.conditions", sent.size(), kMostConditions));
  if (!causes.empty()) return fail(kube::invalid(kRevisionKind, object, std::move(causes)));
  return {};
}

Status conflict(const Write& write, std::vector<Cause> causes) {
  std::string detail = "the object has been modified; please apply your changes to the latest version and try again";
  for (const Cause& cause : causes) detail += fmt::format("; {}: {}", cause.field, cause.message);
  Status status = kube::conflict(kRevisions, write.object, detail);
  status.causes = std::move(causes);
  return status;
}

Cause changed_meanwhile(const Condition* current, std::string_view type) {
  const std::string by = current == nullptr || current->owner.empty() ? "somebody" : current->owner;
  const std::string what =
      current == nullptr ? "removed" : fmt::format("set to {} by {}", json::enum_name(current->status), by);
  return {.reason = "Conflict", .message = fmt::format("was {} meanwhile", what), .field = condition_path(type)};
}

Status apply_conflict(std::vector<Cause> causes) {
  Status status;
  status.reason = Reason::Conflict;
  status.message = fmt::format("Apply failed with {} conflict{}:", causes.size(), causes.size() == 1 ? "" : "s");
  for (const Cause& cause : causes) {
    status.message += fmt::format("{} {}: {}", causes.size() == 1 ? "" : "\n-", cause.message, cause.field);
  }
  status.causes = std::move(causes);
  return status;
}

/// As it will be read from an object again: whole seconds.
Time stamp(Time now) { return std::chrono::floor<std::chrono::seconds>(now); }

/// "apps/v1.Deployment.web": the reason names an object that the condition belongs to, and no reason of the API conventions
/// (one word in CamelCase) can be read as one.
bool names_an_object(std::string_view reason) { return reason.contains('.'); }

/// A message without the reason that unknown() put before it.
std::string_view without_note(std::string_view message) {
  for (const std::string_view note : {kNewRevision, kContentChanged, kImported, kOwnerChanged}) {
    if (message.starts_with(note) && message.substr(note.size()).starts_with(kNoteEnd)) {
      return message.substr(note.size() + kNoteEnd.size());
    }
  }
  return message;
}

}  // namespace

Condition made_unknown(const Condition& before, std::string_view reason, Time now) {
  Condition out = before;
  if (before.status != Truth::Unknown) {
    const std::string why = before.message.empty() && !names_an_object(before.reason) ? before.reason : before.message;
    out.message = fmt::format("was {}{}{}", json::enum_name(before.status), why.empty() ? "" : ": ", why);
    out.status = Truth::Unknown;
    out.since = stamp(now);
  }
  if (names_an_object(before.reason)) {
    out.message = fmt::format("{}{}{}", reason, kNoteEnd, without_note(out.message));
  } else {
    out.reason = reason;
  }
  return out;
}

bool is_computed(std::string_view type) {
  return type == kReadyToPropose || type == kReadyToApprove || type == kDrift || type == kNotPushed || type == kRendered;
}

const Condition* find(const Conditions& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

void set_condition(Conditions& conditions, const Condition& said, const Write& write) {
  auto at = std::ranges::find(conditions, said.type, &Condition::type);
  const bool is_new = at == conditions.end();
  if (is_new) at = conditions.insert(at, Condition{.type = said.type});
  if (is_new || at->status != said.status) at->since = stamp(write.now);
  at->status = said.status;
  at->reason = said.reason;
  at->message = said.message;
  if (!said.scope.empty()) at->scope = said.scope;
  at->observed = said.observed ? said.observed : write.generation;
  at->owner = write.by;
  at->digest = write.content.digest();
  at->scope_digest = at->scope.empty() ? "" : write.content.scope(at->scope);
  at->is_applied = false;
}

Result<Conditions> merge_put(const Conditions& base, const Conditions& current, const Conditions& sent, const Write& write) {
  SLIPWAY_TRY_VOID(check(sent, write.object));
  Conditions out = current;
  std::vector<Cause> conflicts;
  for (const Condition& one : sent) {
    if (is_computed(one.type)) continue;
    const Condition* was = find(base, one.type);
    const Condition* is = find(current, one.type);
    if (was != nullptr && !is_changed(*was, one)) continue;
    const bool is_unmoved = was == nullptr ? is == nullptr : is != nullptr && *is == *was;
    if (is_unmoved) {
      set_condition(out, one, write);
    } else if (is == nullptr || is_changed(*is, one)) {
      conflicts.push_back(changed_meanwhile(is, one.type));
    }
  }
  for (const Condition& one : base) {
    const Condition* is = find(current, one.type);
    if (find(sent, one.type) != nullptr || is == nullptr) continue;
    if (*is == one) {
      std::erase_if(out, [&](const Condition& other) { return other.type == one.type; });
    } else {
      conflicts.push_back(changed_meanwhile(is, one.type));
    }
  }
  if (!conflicts.empty()) return fail(conflict(write, std::move(conflicts)));
  if (out.size() > kMostConditions) SLIPWAY_TRY_VOID(check(out, write.object));
  return out;
}

Result<Conditions> merge_apply(const Conditions& current, const Conditions& sent, const Write& write, Force force) {
  SLIPWAY_TRY_VOID(check(sent, write.object));
  Conditions out = current;
  std::vector<Cause> conflicts;
  for (const Condition& one : sent) {
    if (is_computed(one.type)) continue;
    const Condition* is = find(current, one.type);
    const bool is_others = is != nullptr && is->owner != write.by && !is->owner.empty();
    if (is_others && !is_changed(*is, one)) continue;  // the same verdict: nothing to fight about
    if (is_others && force == Force::No) {
      conflicts.push_back({.reason = "FieldManagerConflict",
                           .message = fmt::format("conflict with {:?}", is->owner),
                           .field = fmt::format(".status.conditions[type={:?}].status", one.type)});
      continue;
    }
    set_condition(out, one, write);
    std::ranges::find(out, one.type, &Condition::type)->is_applied = true;
  }
  if (!conflicts.empty()) return fail(apply_conflict(std::move(conflicts)));
  std::erase_if(
      out, [&](const Condition& one) { return one.is_applied && one.owner == write.by && find(sent, one.type) == nullptr; });
  if (out.size() > kMostConditions) SLIPWAY_TRY_VOID(check(out, write.object));
  return out;
}

Conditions reset(const Conditions& conditions, std::string_view reason, const ContentView& content, Time now) {
  Conditions out;
  out.reserve(conditions.size());
  for (const Condition& one : conditions) {
    const bool holds = !one.scope.empty() && one.scope_digest == content.scope(one.scope);
    out.push_back(holds ? one : made_unknown(one, reason, now));
    if (holds) out.back().digest = content.digest();
  }
  return out;
}

Conditions imported(const Conditions& found, Time now) {
  Conditions out;
  for (const Condition& one : found) {
    if (is_computed(one.type) || find(out, one.type) != nullptr || out.size() == kMostConditions) continue;
    out.push_back(
        made_unknown({.type = one.type, .status = one.status, .reason = one.reason, .message = one.message}, kImported, now));
    out.back().owner = "import";
  }
  return out;
}

}  // namespace slipway::delivery::package
