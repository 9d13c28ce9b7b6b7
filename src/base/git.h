// Git repositories elsewhere, as an interface: room git implements it over libgit2 on lanes, tests and the simulator use the
// same over real repositories in a folder of theirs. Nothing is checked out: one remote's branches are fetched into a bare
// mirror below a data folder; files are read from and commits are made in its object store; a reference of the remote is then
// changed only if it still is where the caller has seen it, and never by force (the old id goes with the push and the remote
// compares it under its own lock: git-receive-pack). No hook runs here, no configuration of the machine or the user is read, no
// helper program is started. Everything that enters a commit is given by the caller, so the same input gives the same id.
//
// Errors of all operations, by reason: BadRequest (URL, reference, path or id is malformed; not a fast-forward), Unauthorized
// (no or refused credentials; an unknown host key or certificate), Forbidden (known, but not allowed; a local repository that
// is switched off), NotFound (repository, reference, commit, path), Conflict (the reference has moved or exists),
// RequestEntityTooLarge (a bound below, named), ServiceUnavailable (network, a server's fault), Timeout. Messages name the URL
// without credentials, and the reference.
//
//   GitRemote remote{.url = "https://git.example/team/config.git", .space = "team-a", .credentials = {.password = token}};
//   SLIPWAY_CO_TRY(base, co_await env.git->fetch(remote, "refs/heads/main"));
//   SLIPWAY_CO_TRY(files, co_await env.git->read_tree(remote, base, {.path = "prod", .suffixes = {".yaml"}}));
//   SLIPWAY_CO_TRY(made, co_await env.git->commit(remote, {.parents = {base}, .changes = {{"prod/app.yaml", text}}, …}));
//   co_await env.git->update_ref(remote, {.ref = "refs/heads/main", .expected = base, .target = made});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/task.h"
#include "base/time.h"

namespace slipway {

/// 40 lower-case hexadecimal digits.
using GitId = std::string;

/// What is shown to the remote. All of it may be empty (public or local repositories).
struct GitCredentials {
  std::string username{};         // HTTPS: "git" when only a token is known; SSH: the URL's user comes first, then this
  std::string password{};         // or token; never sent over plain http:// unless the host is a loopback address
  std::string ssh_private_key{};  // PEM or OpenSSH text
  std::string ssh_passphrase{};
  std::string known_hosts{};  // text as in ~/.ssh/known_hosts; required for SSH, there is no trust on first use
  std::string ca_bundle{};    // PEM; beside the machine's authorities. Intermediates of the server must be in it

  /// By the keys of the Secrets that Flux and Weave GitOps take for git: username, password, else token; identity (then
  /// password is its passphrase), known_hosts, ca.crt, else caFile. Other keys are passed over.
  static GitCredentials of_secret(const std::map<std::string, std::string>& secret);
};

/// A remote repository, and the mirror that belongs to it.
struct GitRemote {
  /// "/absolute/path", "file:///path", "http(s)://host/path", "ssh://[user@]host[:port]/path", "[user@]host:path".
  std::string url;
  /// Mirrors are kept per (space, url): give the namespace whose Secret the credentials come from, so that no tenant reads what
  /// the credentials of others have fetched.
  std::string space;
  GitCredentials credentials{};
  /// Of each operation that asks the remote.
  Duration timeout = std::chrono::seconds{60};
};

struct GitRef {
  std::string name;  // "refs/heads/main"
  GitId id;

  bool operator==(const GitRef&) const = default;
};

struct GitRefs {
  std::vector<GitRef> refs;  // by name; peeled entries of annotated tags ("^{}") are left out
  std::string head;          // what HEAD points at, "refs/heads/main"; empty when the remote does not say
};

enum class GitMode : std::uint8_t { Regular, Executable, Symlink, Submodule };

struct GitFile {
  std::string path;  // from the root of the repository, "/" between segments
  GitMode mode = GitMode::Regular;
  std::uint64_t size = 0;
  GitId id{};  // of its content: the same for the same bytes
  /// Bytes of the file, the target of a link; nothing of submodules, of what the query left out, and of files too large.
  std::optional<std::string> content{};
};

struct GitTreeQuery {
  std::string path{};                   // a folder or a file; empty: everything
  std::vector<std::string> suffixes{};  // other names come without content; empty: all come with it
  std::string containing{};             // files without these bytes come without content; empty: all come with it
  /// A file over max_file_bytes comes without content, or the whole is refused.
  enum class Large : bool { skip, refuse } large = Large::skip;
  std::uint64_t max_file_bytes = std::uint64_t{1} << 20;
  std::uint64_t max_total_bytes = std::uint64_t{64} << 20;  // of all content; beyond: refused
  std::size_t max_files = 20'000;                           // seen, with content or without; beyond: refused
};

struct GitPerson {
  std::string name;
  std::string email;
  Time time{};  // whole seconds
  int utc_offset_minutes = 0;

  bool operator==(const GitPerson&) const = default;
};

struct GitChange {
  std::string path;
  std::optional<std::string> content;  // nothing: the file, or the folder with all that is in it, is removed; absent is fine
  /// Nothing: that of the file it replaces, or Regular. Submodule is refused.
  std::optional<GitMode> mode{};
};

struct GitNewCommit {
  std::vector<GitId> parents{};  // the changes are made to the tree of the first; none: a first commit
  std::vector<GitChange> changes{};
  std::string message{};  // UTF-8; taken as it is
  GitPerson author{};
  std::optional<GitPerson> committer{};  // nothing: the author
};

struct GitCommit {
  GitId id;
  GitId tree;
  std::vector<GitId> parents{};
  std::string message{};
  GitPerson author{};
  GitPerson committer{};
};

/// A commit, and the files in which it differs from its first parent (sorted; a renamed file is two).
struct GitCommitChanges {
  GitCommit commit;
  std::vector<std::string> paths{};
  bool is_complete = true;  // false: there are more than kMaxChangedPaths
};

/// Which commits of a history, in the order of `git log`: newer ones first, each after the child that leads to it.
struct GitWalk {
  GitId tip;
  std::optional<GitId> base{};  // it and its ancestors are left out
  std::string path{};           // only commits that change this file or folder (against every parent)
  /// Only commits that have the line "KEY: VALUE" below their subject. Any line counts, not only the last paragraph: squash
  /// merges of a forge move trailers up. With an empty value: any value.
  std::string trailer_key{};
  std::string trailer_value{};
  std::size_t max_commits = 10'000;  // looked at
  std::size_t max_found = 1'000;
};

struct GitCommits {
  std::vector<GitCommit> commits;
  bool is_complete = true;  // false: one of the walk's bounds was met
};

/// One change of one reference, refs/heads/… or refs/tags/….
struct GitRefUpdate {
  std::string ref;
  std::optional<GitId> expected{};  // nothing: it must not exist
  std::optional<GitId> target{};    // an object of the mirror; nothing: the reference is deleted
};

class Git {
 public:
  static constexpr std::size_t kMaxUrlBytes = 2'048;
  static constexpr std::size_t kMaxPathBytes = 4'096;
  static constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxChangedPaths = 10'000;

  virtual ~Git() = default;

  /// The remote's references whose name begins with `prefix`; the mirror is not touched.
  virtual Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) = 0;
  /// Brings what the remote's reference points at, with its history, into the mirror. NotFound when the remote has no such
  /// reference. What is there already is not fetched again.
  virtual Task<Result<GitId>> fetch(GitRemote remote, std::string ref) = 0;
  /// As fetch() of all references that begin with `prefix`, over one connection; those that came, by name.
  virtual Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) = 0;
  /// Changes a reference of the remote in one step, and answers once the remote has taken it. Conflict when it is not at
  /// `expected`; BadRequest when `target` does not descend from `expected` (branches). Timeout and ServiceUnavailable: it may
  /// have happened; list_refs() tells.
  virtual Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) = 0;

  // From here on only the mirror is asked: NotFound when what is asked for was not fetched.

  /// The files of a commit (or tree), by path. NotFound when `query.path` is not there.
  virtual Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) = 0;
  /// Makes a commit in the mirror, and gives its id. BadRequest for paths that are no file's: absolute, empty, "." or ".."
  /// segments, ".git" in any case or disguise, control characters, a file below a file.
  virtual Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) = 0;
  virtual Task<Result<GitCommitChanges>> read_commit(GitRemote remote, GitId id) = 0;
  virtual Task<Result<GitCommits>> walk(GitRemote remote, GitWalk walk) = 0;
  /// True too when both are the same.
  virtual Task<Result<bool>> is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) = 0;
  /// Removes the mirror; the remote is not asked.
  virtual Task<Result<void>> forget(GitRemote remote) = 0;
};

}  // namespace slipway
