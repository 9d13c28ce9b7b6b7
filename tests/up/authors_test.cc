// Objects of a folder from before authors were recorded, across starts of the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "up_process.h"

namespace slipway::up {
namespace {

constexpr const char* kFlow = "/apis/batch.slipway.dev/v1alpha1/namespaces/default/workflows/w";

class AuthorsByProgram : public testing::Test {
 protected:
  AuthorsByProgram() {
    std::string pattern = testing::TempDir() + "slipway-authors-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~AuthorsByProgram() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove(folder_ + ".log");
  }
  static std::string workflow(User& user) {
    std::string body;
    user.run([&body](User& open) -> Task<> {
      const auto answer = co_await open.client().send(open.get(kFlow));
      if (answer) body = answer->body;
    });
    return body;
  }
  /// True once the workflow has the text, within a minute: the program runs by the clock of the machine.
  static bool await(User& user, const std::string& text) {
    for (int i = 0; i < 600; ++i) {
      if (workflow(user).contains(text)) return true;
      usleep(100'000);
    }
    return false;
  }

  std::string folder_;
};

TEST_F(AuthorsByProgram, objects_without_one_wait_until_somebody_adopts_them) {
  const std::string file = folder_ + "/w.yaml";
  std::ofstream(file) << "apiVersion: batch.slipway.dev/v1alpha1\nkind: Workflow\nmetadata: {name: w, namespace: default}\n"
                         "spec: {steps: {a: {objectTemplate: {apiVersion: v1, kind: ConfigMap, metadata: {name: made}}}}}\n";
  const std::string data = folder_ + "/data";
  ASSERT_EQ(std::system((binary() + " apply -f " + file + " --data-dir " + data + " >/dev/null 2>&1").c_str()), 0);
  ASSERT_TRUE(std::filesystem::remove(data + "/authors-recorded")) << "what an older program has not written";
  {
    UpProcess up(binary(), data);
    User user(up.access(), 1);
    EXPECT_TRUE(await(user, "AuthorUnknown")) << workflow(user);
    EXPECT_TRUE(workflow(user).contains("--adopt-as USER"));
    EXPECT_TRUE(workflow(user).contains("\"batch.slipway.dev/username\":\"system:unknown-author\""));
  }
  UpProcess up(binary(), data, {"--adopt-as", "olga", "--adopt-as-group", "system:masters"});
  User user(up.access(), 1);
  EXPECT_TRUE(await(user, "\"Complete\"")) << workflow(user);
  EXPECT_TRUE(workflow(user).contains("\"batch.slipway.dev/username\":\"olga\""));
}

}  // namespace
}  // namespace slipway::up
