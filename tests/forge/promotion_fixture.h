// A real repository with two marked environments, the real Git on lanes, and a promotion to bring into it.
#pragma once

#include "delivery/pipeline/git_promotion.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "os/logic_thread_fixture.h"

namespace slipway::test {

namespace pipeline = delivery::pipeline;

constexpr const char* kMarked = "spec:\n  version: 6.2.0 # {\"$promotion\": \"default:podinfo:prod\"}\n";

/// Where `version` stands in kMarked.
inline std::string marked(const std::string& version) {
  std::string text = kMarked;
  return text.replace(text.find("6.2.0"), 5, version);
}

class PromotionFixture : public os::LogicThreadTest {
 protected:
  PromotionFixture() { theirs_.commit({{"prod/app.yaml", kMarked}, {"README.md", kMarked}}, "start"); }
  ~PromotionFixture() override { real_.shut(); }

  pipeline::GitPromotion promotion(std::string version, std::string key) const {
    return {.remote = {.url = theirs_.path(), .space = "default"},
            .branch = "main",
            .text = {"podinfo", std::move(version), std::move(key), {"default", "podinfo", "prod"}},
            .author = {"Slipway", "slipway@example.org", Time{std::chrono::seconds{1'767'300'000}}, 0}};
  }
  /// How many commits of a branch have the key.
  int commits_with(const std::string& key, const std::string& branch = "main") const {
    return std::atoi(
        theirs_.bare("log --format=%B " + branch + " | grep -c '^Slipway-Promotion: " + key + "$' || true").c_str());
  }
  std::string prod(const std::string& branch = "main") const { return theirs_.show(branch, "prod/app.yaml") + "\n"; }

  git::TestRepository theirs_;
  git::TemporaryFolder data_;
  git::Repositories git_{real_.env(), {&real_.open_lane("mirrors")}, {&real_.open_lane("git")}, {.folder = data_ / "git"}};
};

}  // namespace slipway::test
