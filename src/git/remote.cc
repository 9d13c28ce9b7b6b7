#include "git/remote.h"

#include <fmt/format.h>

#include <filesystem>

#include "git/connection.h"
#include "git/mirror.h"

namespace slipway::git {
namespace {

constexpr const char* kPushed = "refs/slipway/pushed";

Connection connection(const Place& place) {
  return {place.mirror, place.remote, place.url, place.attempt, place.max_pack_bytes};
}

/// A local path that is no repository is told apart here: libgit2's message would name the path with a text of the system.
Result<void> check_place(const Place& place) {
  std::error_code error;
  if (!place.url.is_local() || std::filesystem::is_directory(place.url.path, error)) return {};
  return fail(Reason::NotFound, fmt::format("git: no repository at {}", place.url.path));
}

std::optional<GitId> known_at(git_repository* mirror, const std::string& ref) {
  git_oid oid;
  if (git_reference_name_to_id(&oid, mirror, ref.c_str()) == 0) return to_id(oid);
  git_error_clear();
  return std::nullopt;
}

/// References in the mirror keep what they lead to findable, and tell the next fetch what is there.
Result<void> remember(git_repository* mirror, const GitRef& ref) {
  SLIPWAY_TRY(oid, to_oid(ref.id));
  git_reference* made = nullptr;
  int code = git_reference_create(&made, mirror, ref.name.c_str(), &oid, 1, nullptr);
  if (code == GIT_ELOCKED) {
    // The mirror is held by this operation alone: whoever took the lock has died.
    std::error_code error;
    std::filesystem::remove(std::string(git_repository_path(mirror)) + ref.name + ".lock", error);
    code = git_reference_create(&made, mirror, ref.name.c_str(), &oid, 1, nullptr);
  }
  const Reference held(made);
  if (code != 0) return failure(code, fmt::format("remember {}", ref.name));
  return {};
}

void forget_ref(git_repository* mirror, const std::string& ref) {
  git_reference_remove(mirror, ref.c_str());
  git_error_clear();
}

std::vector<GitRef> not_here_yet(git_repository* mirror, const std::vector<GitRef>& refs) {
  std::vector<GitRef> missing;
  for (const GitRef& ref : refs) {
    if (known_at(mirror, ref.name) != ref.id) missing.push_back(ref);
  }
  return missing;
}

Result<void> bring(Connection& open, const Place& place, const std::vector<GitRef>& refs) {
  const std::vector<GitRef> missing = not_here_yet(place.mirror, refs);
  if (missing.empty()) return {};
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const GitRef& ref : missing) names.push_back(ref.name);
  SLIPWAY_TRY_VOID(open.download(names));
  for (const GitRef& ref : missing) SLIPWAY_TRY_VOID(remember(place.mirror, ref));
  return {};
}

std::map<std::string, GitId> by_name(std::vector<GitRef> refs) {
  std::map<std::string, GitId> ids;
  for (GitRef& ref : refs) ids.emplace(std::move(ref.name), std::move(ref.id));
  return ids;
}

/// Fetches over one connection, which says what there is.
Result<GitId> fetch_connected(const Place& place, const std::string& ref) {
  Connection open = connection(place);
  SLIPWAY_TRY_VOID(open.open(GIT_DIRECTION_FETCH));
  SLIPWAY_TRY(found, open.find(ref));
  if (!found) {
    forget_ref(place.mirror, ref);
    return fail(Reason::NotFound, fmt::format("git: {} has no {}", place.url.shown(), ref));
  }
  SLIPWAY_TRY_VOID(bring(open, place, {{ref, *found}}));
  return *found;
}

std::string shown(const std::optional<GitId>& id) { return id ? *id : "absent"; }

/// The new value must have the old one among its ancestors. Tags do not move at all, so only branches are asked.
Result<void> check_fast_forward(const Place& place, const GitRefUpdate& update) {
  if (!update.target || !update.expected || !update.ref.starts_with("refs/heads/")) return {};
  SLIPWAY_TRY(is_forward, is_ancestor(place.mirror, *update.expected, *update.target));
  if (is_forward) return {};
  return fail(Reason::BadRequest, fmt::format("git: push {} to {}: {} does not descend from {}, and pushes are never forced",
                                              update.ref, place.url.shown(), *update.target, *update.expected));
}

Result<void> check_update(const Place& place, const GitRefUpdate& update) {
  SLIPWAY_TRY_VOID(check_ref(update.ref));
  if (update.expected) SLIPWAY_TRY_VOID(check_id(*update.expected));
  if (!update.expected && !update.target)
    return fail(Reason::BadRequest, "git: an update needs an expected id, a target or both");
  if (!update.target) return {};
  SLIPWAY_TRY(oid, to_oid(*update.target));
  git_object* object = nullptr;
  if (const int code = git_object_lookup(&object, place.mirror, &oid, GIT_OBJECT_ANY); code != 0) {
    return failure(code, fmt::format("push {}: object {}", update.ref, *update.target));
  }
  const Object held(object);
  return check_fast_forward(place, update);
}

/// A refusal is a Conflict when the reference is no longer where it was expected; else it is the remote's rule (a hook, a
/// protected branch).
Result<void> judge_refusal(const Place& place, const GitRefUpdate& update, const std::string& refusal) {
  Connection again = connection(place);
  SLIPWAY_TRY_VOID(again.open(GIT_DIRECTION_FETCH));
  SLIPWAY_TRY(found, again.find(update.ref));
  if (found != update.expected) return moved(place.url, update, found);
  for (const std::string_view text : {"lock", "stale", "fetch first", "non-fast-forward"}) {
    if (refusal.contains(text)) return moved(place.url, update, found);
  }
  return fail(Reason::Forbidden, fmt::format("git: push {} to {}: refused: {}", update.ref, place.url.shown(), refusal));
}

Result<void> push(const Place& place, const GitRefUpdate& update) {
  Connection open = connection(place);
  SLIPWAY_TRY_VOID(open.open(GIT_DIRECTION_PUSH));
  SLIPWAY_TRY(found, open.find(update.ref));
  if (found != update.expected) return moved(place.url, update, found);
  // libgit2 pushes references only, no objects by id; the mirror is held, so there is one at a time.
  if (update.target) SLIPWAY_TRY_VOID(remember(place.mirror, {kPushed, *update.target}));
  const auto answer = open.push(fmt::format("{}:{}", update.target ? kPushed : "", update.ref));
  forget_ref(place.mirror, kPushed);
  SLIPWAY_TRY(refusal, answer);
  return refusal.empty() ? Result<void>{} : judge_refusal(place, update, refusal);
}

}  // namespace

std::unexpected<Status> moved(const Url& url, const GitRefUpdate& update, const std::optional<GitId>& found) {
  return fail(Reason::Conflict, fmt::format("git: push {} to {}: it is {}, not {}: somebody else was faster", update.ref,
                                            url.shown(), shown(found), shown(update.expected)));
}

Result<GitRefs> list_refs(const Place& place, const std::string& prefix) {
  SLIPWAY_TRY_VOID(check_place(place));
  if (place.url.is_local()) return list_local_refs(place.url, prefix);
  Connection open = connection(place);
  SLIPWAY_TRY_VOID(open.open(GIT_DIRECTION_FETCH));
  return open.refs(prefix);
}

Result<GitId> fetch(const Place& place, const std::string& ref) {
  SLIPWAY_TRY_VOID(check_ref(ref));
  SLIPWAY_TRY_VOID(check_place(place));
  if (place.url.is_local()) {
    SLIPWAY_TRY(found, find_local_ref(place.url, ref));
    if (found && known_at(place.mirror, ref) == found) return *found;
  }
  return fetch_connected(place, ref);
}

Result<std::map<std::string, GitId>> fetch_all(const Place& place, const std::string& prefix) {
  if (!prefix.starts_with("refs/heads/") && !prefix.starts_with("refs/tags/")) {
    return fail(Reason::BadRequest,
                fmt::format("git reference prefix \"{}\": must begin with refs/heads/ or refs/tags/", prefix));
  }
  SLIPWAY_TRY_VOID(check_place(place));
  if (place.url.is_local()) {
    SLIPWAY_TRY(found, list_local_refs(place.url, prefix));
    if (not_here_yet(place.mirror, found.refs).empty()) return by_name(std::move(found.refs));
  }
  Connection open = connection(place);
  SLIPWAY_TRY_VOID(open.open(GIT_DIRECTION_FETCH));
  SLIPWAY_TRY(found, open.refs(prefix));
  SLIPWAY_TRY_VOID(bring(open, place, found.refs));
  return by_name(std::move(found.refs));
}

Result<void> update_ref(const Place& place, const GitRefUpdate& update) {
  SLIPWAY_TRY_VOID(check_update(place, update));
  SLIPWAY_TRY_VOID(check_place(place));
  SLIPWAY_TRY_VOID(place.url.is_local() ? update_local_ref(place, update) : push(place, update));
  if (!update.target) {
    forget_ref(place.mirror, update.ref);
    return {};
  }
  return remember(place.mirror, {update.ref, *update.target});
}

}  // namespace slipway::git
