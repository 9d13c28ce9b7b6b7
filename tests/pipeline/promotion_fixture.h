// Promotions on the real server in virtual time, without the view: the status of the Pipeline is written by hand, as its
// agents would have it. Changes are made on paper, by key, as git makes them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/pipeline/change.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/viewed_pipelines.h"
#include "delivery/probe/paper_test.h"
#include "git/repositories.h"
#include "os/test_folder.h"
#include "plane/plane_fixture_test.h"

namespace slipway::pipeline_test {

using delivery::pipeline::ChangeOrder;
using delivery::pipeline::ChangeResult;
using delivery::pipeline::ChangeState;
using delivery::pipeline::ChangeTools;
using delivery::pipeline::PromotionEffect;
using json::Value;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// Outlives the controllers, as a repository does.
class PaperChanges : public delivery::pipeline::Changes {
 public:
  Task<ChangeResult> carry_out(ChangeTools tools, PromotionEffect::Kind kind, ChangeOrder order) override;

  std::map<std::string, std::string> by_key{};  // promotion → "prod 1.1.0"
  std::map<std::string, std::string> wanted{};  // environment → version, what agents are to bring up
  std::vector<std::string> made{};              // each change that was really made
  std::vector<std::string> calls{};             // each call
  std::function<std::optional<ChangeResult>(PromotionEffect::Kind kind, const ChangeOrder& order)> instead{};
  bool is_on_paper = true;  // false: commits are made in real repositories
};

class PromotionTest : public plane::PlaneFixture {
 public:
  void open() override;
  void close() override;

  /// As the process itself; into "default".
  Value apply(std::string_view yaml);
  /// As a user, with all rights.
  Value apply_as(const std::string& user, std::string_view yaml);
  void remove(const kube::Resource& resource, const std::string& name) { remove_in("default", resource, name); }
  std::vector<Value> list(const kube::Resource& resource) { return list_in("default", resource); }

  /// Pipeline "web" over dev, staging and prod, two targets each, all at 1.0.0; `more` is YAML of its spec.
  void pipeline(std::string_view more = "", std::string_view of_prod = "");
  /// All targets of the environment run the version, ready.
  void settle(const std::string& environment, const std::string& version);
  /// The agents bring up what is wanted, until nothing is.
  void follow();
  void run();

  std::string release(const std::string& version);
  /// "Waiting Held" of the newest promotion of the version into the environment; "" when there is none.
  std::string state(const std::string& environment, const std::string& version);
  Value promotion(const std::string& environment, const std::string& version);
  std::vector<std::string> events(const std::string& reason);

 protected:
  delivery::probe::PaperWeb web_;
  PaperChanges changes_;
  std::shared_ptr<delivery::pipeline::ViewedPipelines> viewed_{};  // null: what is written by hand counts at once
  os::TestFolder folder_;
  std::unique_ptr<git::Repositories> git_;
  std::map<std::string, std::string> runs_{{"dev", "1.0.0"}, {"staging", "1.0.0"}, {"prod", "1.0.0"}};
  delivery::Family family_;
  std::vector<const delivery::Family*> families_{&family_};

 private:
  void write_status();
};

}  // namespace slipway::pipeline_test
