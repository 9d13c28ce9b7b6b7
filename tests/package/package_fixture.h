// A server with the family of packages and its controllers in virtual time, over real bare repositories in a folder of the
// test. Requests are made as Porch's clients make them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../pipeline/landscape.h"
#include "client/client.h"
#include "delivery/package/kind.h"
#include "deployment.h"
#include "git/repositories.h"
#include "os/test_folder.h"
#include "plane/plane_fixture_test.h"

namespace slipway::package_test {

using json::Value;
using pipeline_test::Repository;
using std::chrono::minutes;
using std::chrono::seconds;

/// Who asks: empty is the process itself; groups give system:masters.
struct As {
  std::string user = "alice";
  bool is_admin = true;
};

/// One Slipway: a store, its server and controllers. Several may share an Env and its git.
class Slipway {
 public:
  Slipway(ManualEnv& env, std::string store);
  ~Slipway();
  server::Server& server() { return api_->server(); }

 private:
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
};

class PackageTest : public plane::RestartFixture {
 public:
  void open() override;
  void close() override;
  bool until(const std::function<bool()>& holds, Duration limit = minutes{10});

  /// A bare repository with one commit on main, and a Repository object for it.
  Repository& repository(const std::string& name, Deployment deployment = Deployment::No, const std::string& more = "");
  void register_repository(const std::string& name, Deployment deployment, const std::string& more = "");

  Result<client::Reply> call(client::Request request, As as = {});
  Result<Value> create(std::string_view yaml, As as = {});
  Result<Value> try_get(const kube::Resource& resource, const std::string& name);
  /// Null when absent.
  Value get(const kube::Resource& resource, const std::string& name);
  Value revision(const std::string& name) { return get(delivery::package::kRevisions, name); }
  Value files(const std::string& name) { return get(delivery::package::kResources, name); }
  std::string file(const std::string& name, const std::string& path);
  std::vector<Value> list(const kube::Resource& resource, const std::string& fields = "", const std::string& labels = "");
  std::vector<std::string> names(const kube::Resource& resource, const std::string& fields = "");
  Result<Value> put(const kube::Resource& resource, const Value& object, const std::string& subresource = "", As as = {});
  Result<Value> patch(const kube::Resource& resource, const std::string& name, std::string_view yaml, client::PatchType type,
                      const std::string& manager = "", As as = {}, const std::string& subresource = "");
  Result<Value> remove(const kube::Resource& resource, const std::string& name, As as = {});

  /// `init` of REPOSITORY/PACKAGE with that workspace: the name that the server gives.
  std::string init(const std::string& repository, const std::string& package, const std::string& workspace);
  std::string draft(const std::string& repository, const std::string& package, const std::string& workspace,
                    const std::string& task);
  /// Puts one file.
  Result<Value> push(const std::string& name, const std::string& path, const std::string& text);
  /// PUT with another lifecycle.
  Result<Value> move(const std::string& name, const std::string& lifecycle, const std::string& subresource = "", As as = {});
  Result<Value> propose(const std::string& name, As as = {}) { return move(name, "Proposed", "", as); }
  Result<Value> approve(const std::string& name, As as = {}) { return move(name, "Published", "approval", as); }
  std::string lifecycle(const std::string& name) { return revision(name)["spec"]["lifecycle"].str(); }
  std::string condition(const std::string& name, const std::string& type);

 protected:
  os::TestFolder folder_;
  std::unique_ptr<git::Repositories> git_;
  std::unique_ptr<Slipway> slipway_;
  std::map<std::string, std::unique_ptr<Repository>> repositories_;
  std::string life_{};  // in the names of files: another one begins with none
};

/// EXPECTs a success and gives the value.
Value must(const Result<Value>& result);
std::string fault(const Result<Value>& result);

}  // namespace slipway::package_test
