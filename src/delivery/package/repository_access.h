// A Repository opened for work: its settings, the remote with the credentials of its Secret, and where packages are in it.
#pragma once

#include <string>

#include "base/env.h"
#include "base/git.h"
#include "client/client.h"
#include "delivery/package/author.h"
#include "delivery/package/lifecycle.h"
#include "delivery/package/names.h"
#include "delivery/package/spec.h"
#include "delivery/package/status.h"
#include "delivery/package/update.h"

namespace slipway::delivery::package {

struct OpenRepository {
  std::string name{};
  RepositorySpec spec{};
  GateMode mode = GateMode::Report;  // of new records; see gate_mode_of()
  bool is_waived = false;            // who asked for Report may approve
  Time created{};
  GitRemote remote{};
  Place place{};
  Author author{};  // of the Repository: its Secret is read as this user

  const GitRepository& git() const { return *spec.git; }
  std::string branch_ref() const { return "refs/heads/" + place.branch; }
  /// The package's folder from the root of the repository: "" for none.
  std::string folder_of(const std::string& path) const { return plain_path(place.folder + "/" + path); }
  /// Who signs a commit that `user` asked for.
  GitPerson signer(const std::string& user, Time now) const;
  Locator lock(const std::string& path, const std::string& ref, const std::string& commit) const;
};

/// From a Repository object; BadRequest when its spec cannot be read, NotImplemented for registries. Without credentials.
Result<OpenRepository> read_repository(const json::Value& object);
/// What unmet gates do to a revision, whose record is given. Records that are older than the Repository are from an earlier
/// registration: their gates are enforced unless the mode was asked for by a user who may approve.
GateMode gate_mode_of(const OpenRepository& repository, const kube::Object& record);
/// With the Secret's credentials. NotFound for the Repository or the Secret; Forbidden while the Repository's author may not
/// get the Secret (lacks_right()).
Task<Result<OpenRepository>> open_repository(client::Client& server, std::string ns, std::string name);
/// `repository` with the credentials of its Secret, which is read at each use. `server` is the process's own client.
Task<Result<OpenRepository>> with_credentials(client::Client& server, std::string ns, OpenRepository repository);
/// NotImplemented where this process has no git.
Result<Git*> git_of(Env& env);

}  // namespace slipway::delivery::package
