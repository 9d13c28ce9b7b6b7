// A plane with a git repository and programs of its own: for steps that read or write what is outside of the clusters.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/function_programs.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {

class OutsidePlane {
 public:
  /// `clusters` beside the hub and the worker, with their labels.
  explicit OutsidePlane(const std::map<std::string, std::map<std::string, std::string>>& clusters = {});

  /// The documents of a YAML text, in the namespace of cases, as `user` (null: the process itself). Gives the server's
  /// refusals, or "".
  std::string apply(const std::string& yaml, const std::shared_ptr<const kube::UserInfo>& user = nullptr);
  /// A file of tests/seed000 with some texts replaced.
  std::string apply_seed(const std::string& file, const std::vector<std::pair<std::string, std::string>>& changes = {});
  /// "running a:succeeded b:failed/Action" once nothing changes any more.
  std::string end(const std::string& application = "a");
  Value application(const std::string& name = "a");
  Value find(const std::string& version, const std::string& kind, const std::string& name, const std::string& cluster = kHub,
             const std::string& ns = "");
  /// Of a step of the application, by its place.
  std::string message(std::size_t step, const std::string& application = "a");
  /// Writes the application as another client does: a merge patch.
  std::string patch(const std::string& yaml, const std::string& application = "a");

  Plane& plane() { return *plane_; }
  const git::TestRepository& repository() const { return repository_; }
  FunctionPrograms& programs() { return programs_; }
  /// Subjects of the commits of a branch, the newest first, without those of the repository's making.
  std::vector<std::string> log(const std::string& branch = "main") const;

 private:
  git::TestRepository repository_;
  git::TemporaryFolder mirrors_;
  FunctionPrograms programs_;
  std::unique_ptr<Git> git_;
  std::unique_ptr<Plane> plane_;
};

}  // namespace slipway::oracle_test
