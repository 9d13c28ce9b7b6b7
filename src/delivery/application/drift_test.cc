#include "delivery/application/drift.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

using std::chrono::seconds;

TEST(Drift, names_the_outermost_fields_that_differ_and_who_wrote_them) {
  const Value wanted = yaml(R"(
metadata: {labels: {a: b}}
spec: {replicas: 2, template: {spec: {containers: [{name: web, image: one}, {name: side, image: x}]}}}
)");
  const Value live = yaml(R"(
metadata:
  labels: {a: c}
  managedFields:
  - {manager: own, operation: Apply, time: "2026-01-01T00:00:09Z", fieldsV1: {"f:spec": {"f:template": {}}}}
  - {manager: scaler, operation: Update, time: "2026-01-01T00:00:02Z", fieldsV1: {"f:spec": {"f:replicas": {}}}}
  - manager: editor
    operation: Update
    time: "2026-01-01T00:00:03Z"
    fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"web"}': {"f:image": {}}}}}}}
spec: {replicas: 5, template: {spec: {containers: [{name: side, image: x}, {name: web, image: two}]}}}
)");
  EXPECT_EQ(drifted_fields(wanted, live, "own"),
            (std::vector<DriftedField>{{"metadata.labels.a", ""},  // it has no owner
                                       {"spec.replicas", "scaler"},
                                       {"spec.template.spec.containers[web].image", "editor"}}));
  EXPECT_TRUE(has_drifted(wanted, live));
}

TEST(Drift, who_wrote_through_the_subresource_scale_is_named) {
  const Value live = yaml(R"(
metadata:
  managedFields:
  - {manager: boss, operation: Update, time: "2026-01-01T00:00:02Z", subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}
  - {manager: kubelet, operation: Update, time: "2026-01-01T00:00:03Z", subresource: status, fieldsV1: {"f:spec": {"f:replicas": {}}}}
  - {manager: editor, operation: Update, time: "2026-01-01T00:00:04Z", fieldsV1: {"f:spec": {"f:paused": {}}}}
spec: {replicas: 5, paused: true}
)");
  EXPECT_EQ(drifted_fields(yaml("{spec: {replicas: 2}}"), live, "own"), (std::vector<DriftedField>{{"spec.replicas", "boss"}}));
}

TEST(Drift, what_is_added_or_empty_is_none) {
  const Value wanted = yaml(R"({metadata: {labels: {a: b}}, spec: {list: [], text: "", members: {}}, status: {x: y}})");
  const Value live = yaml(R"({metadata: {labels: {a: b, c: d}}, spec: {more: 1}, status: {}})");
  EXPECT_FALSE(has_drifted(wanted, live));
  EXPECT_TRUE(drifted_fields(wanted, live, "own").empty());
}

class Repairs : public ::testing::Test {
 protected:
  /// The field differs at this time: whether it is repaired.
  bool drifts(int at_s) {
    const Steady now = Steady{} + seconds{at_s};
    if (log_.put_off(object_, fields_, now)) return false;
    log_.repaired(object_, fields_, now);
    return true;
  }
  std::size_t contested(int at_s) { return log_.contested(Steady{} + seconds{at_s}).size(); }

  const ObjectId object_{"local", "apps", "Deployment", "default", "web"};
  const std::vector<DriftedField> fields_{{"spec.replicas", "scaler"}};
  RepairLog log_;
};

TEST_F(Repairs, are_made_once_a_minute_after_three_within_one) {
  EXPECT_TRUE(drifts(100));
  EXPECT_TRUE(drifts(110));
  EXPECT_EQ(contested(110), 0U);
  EXPECT_TRUE(drifts(120));
  EXPECT_EQ(
      log_.contested(Steady{} + seconds{120}),
      (std::vector<std::string>{
          R"(spec.replicas of Deployment default/web is changed again and again by "scaler": it is put right once a minute)"}));
  EXPECT_FALSE(drifts(121));
  EXPECT_FALSE(drifts(179));
  EXPECT_TRUE(drifts(180));
  EXPECT_FALSE(drifts(181));
  EXPECT_EQ(log_.put_off(object_, fields_, Steady{} + seconds{200}), seconds{40});
}

TEST_F(Repairs, slow_drift_is_never_contested) {
  for (int at = 0; at < 1000; at += 31) EXPECT_TRUE(drifts(at)) << at;
}

TEST_F(Repairs, a_quiet_minute_ends_it) {
  for (const int at : {100, 101, 102}) EXPECT_TRUE(drifts(at));
  EXPECT_EQ(contested(150), 1U);
  EXPECT_EQ(log_.next(Steady{} + seconds{150}), seconds{12});
  EXPECT_EQ(contested(162), 0U);
  for (const int at : {170, 171, 172}) EXPECT_TRUE(drifts(at));
  EXPECT_FALSE(drifts(173));
}

TEST_F(Repairs, a_field_that_was_put_off_was_not_quiet) {
  for (const int at : {100, 101, 102}) EXPECT_TRUE(drifts(at));
  EXPECT_FALSE(drifts(103));
  EXPECT_LE(*log_.next(Steady{} + seconds{103}), RepairLog::kPause);
  EXPECT_EQ(contested(164), 1U);
  EXPECT_TRUE(drifts(164)) << "the look comes late";
  EXPECT_FALSE(drifts(165)) << "it is contested still";
  EXPECT_EQ(contested(283), 1U);
  EXPECT_EQ(contested(284), 0U) << "a minute after it could be repaired";
}

TEST_F(Repairs, other_fields_are_not_put_off) {
  for (const int at : {100, 101, 102}) EXPECT_TRUE(drifts(at));
  EXPECT_FALSE(log_.put_off(object_, {{"spec.paused", "scaler"}}, Steady{} + seconds{103}));
  EXPECT_FALSE(log_.put_off({"local", "apps", "Deployment", "default", "other"}, fields_, Steady{} + seconds{103}));
}

}  // namespace
}  // namespace slipway::delivery::application
