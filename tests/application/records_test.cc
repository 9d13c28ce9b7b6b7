// What Slipway stores of its own for an application, in bytes of JSON, and what it costs to deliver: the Application that the
// bench delivers, which is that of KubeVela's figures (two webservice components, five traits).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "base/metrics.h"
#include "delivery/application/tracker.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

constexpr const char* kStandard = R"({apiVersion: core.oam.dev/v1beta1, kind: Application,
  metadata: {name: shop-00001, namespace: default}, spec: {components: [
    {name: shop-00001-web, type: webservice, properties: {image: oamdev/hello-world, ports: [{port: 8000}]}, traits: [
      {type: scaler, properties: {replicas: 1}}, {type: labels, properties: {tier: front, team: shop}},
      {type: annotations, properties: {about: measured}}]},
    {name: shop-00001-api, type: webservice, properties: {image: oamdev/hello-world, ports: [{port: 8000}]}, traits: [
      {type: expose, properties: {port: [8000], type: ClusterIP}},
      {type: sidecar, properties: {name: log, image: busybox, cmd: [tail, -f]}}]}]}})";

constexpr const char* kRecordsReference =
    "{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: shop-00001}";

constexpr const char* kPasses = "slipway_reconcile_total application";
constexpr const char* kRendered = "slipway_application_evaluations_total component";
constexpr const char* kJudged = "slipway_application_evaluations_total health";

/// Counters as "name{value,value}".
class CountingMetrics : public NullMetrics {
 public:
  void count(std::string_view name, Labels labels, double by) override {
    std::string series(name);
    for (const Label& label : labels) series += fmt::format(" {}", label.value);
    counts_[series] += by;
  }
  double of(const std::string& series) const { return counts_.contains(series) ? counts_.at(series) : 0; }

 private:
  std::map<std::string, double> counts_;
};

struct Sizes {
  std::size_t application, revision, tracker, context, resources;

  std::size_t sum() const { return application + revision + tracker + context + resources; }
  std::string to_string() const {
    return fmt::format("Application {}, ApplicationRevision {}, ResourceTracker {}, context {}, rendered resources {}",
                       application, revision, tracker, context, resources);
  }
};

class StandardRecords : public testing::Test {
 protected:
  std::unique_ptr<Plane> deliver() {
    auto plane = std::make_unique<Plane>(&image(), PlaneOptions{.keeps_definitions = true, .metrics = &metrics_});
    plane->pass(std::chrono::minutes{1});
    plane->make_namespace("default");
    EXPECT_EQ(plane->apply(*json::parse_yaml(kStandard), "default"), "");
    plane->pass(std::chrono::minutes{2});
    const Value application = plane->find(kHub, *json::parse_yaml(kRecordsReference));
    EXPECT_EQ(application["status"]["status"].as_string(), "running") << json::print(application);
    return plane;
  }
  static Sizes sizes(const Plane& plane) {
    const auto size_of = [&](const char* version, const char* kind, const char* name) {
      const Value found =
          plane.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
      return found.is_null() ? 0 : json::print(found).size();
    };
    constexpr const char* kOam = "core.oam.dev/v1beta1";
    return {size_of(kOam, "Application", "shop-00001"), size_of(kOam, "ApplicationRevision", "shop-00001-v1"),
            size_of(kOam, "ResourceTracker", "shop-00001-v1-default"),
            size_of("v1", "ConfigMap", "workflow-shop-00001-context"), size_of("v1", "ConfigMap", "shop-00001-v1")};
  }

  CountingMetrics metrics_;
};

TEST_F(StandardRecords, DISABLED_profile) {
  Plane plane(&image(), PlaneOptions{.metrics = &metrics_});
  plane.make_namespace("default");
  for (int i = 1; i <= 40; ++i) {
    std::string text = kStandard;
    for (std::size_t at; (at = text.find("00001")) != std::string::npos;) text.replace(at, 5, fmt::format("{:05}", 100 + i));
    EXPECT_EQ(plane.apply(*json::parse_yaml(text), "default"), "");
  }
  plane.pass(std::chrono::seconds{20});
  fmt::print("passes {} rendered {} judged {}\n", metrics_.of(kPasses), metrics_.of(kRendered), metrics_.of(kJudged));
}

TEST_F(StandardRecords, cost_few_passes_and_evaluations) {
  deliver();
  EXPECT_LE(metrics_.of(kPasses), 8);
  EXPECT_LE(metrics_.of(kRendered), 3) << "once each, and once more what needs the live workload";
  EXPECT_LE(metrics_.of(kJudged), 10);
}

TEST_F(StandardRecords, cost_no_evaluation_at_rest) {
  const auto plane = deliver();
  const double passes = metrics_.of(kPasses);
  const double judged = metrics_.of(kJudged);
  const double rendered = metrics_.of(kRendered);
  plane->pass(std::chrono::minutes{61});
  EXPECT_GE(metrics_.of(kPasses), passes + 12) << "it is looked at every five minutes";
  EXPECT_LE(metrics_.of(kPasses), passes + 13);
  EXPECT_EQ(metrics_.of(kJudged), judged);
  EXPECT_EQ(metrics_.of(kRendered), rendered);
}

TEST_F(StandardRecords, come_to_18_kB_with_all_that_others_read) {
  const Sizes found = sizes(*deliver());
  // Of these 0.14 kB are the marks that let a rollout take an application over: who rendered, and where holdings are recorded.
  EXPECT_LE(found.sum(), 18'300U) << found.to_string();
  EXPECT_GT(found.context, 0U) << "vela reads it";
}

TEST(TrackerEntries, are_read_back_whether_compressed_or_not) {
  using delivery::application::entries_of;
  using delivery::application::with_entries;
  const Value spec = json::object({{"type", "versioned"}});
  json::ArrayBuilder few, many;
  for (int i = 0; i < 40; ++i)
    (i == 0 ? few : many).add(json::object({{"kind", "ConfigMap"}, {"name", fmt::format("a-{}", i)}}));
  const Value small = few.build();
  const Value large = many.build();
  const Value plain = with_entries(spec, small);
  EXPECT_EQ(plain["managedResources"], small) << "people can read it";
  const Value packed = with_entries(plain, large);
  EXPECT_FALSE(packed.has("managedResources"));
  EXPECT_EQ(packed["type"].as_string(), "versioned");
  EXPECT_LT(json::print(packed).size(), json::print(large).size() / 3);
  EXPECT_EQ(entries_of(json::object({{"spec", packed}})), large);
  EXPECT_EQ(entries_of(json::object({{"spec", with_entries(packed, small)}})), small);
}

}  // namespace
}  // namespace slipway::oracle_test
