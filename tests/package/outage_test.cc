// A repository that cannot be written for a while: what was decided is told as not pushed, and is pushed once it can be.
#include <fmt/format.h>

#include <filesystem>

#include "delivery/package/why.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageOutage : public PackageTest {
 public:
  void take_away(const std::string& repository) {
    std::filesystem::rename(repositories_[repository]->path(), folder_ / "away");
  }
  void bring_back(const std::string& repository) {
    std::filesystem::rename(folder_ / "away", repositories_[repository]->path());
  }
  std::string why(const std::string& name) {
    delivery::CommandCall call{
        .env = env_->env(), .client = &slipway_->server(), .ns = "default", .words = {}, .objects = {}, .options = {}};
    return must_text(env_->run(why_revision(std::move(call), revision(name), "")));
  }
  static std::string must_text(const Result<std::string>& text) { return text ? *text : text.error().message; }
};

TEST_F(PackageOutage, what_the_repository_does_not_take_is_told_until_it_does) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "web", "v1");
  advance(seconds{1});
  EXPECT_EQ(condition(name, "NotPushed"), "absent");
  take_away("edge");
  must(propose(name));
  advance(seconds{5});
  EXPECT_EQ(condition(name, "NotPushed"), "True (RepositoryFails)");
  const std::string version = revision(name)["metadata"]["resourceVersion"].str();
  EXPECT_TRUE(why(name).contains("repository edge (NotPushed): ")) << why(name);
  advance(minutes{2});
  EXPECT_EQ(revision(name)["metadata"]["resourceVersion"].str(), version) << "it is said once";
  bring_back("edge");
  ASSERT_TRUE(until([&] { return edge.git("branch --list 'proposed/*'").contains("proposed/web/v1"); }, minutes{3}));
  advance(seconds{1});
  EXPECT_EQ(condition(name, "NotPushed"), "absent");
  EXPECT_FALSE(why(name).contains("NotPushed")) << why(name);
}

}  // namespace
}  // namespace slipway::package_test
