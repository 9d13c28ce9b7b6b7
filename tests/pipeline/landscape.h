// A delivery landscape in virtual time: a hub with the families' controllers, and member clusters (dev, staging, prod) with
// simulated Flux and simulated pods, all in one process over real stores and servers. The hub reaches members by kubeconfigs
// in Secrets, as GitopsClusters name them. Git repositories are real ones in a folder of the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_env.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/probe/paper_test.h"
#include "git/repositories.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "os/test_folder.h"
#include "plane/plane.h"
#include "store/memory_vfs.h"

namespace slipway::pipeline_test {

using json::Value;
using std::chrono::minutes;
using std::chrono::seconds;

/// A bare repository, changed and read by the git program.
class Repository {
 public:
  explicit Repository(std::string path);
  const std::string& path() const { return path_; }
  /// Commits files (empty content: removed) on top of a branch, which is made when it is not there. Its id.
  std::string commit(const std::map<std::string, std::string>& files, const std::string& message,
                     const std::string& branch = "main");
  /// The text of a file; "" when it is not there.
  std::string file(const std::string& path, const std::string& branch = "main");
  /// What `git log --format=FORMAT` says, oldest first, a line each.
  std::vector<std::string> log(const std::string& format, const std::string& branch = "main");
  /// Standard output of `git -C REPOSITORY WORDS…`; aborts when it fails.
  std::string git(const std::string& words, const std::string& input = "");

 private:
  std::string path_;
};

/// The way to a member.
struct MemberLine {
  bool is_cut = false;
  /// What the hub may not do there; empty: nothing.
  std::function<bool(const client::Request& request)> refuses{};
  std::set<client::Watch*> open{};

  void cut() {
    is_cut = true;
    for (client::Watch* watch : std::exchange(open, {})) watch->close();
  }
};

/// A controller that watches the store of a server and reads members through client::Clients that a test can cut off.
class Landscape : public testing::Test {
 public:
  static constexpr const char* kHub = "hub";

  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open();
  void close();
  /// The process is killed and started again over the same files.
  void restart();

  client::Client& client(const std::string& cluster);
  /// Server-side apply of every document, in the namespace default where none is given.
  void apply(const std::string& cluster, std::string_view yaml);
  Result<Value> try_apply(const std::string& cluster, std::string_view yaml);
  /// By plural in any group, e.g. "helmreleases". Null when absent.
  Value get(const std::string& cluster, const kube::Resource& resource, const std::string& name,
            const std::string& ns = "default");
  std::vector<Value> list(const std::string& cluster, const kube::Resource& resource, const std::string& ns = "");
  void patch(const std::string& cluster, const kube::Resource& resource, const std::string& name, std::string_view yaml,
             const std::string& ns = "default");
  void remove(const std::string& cluster, const kube::Resource& resource, const std::string& name,
              const std::string& ns = "default");
  void make_namespace(const std::string& cluster, const std::string& name);

  /// A GitopsCluster default/NAME on the hub whose Secret holds a kubeconfig of the member.
  void join(const std::string& member);
  /// The member answers no request until it is mended; watches of it end.
  void cut(const std::string& member) { lines_[member].cut(); }
  void mend(const std::string& member) { lines_[member].is_cut = false; }

  void advance(Duration time) { env_->advance(time); }
  /// Whether that holds within `limit` of virtual time; looked at every second.
  bool until(const std::function<bool()>& holds, Duration limit = minutes{10});

 protected:
  struct Cluster {
    std::unique_ptr<plane::ApiServer> api;
  };
  fleet::RemoteFactory remotes();

  std::vector<std::string> members_{"dev", "staging", "prod"};
  store::MemoryVfs disk_;
  os::TestFolder folder_;
  delivery::probe::PaperWeb web_;
  HttpClient* http_ = &web_;  // what the controllers call; set before open()
  std::unique_ptr<ManualEnv> env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
  std::unique_ptr<git::Repositories> git_;
  std::map<std::string, Cluster> clusters_;
  std::map<std::string, MemberLine> lines_;
  delivery::KindMapper kinds_;
  std::unique_ptr<plane::Controllers> controllers_;
};

}  // namespace slipway::pipeline_test
