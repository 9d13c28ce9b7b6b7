// Reading the files of a tree, and making a commit with changed ones (git/mirror.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "git/mirror.h"

namespace slipway::git {
namespace {

GitMode to_mode(git_filemode_t mode) {
  switch (mode) {
    case GIT_FILEMODE_BLOB_EXECUTABLE:
      return GitMode::Executable;
    case GIT_FILEMODE_LINK:
      return GitMode::Symlink;
    case GIT_FILEMODE_COMMIT:
      return GitMode::Submodule;
    case GIT_FILEMODE_UNREADABLE:
    case GIT_FILEMODE_TREE:
    case GIT_FILEMODE_BLOB:
      break;
  }
  return GitMode::Regular;
}

git_filemode_t from_mode(GitMode mode) {
  switch (mode) {
    case GitMode::Executable:
      return GIT_FILEMODE_BLOB_EXECUTABLE;
    case GitMode::Symlink:
      return GIT_FILEMODE_LINK;
    case GitMode::Regular:
    case GitMode::Submodule:
      break;
  }
  return GIT_FILEMODE_BLOB;
}

std::unexpected<Status> too_large(std::string message) {
  return fail(Reason::RequestEntityTooLarge, fmt::format("git: {}", message));
}

Result<Tree> find_tree(git_repository* mirror, const git_oid& oid) {
  git_tree* found = nullptr;
  if (const int code = git_tree_lookup(&found, mirror, &oid); code != 0)
    return failure(code, fmt::format("tree {}", to_id(oid)));
  return Tree(found);
}

Result<Tree> tree_of(git_repository* mirror, const GitId& id) {
  SLIPWAY_TRY(oid, to_oid(id));
  git_object* object = nullptr;
  if (const int code = git_object_lookup(&object, mirror, &oid, GIT_OBJECT_ANY); code != 0) {
    return failure(code, fmt::format("commit {}", id));
  }
  const Object held(object);
  git_object* tree = nullptr;
  if (const int code = git_object_peel(&tree, object, GIT_OBJECT_TREE); code != 0)
    return failure(code, fmt::format("tree of {}", id));
  return Tree(reinterpret_cast<git_tree*>(tree));
}

/// Collects the files of a tree within the bounds of a query.
class Reader {
 public:
  Reader(git_repository* mirror, git_odb* odb, const GitTreeQuery& query) : mirror_(mirror), odb_(odb), query_(query) {}

  Result<void> add_folder(const git_tree* tree, const std::string& prefix) {
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
      SLIPWAY_TRY_VOID(add(entry, prefix + git_tree_entry_name(entry)));
    }
    return {};
  }

  Result<void> add(const git_tree_entry* entry, const std::string& path) {
    if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
      if (path.size() > Git::kMaxPathBytes) return too_large(fmt::format("path {}… is too long", path.substr(0, 100)));
      SLIPWAY_TRY(below, find_tree(mirror_, *git_tree_entry_id(entry)));
      return add_folder(below.get(), path + "/");
    }
    if (files_.size() == query_.max_files) return too_large(fmt::format("more than {} files (max_files)", query_.max_files));
    return add_file(entry, path);
  }

  std::vector<GitFile> take() {
    std::ranges::sort(files_, {}, &GitFile::path);
    return std::move(files_);
  }

 private:
  bool is_wanted(std::string_view path) const {
    return query_.suffixes.empty() ||
           std::ranges::any_of(query_.suffixes, [&](const std::string& suffix) { return path.ends_with(suffix); });
  }

  Result<void> add_file(const git_tree_entry* entry, const std::string& path) {
    GitFile file{.path = path, .mode = to_mode(git_tree_entry_filemode(entry)), .id = to_id(*git_tree_entry_id(entry))};
    if (file.mode != GitMode::Submodule) {
      git_object_t type{};
      std::size_t size = 0;
      if (const int code = git_odb_read_header(&size, &type, odb_, git_tree_entry_id(entry)); code != 0)
        return failure(code, path);
      file.size = size;
      if (is_wanted(path)) SLIPWAY_TRY_VOID(read(file, *git_tree_entry_id(entry)));
    }
    files_.push_back(std::move(file));
    return {};
  }

  Result<void> read(GitFile& file, const git_oid& oid) {
    if (file.size > query_.max_file_bytes) {
      if (query_.large == GitTreeQuery::Large::skip) return {};
      return too_large(
          fmt::format("file {} has {} bytes, over {} (max_file_bytes)", file.path, file.size, query_.max_file_bytes));
    }
    git_blob* blob = nullptr;
    if (const int code = git_blob_lookup(&blob, mirror_, &oid); code != 0) return failure(code, file.path);
    const Blob held(blob);
    const std::string_view bytes(static_cast<const char*>(git_blob_rawcontent(blob)), file.size);
    if (!bytes.contains(query_.containing)) return {};
    total_ += file.size;
    if (total_ > query_.max_total_bytes) {
      return too_large(fmt::format("the files have more than {} bytes (max_total_bytes)", query_.max_total_bytes));
    }
    file.content.emplace(bytes);
    return {};
  }

  git_repository* mirror_;
  git_odb* odb_;
  const GitTreeQuery& query_;
  std::vector<GitFile> files_;
  std::uint64_t total_ = 0;
};

/// Changes by path, as a tree: a folder's children, or a file's change, or both (a file replaced by a folder).
struct Edit {
  const GitChange* change = nullptr;
  std::map<std::string, Edit, std::less<>> children;
};

std::unexpected<Status> bad_path(const std::string& path, std::string_view why) {
  return fail(Reason::BadRequest, fmt::format("git path \"{}\": {}", path, why));
}

Result<Edit> to_edits(const std::vector<GitChange>& changes) {
  Edit root;
  for (const GitChange& change : changes) {
    SLIPWAY_TRY_VOID(check_path(change.path));
    if (change.mode == GitMode::Submodule) return bad_path(change.path, "a submodule cannot be written");
    Edit* at = &root;
    for (std::size_t begin = 0; begin <= change.path.size();) {
      const auto end = std::min(change.path.find('/', begin), change.path.size());
      at = &at->children[change.path.substr(begin, end - begin)];
      begin = end + 1;
    }
    if (at->change != nullptr) return bad_path(change.path, "changed twice");
    at->change = &change;
  }
  return root;
}

/// Writes blobs and trees, from the leaves up.
class Builder {
 public:
  explicit Builder(git_repository* mirror) : mirror_(mirror) {}

  /// The tree `before` (may be null) with the edits; nothing when it would be empty.
  Result<std::optional<git_oid>> build(const git_tree* before, const Edit& edits, const std::string& prefix) {
    git_treebuilder* made = nullptr;
    if (const int code = git_treebuilder_new(&made, mirror_, before); code != 0) return failure(code, "make a tree");
    const TreeBuilder builder(made);
    for (const auto& [name, edit] : edits.children) SLIPWAY_TRY_VOID(apply(made, name, edit, prefix + name));
    if (git_treebuilder_entrycount(made) == 0) return std::nullopt;
    git_oid oid;
    if (const int code = git_treebuilder_write(&oid, made); code != 0) return failure(code, "write a tree");
    return oid;
  }

 private:
  Result<void> apply(git_treebuilder* into, const std::string& name, const Edit& edit, const std::string& path) {
    const git_tree_entry* old = git_treebuilder_get(into, name.c_str());
    const bool is_removed = edit.change != nullptr && !edit.change->content;
    if (edit.children.empty() && is_removed) return old == nullptr ? Result<void>{} : remove(into, name);
    if (edit.children.empty()) return put_file(into, name, *edit.change, old);
    if (edit.change != nullptr && !is_removed) return bad_path(path, "both a file and a folder");
    Tree below;
    if (old != nullptr && !is_removed) {
      if (git_tree_entry_type(old) != GIT_OBJECT_TREE) {
        const bool only_removes = std::ranges::none_of(edit.children, [](const auto& one) { return adds(one.second); });
        return only_removes ? Result<void>{} : bad_path(path, "is a file, it cannot hold files");
      }
      SLIPWAY_TRY(found, find_tree(mirror_, *git_tree_entry_id(old)));
      below = std::move(found);
    }
    SLIPWAY_TRY(oid, build(below.get(), edit, path + "/"));
    if (!oid) return old == nullptr ? Result<void>{} : remove(into, name);
    return insert(into, name, *oid, GIT_FILEMODE_TREE);
  }

  static bool adds(const Edit& edit) {
    return (edit.change != nullptr && edit.change->content) ||
           std::ranges::any_of(edit.children, [](const auto& one) { return adds(one.second); });
  }

  Result<void> put_file(git_treebuilder* into, const std::string& name, const GitChange& change, const git_tree_entry* old) {
    if (old != nullptr && git_tree_entry_type(old) != GIT_OBJECT_BLOB) {
      return bad_path(change.path, "is a folder or submodule, it cannot become a file");
    }
    const GitMode mode = change.mode ? *change.mode : old != nullptr ? to_mode(git_tree_entry_filemode(old)) : GitMode::Regular;
    git_oid oid;
    const int code = git_blob_create_from_buffer(&oid, mirror_, change.content->data(), change.content->size());
    return code != 0 ? failure(code, change.path) : insert(into, name, oid, from_mode(mode));
  }

  static Result<void> insert(git_treebuilder* into, const std::string& name, const git_oid& oid, git_filemode_t mode) {
    const int code = git_treebuilder_insert(nullptr, into, name.c_str(), &oid, mode);
    return code == 0 ? Result<void>{} : failure(code, name);
  }

  static Result<void> remove(git_treebuilder* from, const std::string& name) {
    const int code = git_treebuilder_remove(from, name.c_str());
    return code == 0 ? Result<void>{} : failure(code, name);
  }

  git_repository* mirror_;
};

Result<Signature> to_signature(const GitPerson& person) {
  git_signature* made = nullptr;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(person.time.time_since_epoch()).count();
  if (git_signature_new(&made, person.name.c_str(), person.email.c_str(), seconds, person.utc_offset_minutes) != 0) {
    git_error_clear();
    return fail(Reason::BadRequest,
                fmt::format("git: \"{} <{}>\" cannot be an author: name and e-mail address are needed, without '<' "
                            "and '>'",
                            person.name, person.email));
  }
  return Signature(made);
}

Result<void> check_message(const std::string& message) {
  if (message.size() > Git::kMaxMessageBytes) return too_large(fmt::format("message over {} bytes", Git::kMaxMessageBytes));
  if (message.find('\0') != std::string::npos) return fail(Reason::BadRequest, "git: a NUL in the message");
  return {};
}

}  // namespace

Result<std::vector<GitFile>> read_tree(git_repository* mirror, const GitId& commit, const GitTreeQuery& query) {
  SLIPWAY_TRY(tree, tree_of(mirror, commit));
  git_odb* odb = nullptr;
  if (const int code = git_repository_odb(&odb, mirror); code != 0) return failure(code, "open the objects");
  const Odb held(odb);
  Reader reader(mirror, odb, query);
  if (query.path.empty()) {
    SLIPWAY_TRY_VOID(reader.add_folder(tree.get(), ""));
    return reader.take();
  }
  SLIPWAY_TRY_VOID(check_path(query.path));
  git_tree_entry* entry = nullptr;
  if (const int code = git_tree_entry_bypath(&entry, tree.get(), query.path.c_str()); code != 0) {
    return failure(code, fmt::format("{} in {}", query.path, commit));
  }
  const TreeEntry held_entry(entry);
  SLIPWAY_TRY_VOID(reader.add(entry, query.path));
  return reader.take();
}

Result<GitId> make_commit(git_repository* mirror, const GitNewCommit& wanted) {
  SLIPWAY_TRY_VOID(check_message(wanted.message));
  SLIPWAY_TRY(edits, to_edits(wanted.changes));
  SLIPWAY_TRY(author, to_signature(wanted.author));
  SLIPWAY_TRY(committer, to_signature(wanted.committer.value_or(wanted.author)));
  std::vector<Commit> parents;
  for (const GitId& id : wanted.parents) {
    SLIPWAY_TRY(parent, find_commit(mirror, id));
    parents.push_back(std::move(parent));
  }
  Tree before;
  if (!parents.empty()) {
    SLIPWAY_TRY(found, find_tree(mirror, *git_commit_tree_id(parents.front().get())));
    before = std::move(found);
  }
  Builder builder(mirror);
  SLIPWAY_TRY(built, builder.build(before.get(), edits, ""));
  git_oid empty;
  git_treebuilder* none = nullptr;
  if (!built) {
    git_treebuilder_new(&none, mirror, nullptr);
    const TreeBuilder held(none);
    git_treebuilder_write(&empty, none);
  }
  SLIPWAY_TRY(tree, find_tree(mirror, built ? *built : empty));
  std::vector<const git_commit*> pointers;
  for (const Commit& parent : parents) pointers.push_back(parent.get());
  git_oid made;
  const int code = git_commit_create(&made, mirror, nullptr, author.get(), committer.get(), nullptr, wanted.message.c_str(),
                                     tree.get(), pointers.size(), pointers.data());
  if (code != 0) return failure(code, "make a commit");
  return to_id(made);
}

}  // namespace slipway::git
