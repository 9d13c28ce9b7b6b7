// DELETE: preconditions, grace, finalizers (k8s.io/apiserver's Store.Delete and rest.BeforeDelete). Where upstream may need two
// writes (mark, then remove), this makes one.
#include <fmt/format.h>

#include "base/turn.h"
#include "kube/builtin_rows.h"
#include "server/access/upkeep.h"
#include "server/list_options.h"
#include "server/planner.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

/// So many are planned in one turn and written in one append.
constexpr std::size_t kDeletesAtOnce = 128;
constexpr std::size_t kDeleteKeysAtOnce = 16;
constexpr std::size_t kDeleteKeysPerTurn = 512;

Value with_deletion(const Value& object, Time when, std::int64_t grace_seconds, bool counts_generation) {
  json::ObjectBuilder meta(object["metadata"]);
  meta.set("deletionTimestamp", to_rfc3339(when)).set("deletionGracePeriodSeconds", grace_seconds);
  if (counts_generation && !kube::is_deleting(object) && kube::generation(object) > 0) {
    meta.set("generation", kube::generation(object) + 1);
  }
  return object.with("metadata", meta.build());
}

Value with_finalizers(const Value& object, Value finalizers) {
  if (finalizers.is_same(object["metadata"]["finalizers"])) return object;
  if (finalizers.empty()) return object.without_path({"metadata", "finalizers"});
  return object.with_path({"metadata", "finalizers"}, std::move(finalizers));
}

/// The object once graceful deletion has begun or was shortened; the same object when its deletion goes on as it is; nothing
/// when there is no time to wait.
std::optional<Value> with_grace(const Value& object, std::int64_t grace_seconds, std::optional<std::int64_t> asked, Time now) {
  if (!kube::is_deleting(object)) {
    if (grace_seconds == 0) return std::nullopt;
    return with_deletion(object, now + seconds_saturating(grace_seconds), grace_seconds, true);
  }
  const std::int64_t pending = object["metadata"]["deletionGracePeriodSeconds"].as_int();
  if (pending == 0) return std::nullopt;
  if (!asked || *asked >= pending) return object;
  if (*asked <= 0) return std::nullopt;
  const Time end = kube::time_of(object["metadata"]["deletionTimestamp"]).value_or(now);
  return with_deletion(object, end - seconds_saturating(pending) + seconds_saturating(*asked), *asked, true);
}

/// The keys of all that a collection's selection takes, read in fair turns. Deleting many outlasts history, so that their
/// objects are read when their turn comes.
Task<Result<std::vector<std::string>>> selected_keys(ServerContext& context, const Selection& selection, const Served& served) {
  const auto wants = [&](std::string_view key, const store::Entry& entry) {
    return selection.takes(key, served.matched(entry.value, entry.modified));
  };
  SLIPWAY_CO_TRY(pages, context.store.pages({.prefix = selection.prefix, .start = {}, .limit = 0, .at = 0, .wants = wants}));
  std::vector<std::string> keys;
  for (Turn turn(context.env, kDeleteKeysPerTurn); !pages->is_over();) {
    SLIPWAY_CO_TRY(piece, pages->next(kDeleteKeysAtOnce));
    for (auto& [key, entry] : piece.entries) keys.push_back(std::move(key));
    if (turn.spend(kDeleteKeysAtOnce)) co_await turn.pass();
  }
  co_return keys;
}

}  // namespace

Result<Plan> Planner::remove(std::string_view ns, std::string_view name, const DeleteOptions& options) {
  const auto found = find(ns, name);
  const kube::Resource& resource = served_.type.resource;
  if (!found) return fail(kube::not_found(resource, name));
  const Value& object = found->object;
  if (!options.uid.empty() && options.uid != kube::uid(object)) {
    return fail(kube::conflict(
        resource, name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", options.uid, kube::uid(object))));
  }
  const std::string_view version = object["metadata"]["resourceVersion"].as_string();
  if (!options.resource_version.empty() && options.resource_version != version) {
    return fail(kube::conflict(
        resource, name,
        fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object meta: {}",
                    options.resource_version, version)));
  }
  if (served_.strategy->check_delete != nullptr) SLIPWAY_TRY_VOID(served_.strategy->check_delete(object));
  SLIPWAY_TRY_VOID(validate_delete(object));
  return remove_found(*found, options);
}

Result<Plan> Planner::remove_found(const Found& found, const DeleteOptions& options) {
  const Value& old = found.object;
  const Strategy& strategy = *served_.strategy;
  Value object = old;
  bool is_graceful = false;
  if (strategy.grace_seconds != nullptr) {
    const auto marked = with_grace(old, strategy.grace_seconds(old, options.grace_seconds), options.grace_seconds, now_);
    is_graceful = marked.has_value();
    if (marked) object = *marked;
  }
  object = with_finalizers(object, finalizers_for_delete(object, options, strategy.orphans_by_default));
  if (strategy.begin_delete != nullptr && !kube::is_deleting(old)) object = strategy.begin_delete(object, around());
  const bool is_held = !object["metadata"]["finalizers"].empty() || (strategy.is_held != nullptr && strategy.is_held(object));
  if (!is_held && !is_graceful) return erase(found);
  const bool is_marked = kube::is_deleting(object) && object["metadata"]["deletionGracePeriodSeconds"].as_int() == 0;
  if (!is_graceful && !is_marked) object = with_deletion(object, now_, 0, true);
  if (object == old) {  // deletion is under way as asked
    Plan plan;
    plan.reply = old;
    return plan;
  }
  Plan plan;
  plan.reply = request_.dry_run ? object : with_revision(object);
  if (!request_.dry_run)
    plan.writes.push_back({served_.key(kube::ns(old), kube::name(old)), stored(plan.reply), found.entry.modified});
  return plan;
}

Result<Plan> Planner::erase(const Found& found) {
  Plan plan;
  if (!request_.dry_run) {
    plan.writes.push_back({served_.key(kube::ns(found.object), kube::name(found.object)), std::nullopt, found.entry.modified});
  }
  const kube::GroupVersionKind& kind = served_.type.kind;
  if (served_.type.is_custom || !kube::is_shown_when_deleted(kind.group, kind.kind)) {
    plan.reply = deleted_reply(found.object);
  } else {
    plan.reply = request_.dry_run ? found.object : with_revision(found.object);
  }
  plan.warnings = std::move(warnings_);
  return plan;
}

Value Planner::deleted_reply(const Value& object) const {
  const kube::Resource& resource = served_.type.resource;
  json::ObjectBuilder details;
  details.add("name", kube::name(object));
  if (!resource.group.empty()) details.add("group", resource.group);
  details.add("kind", resource.plural).add("uid", kube::uid(object));
  return json::object({{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Value::empty_object()},
                       {"status", "Success"},
                       {"details", details.build()}});
}

Task<Result<Reply>> Verbs::delete_collection(Request request, ServedPtr served) {
  SLIPWAY_CO_TRY(options, DeleteOptions::of(request.body));
  SLIPWAY_CO_TRY(selection, Selection::of(request, *served));
  SLIPWAY_CO_TRY(keys, co_await selected_keys(context_, selection, *served));
  json::ArrayBuilder deleted;
  std::optional<Status> refusal;  // the first; what may go goes all the same, unless the store fails
  for (auto next = keys.begin(); next != keys.end();) {
    // One append takes many deletes; each is planned against head state with the revision it will get.
    std::vector<store::Write> writes;
    for (; next != keys.end() && writes.size() < kDeletesAtOnce; ++next) {
      const auto entry = context_.store.get(*next);
      if (!entry) continue;
      const Value object = served->shown(entry->value, entry->modified);
      if (!selection.matches(object)) continue;  // no longer
      const Revision revision = context_.store.next_revision() + static_cast<Revision>(writes.size());
      Checks checks;  // a deletion has none
      Planner planner(context_, request, *served, revision, checks);
      auto plan = planner.remove(kube::ns(object), kube::name(object), options);
      if (!plan && plan.error().reason == Reason::NotFound) continue;
      if (!plan) {
        if (!refusal) refusal = std::move(plan).error();
        continue;
      }
      deleted.add(object);
      for (store::Write& write : plan->writes) writes.push_back(std::move(write));
    }
    if (writes.empty()) continue;
    if (auto appended = co_await context_.store.append(std::move(writes)); !appended) {
      refusal = std::move(appended).error();
      break;
    }
  }
  co_await keep_up(context_, served->type.resource, request.ns);
  if (refusal) co_return fail(std::move(*refusal));
  Value meta = json::object({{"resourceVersion", std::to_string(context_.store.revision())}});
  co_return Reply{json::object({{"kind", served->type.list_kind},
                                {"apiVersion", served->api_version},
                                {"metadata", std::move(meta)},
                                {"items", deleted.build()}}),
                  {},
                  200};
}

}  // namespace slipway::server
