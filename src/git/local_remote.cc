// Changing a reference of a repository on this machine (git/remote.h).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "git/remote.h"

namespace slipway::git {
namespace {

/// Copies objects from one store into another: children first, so that an object which is there has all it leads to.
class Copier {
 public:
  Copier(git_repository* from, git_repository* to) : from_(from), to_(to) {}

  Result<void> open() {
    git_odb* odb = nullptr;
    if (const int code = git_repository_odb(&odb, from_); code != 0) return failure(code, "open the mirror's objects");
    source_.reset(odb);
    if (const int code = git_repository_odb(&odb, to_); code != 0) return failure(code, "open the remote's objects");
    target_.reset(odb);
    return {};
  }

  /// Of any type, with everything it leads to.
  Result<void> copy_all(git_oid id) {
    git_object* object = nullptr;
    if (const int code = git_object_lookup(&object, from_, &id, GIT_OBJECT_ANY); code != 0) return failure(code, to_id(id));
    const Object held(object);
    switch (git_object_type(object)) {
      case GIT_OBJECT_TAG:
        SLIPWAY_TRY_VOID(copy_all(*git_tag_target_id(reinterpret_cast<git_tag*>(object))));
        return copy(id);
      case GIT_OBJECT_COMMIT:
        return copy_history(id);
      case GIT_OBJECT_TREE:
        return copy_tree(id);
      case GIT_OBJECT_BLOB:
      case GIT_OBJECT_ANY:
      case GIT_OBJECT_INVALID:
      case GIT_OBJECT_OFS_DELTA:
      case GIT_OBJECT_REF_DELTA:
        break;
    }
    return copy(id);
  }

 private:
  /// Parents before children: an interrupted copy leaves no commit whose parent is missing.
  Result<void> copy_history(const git_oid& tip) {
    std::vector<git_oid> open{tip};
    std::set<std::string> seen;
    while (!open.empty()) {
      const git_oid at = open.back();
      if (git_odb_exists(target_.get(), &at) == 1) {
        open.pop_back();
        continue;
      }
      git_commit* commit = nullptr;
      if (const int code = git_commit_lookup(&commit, from_, &at); code != 0) return failure(code, to_id(at));
      const Commit held(commit);
      if (seen.insert(to_id(at)).second) {
        for (unsigned i = 0; i < git_commit_parentcount(commit); ++i) open.push_back(*git_commit_parent_id(commit, i));
        continue;
      }
      open.pop_back();
      SLIPWAY_TRY_VOID(copy_tree(*git_commit_tree_id(commit)));
      SLIPWAY_TRY_VOID(copy(at));
    }
    return {};
  }

  Result<void> copy_tree(const git_oid& id) {
    if (git_odb_exists(target_.get(), &id) == 1) return {};
    git_tree* tree = nullptr;
    if (const int code = git_tree_lookup(&tree, from_, &id); code != 0) return failure(code, to_id(id));
    const Tree held(tree);
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
      if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) SLIPWAY_TRY_VOID(copy_tree(*git_tree_entry_id(entry)));
      if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB) SLIPWAY_TRY_VOID(copy(*git_tree_entry_id(entry)));
    }
    return copy(id);
  }

  Result<void> copy(const git_oid& id) {
    if (git_odb_exists(target_.get(), &id) == 1) return {};
    git_odb_object* object = nullptr;
    if (const int code = git_odb_read(&object, source_.get(), &id); code != 0) return failure(code, to_id(id));
    const OdbObject held(object);
    git_oid written;
    const int code = git_odb_write(&written, target_.get(), git_odb_object_data(object), git_odb_object_size(object),
                                   git_odb_object_type(object));
    return code == 0 ? Result<void>{} : failure(code, fmt::format("write {}", to_id(id)));
  }

  git_repository* from_;
  git_repository* to_;
  Odb source_;
  Odb target_;
};

Result<Repository> open_remote(const Url& url) {
  git_repository* opened = nullptr;
  const int code = git_repository_open_ext(&opened, url.path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (code != 0) return failure(code, fmt::format("open {}", url.shown()));
  return Repository(opened);
}

/// As receive.denyCurrentBranch: whoever works in the folder would find its files behind its branch.
Result<void> check_not_checked_out(git_repository* remote, const Url& url, const std::string& ref) {
  if (git_repository_is_bare(remote) == 1) return {};
  git_reference* head = nullptr;
  if (git_reference_lookup(&head, remote, "HEAD") != 0) {
    git_error_clear();
    return {};
  }
  const Reference held(head);
  const char* target = git_reference_symbolic_target(head);
  if (target == nullptr || ref != target) return {};
  return fail(Reason::Forbidden,
              fmt::format("git: push {} to {}: the branch is checked out there; use a bare repository", ref, url.shown()));
}

/// The reference as it is now; nothing when it is absent.
Result<std::optional<GitId>> value_of(git_repository* remote, const std::string& ref) {
  git_oid oid;
  const int code = git_reference_name_to_id(&oid, remote, ref.c_str());
  if (code == 0) return to_id(oid);
  if (code != GIT_ENOTFOUND) return failure(code, ref);
  git_error_clear();
  return std::nullopt;
}

std::unexpected<Status> in_its_way(const Url& url, const std::string& ref, std::string_view other) {
  git_error_clear();
  return fail(Reason::Conflict, fmt::format("git: push {} to {}: {} is in its way", ref, url.shown(), other));
}

/// A name cannot be a reference and a folder of references; packed ones would let it happen.
Result<void> check_no_folder_conflict(git_repository* remote, const Url& url, const std::string& ref) {
  for (std::size_t end = ref.rfind('/'); end != std::string::npos && end > 0; end = ref.rfind('/', end - 1)) {
    const std::string above = ref.substr(0, end);
    git_oid oid;
    if (git_reference_name_to_id(&oid, remote, above.c_str()) == 0) return in_its_way(url, ref, above);
  }
  git_error_clear();
  git_reference_iterator* made = nullptr;
  const std::string below = ref + "/*";
  if (const int code = git_reference_iterator_glob_new(&made, remote, below.c_str()); code != 0) return failure(code, ref);
  const ReferenceIterator all(made);
  const char* name = nullptr;
  if (git_reference_next_name(&name, made) == 0) return in_its_way(url, ref, name);
  git_error_clear();
  return {};
}

/// Where a symbolic reference leads to; nothing when that is not there.
std::optional<GitId> id_of(git_reference* ref) {
  git_reference* made = nullptr;
  if (git_reference_resolve(&made, ref) != 0) {
    git_error_clear();
    return std::nullopt;
  }
  const Reference resolved(made);
  return to_id(*git_reference_target(made));
}

}  // namespace

Result<GitRefs> list_local_refs(const Url& url, std::string_view prefix) {
  SLIPWAY_TRY(remote, open_remote(url));
  GitRefs found;
  git_reference* made = nullptr;
  if (git_reference_lookup(&made, remote.get(), "HEAD") == 0) {
    const Reference head(made);
    if (const char* target = git_reference_symbolic_target(made); target != nullptr) found.head = target;
  }
  git_reference_iterator* begun = nullptr;
  const std::string wanted = fmt::format("{}*", prefix);
  const int opened = prefix.empty() ? git_reference_iterator_new(&begun, remote.get())
                                    : git_reference_iterator_glob_new(&begun, remote.get(), wanted.c_str());
  if (opened != 0) return failure(opened, fmt::format("list references of {}", url.shown()));
  const ReferenceIterator all(begun);
  int code = 0;
  while ((code = git_reference_next(&made, begun)) == 0) {
    const Reference ref(made);
    const std::string_view name = git_reference_name(made);
    if (!name.starts_with("refs/") || !name.starts_with(prefix)) continue;
    if (auto id = id_of(made)) found.refs.push_back({std::string(name), *std::move(id)});
  }
  if (code != GIT_ITEROVER) return failure(code, fmt::format("list references of {}", url.shown()));
  git_error_clear();
  std::ranges::sort(found.refs, {}, &GitRef::name);
  return found;
}

Result<std::optional<GitId>> find_local_ref(const Url& url, const std::string& ref) {
  SLIPWAY_TRY(remote, open_remote(url));
  return value_of(remote.get(), ref);
}

Result<void> update_local_ref(const Place& place, const GitRefUpdate& update) {
  SLIPWAY_TRY(remote, open_remote(place.url));
  SLIPWAY_TRY_VOID(check_not_checked_out(remote.get(), place.url, update.ref));
  SLIPWAY_TRY(before, value_of(remote.get(), update.ref));
  if (before != update.expected) return moved(place.url, update, before);
  git_oid target{};
  if (update.target) {
    SLIPWAY_TRY(oid, to_oid(*update.target));
    target = oid;
    if (!update.expected) SLIPWAY_TRY_VOID(check_no_folder_conflict(remote.get(), place.url, update.ref));
    Copier copier(place.mirror, remote.get());
    SLIPWAY_TRY_VOID(copier.open());
    SLIPWAY_TRY_VOID(copier.copy_all(target));
  }
  const std::string what = fmt::format("push {} to {}", update.ref, place.url.shown());
  git_transaction* made = nullptr;
  if (const int code = git_transaction_new(&made, remote.get()); code != 0) return failure(code, what);
  const Transaction transaction(made);
  if (const int code = git_transaction_lock_ref(made, update.ref.c_str()); code != 0) return failure(code, what);
  SLIPWAY_TRY(locked, value_of(remote.get(), update.ref));
  if (locked != update.expected) return moved(place.url, update, locked);
  const int set = update.target ? git_transaction_set_target(made, update.ref.c_str(), &target, nullptr, nullptr)
                                : git_transaction_remove(made, update.ref.c_str());
  if (set != 0) return failure(set, what);
  const int code = git_transaction_commit(made);
  return code == 0 ? Result<void>{} : failure(code, what);
}

}  // namespace slipway::git
