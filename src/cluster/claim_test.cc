#include "cluster/claim.h"

#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

constexpr const char* kFolder = "/data/volumes/default/shared";
constexpr const char* kOldFile = "/data/volumes/default/shared/old";

/// Simulated pods, real folders of claims.
class FolderRuntime : public SimulatedRuntime {
 public:
  explicit FolderRuntime(Env& env) : SimulatedRuntime(env), files_(env.files) {}
  Result<void> release_claim(const kube::ObjectKey& claim) override {
    return files_.remove_all("/data/volumes/" + claim.to_string());
  }

 private:
  Files& files_;
};

class ClaimTest : public ClusterTest {
 protected:
  ClaimTest() {
    make_pods_ = [this](ClusterTest&) { return std::make_unique<FolderRuntime>(env_); };
  }

  json::Value make_claim() {
    return make(kClaims, R"({apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: shared, namespace: default},
      spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}})");
  }
  void fill() {
    ASSERT_TRUE(env_.files().make_folders(kFolder));
    ASSERT_TRUE(env_.files().write(kOldFile, "old", 0644));
  }
  void make_user(const std::string& run_time) {
    make(kPods, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: user, namespace: default, annotations: "
                            "{{slipway.dev/run-time: {}}}}}, spec: {{restartPolicy: Never, volumes: [{{name: v, "
                            "persistentVolumeClaim: {{claimName: shared}}}}], containers: [{{name: main, image: x}}]}}}}",
                            run_time));
  }
  bool has_old_files() { return env_.files().exists(kOldFile); }
};

TEST_F(ClaimTest, protects_a_claim_from_its_creation_without_a_write_of_its_own) {
  start();
  const auto made = make_claim();
  EXPECT_TRUE(kube::has_finalizer(made, kClaimProtection));
  settle();
  EXPECT_EQ(get(kClaims, "shared")["status"]["phase"].as_string(), "Bound");
  EXPECT_EQ(kube::revision(get(kClaims, "shared")), kube::revision(made) + 2) << "the marks of binding and the status";
}

TEST_F(ClaimTest, a_new_claim_of_the_name_is_empty) {
  start();
  make_claim();
  fill();
  remove(kClaims, "shared");
  advance(seconds{1});
  EXPECT_TRUE(get(kClaims, "shared").is_null());
  make_claim();
  EXPECT_FALSE(has_old_files());
}

TEST_F(ClaimTest, is_kept_while_a_pod_uses_it) {
  start();
  make_claim();
  fill();
  make_user("60s");
  advance(seconds{1});
  remove(kClaims, "shared");
  advance(seconds{30});
  EXPECT_TRUE(kube::is_deleting(get(kClaims, "shared")));
  EXPECT_TRUE(has_old_files());
  advance(seconds{30});
  EXPECT_EQ(get(kPods, "user")["status"]["phase"].as_string(), "Succeeded");
  EXPECT_TRUE(get(kClaims, "shared").is_null());
  EXPECT_FALSE(has_old_files());
}

TEST_F(ClaimTest, goes_with_its_files_when_its_deletion_is_seen_only_after_a_restart) {
  start();
  make_claim();
  fill();
  settle();
  env_.drop_all();  // the controllers are gone
  remove(kClaims, "shared");
  EXPECT_TRUE(has_old_files());
  restart();
  EXPECT_TRUE(get(kClaims, "shared").is_null());
  EXPECT_FALSE(has_old_files());
}

TEST_F(ClaimTest, protects_a_claim_that_was_made_without) {
  start();
  make_claim();
  settle();
  env_.drop_all();
  {
    server::Server bare(env_, *store_, {});
    ASSERT_TRUE(env_.run(bare.start()));
    const json::Value none = json::object({{"metadata", json::object({{"finalizers", json::Value()}})}});
    ASSERT_TRUE(env_.run(client::merge_patch(bare, kClaims, {"default", "shared"}, none, "test")));
    env_.drop_all();
  }
  restart();
  EXPECT_TRUE(kube::has_finalizer(get(kClaims, "shared"), kClaimProtection));
}

TEST_F(ClaimTest, no_new_claim_finds_old_files_wherever_the_deletion_is_cut) {
  int points = 0;
  for (std::uint64_t steps = 1;; ++steps) {
    disk_.restore({});
    start();
    make_claim();
    fill();
    make_user("1s");
    advance(seconds{10});
    env_.spawn([](server::Server& server) -> Task<> {
      static_cast<void>(co_await client::remove(server, kClaims, {"default", "shared"}));
    }(*server_));
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool is_cut = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{1});
    restart();
    const bool is_deleted = get(kClaims, "shared").is_null();
    EXPECT_EQ(has_old_files(), !is_deleted) << "cut after step " << steps;
    if (!is_cut) {
      EXPECT_TRUE(is_deleted);
      break;
    }
    ++points;
    stop();
  }
  EXPECT_GT(points, 5);
}

}  // namespace
}  // namespace slipway::cluster
