#include "kube/object.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::kube {
namespace {

Time at(std::string_view text) { return parse_rfc3339(text).value(); }
const Resource kBatchJobs{"batch", "v1", "jobs"};
const GroupVersionKind kWorkflow{"batch.slipway.dev", "v1alpha1", "Workflow"};

TEST(Object, reads_its_group_version_and_kind) {
  EXPECT_EQ(GroupVersionKind::of(parsed(R"({"apiVersion":"batch/v1","kind":"Job"})")).value(),
            (GroupVersionKind{"batch", "v1", "Job"}));
  EXPECT_EQ(GroupVersionKind::of(parsed(R"({"apiVersion":"v1","kind":"Pod"})")).value(), (GroupVersionKind{"", "v1", "Pod"}));
  for (const char* text : {"[]", R"({"kind":"Job"})", R"({"apiVersion":"v1"})", R"({"apiVersion":"a/b/c","kind":"Job"})"}) {
    const auto kind = GroupVersionKind::of(parsed(text));
    ASSERT_FALSE(kind.has_value()) << text;
    EXPECT_EQ(kind.error().reason, Reason::BadRequest);
  }
}

TEST(Object, has_revision_zero_when_it_is_no_number) {
  EXPECT_EQ(revision(parsed(R"({"metadata":{"resourceVersion":"42"}})")), 42);
  EXPECT_EQ(revision(parsed(R"({"metadata":{"resourceVersion":"4x"}})")), 0);
  EXPECT_EQ(revision(parsed("{}")), 0);
}

TEST(Finalizers, are_added_once_and_leave_no_empty_list) {
  const Object bare = parsed(R"({"metadata":{"name":"a"}})");
  const Object held = with_finalizer(bare, "x/y");
  EXPECT_EQ(json::print(held), R"({"metadata":{"name":"a","finalizers":["x/y"]}})");
  EXPECT_TRUE(with_finalizer(held, "x/y").is_same(held));
  EXPECT_EQ(without_finalizer(held, "x/y"), bare);
  EXPECT_TRUE(without_finalizer(bare, "x/y").is_same(bare));
}

TEST(Owners, controller_is_the_one_that_says_so) {
  const Object owner = parsed(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","uid":"u1"}})");
  const Object pod = json::object(
      {{"metadata", json::object({{"ownerReferences", json::array({parsed(R"({"uid":"u0"})"), owner_reference(owner)})}})}});
  EXPECT_EQ(controller_of(pod)["uid"].as_string(), "u1");
  EXPECT_EQ(json::print(controller_of(pod)),
            R"({"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u1","controller":true,"blockOwnerDeletion":true})");
  EXPECT_TRUE(is_owned_by(pod, "u0"));
  EXPECT_FALSE(is_owned_by(pod, "u2"));
  EXPECT_TRUE(controller_of(owner).is_null());
}

TEST(Conditions, move_their_transition_time_only_with_their_status) {
  const Time first = at("2026-01-01T00:00:00Z");
  const Time later = at("2026-01-02T00:00:00Z");
  const json::Value one = set_condition({}, {"Ready", "False", "Starting", "wait"}, first);
  EXPECT_EQ(
      json::print(one),
      R"([{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Starting","message":"wait"}])");
  EXPECT_TRUE(set_condition(one, {"Ready", "False", "Starting", "wait"}, later).is_same(one));
  const json::Value reworded = set_condition(one, {"Ready", "False", "Starting", "still"}, later);
  EXPECT_EQ(reworded.item(0)["lastTransitionTime"].as_string(), "2026-01-01T00:00:00Z");
  const json::Value turned = set_condition(one, {"Ready", "True", "Up", ""}, later);
  EXPECT_EQ(turned.item(0)["lastTransitionTime"].as_string(), "2026-01-02T00:00:00Z");
  EXPECT_EQ(turned.item(0)["message"].as_string(), "");
}

TEST(Conditions, keep_their_order_and_their_other_fields) {
  const json::Value conditions =
      parsed(R"([{"type":"A","status":"True","observedGeneration":3},{"type":"B","status":"True"}])");
  const json::Value next = set_condition(conditions, {"A", "False", "R", "M"}, at("2026-01-01T00:00:00Z"), true);
  EXPECT_EQ(json::print(next.item(0)),
            R"({"type":"A","status":"False","observedGeneration":3,"lastProbeTime":"2026-01-01T00:00:00Z",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"M"})");
  EXPECT_EQ(next.item(1), conditions.item(1));
  const Object object = json::object({{"status", json::object({{"conditions", next}})}});
  EXPECT_TRUE(is_true(object, "B"));
  EXPECT_FALSE(is_true(object, "A"));
  EXPECT_FALSE(is_true(object, "C"));
}

TEST(Status, of_an_invalid_object_names_every_cause) {
  const Status one = invalid(kWorkflow, "x", {field::required("spec.a")});
  EXPECT_EQ(one.message, "Workflow.batch.slipway.dev \"x\" is invalid: spec.a: Required value");
  const Status two = invalid({"", "v1", "Pod"}, "p",
                             {field::required("spec.a"), field::invalid("spec.b", "\"v\"", "no"), field::required("spec.a")});
  EXPECT_EQ(two.message, "Pod \"p\" is invalid: [spec.a: Required value, spec.b: Invalid value: \"v\": no]");
  EXPECT_EQ(two.causes.size(), 3U);
  EXPECT_EQ(two.kind, "Pod");
}

TEST(Status, about_a_resource_is_worded_as_upstream) {
  EXPECT_EQ(not_found(kBatchJobs, "a").message, "jobs.batch \"a\" not found");
  EXPECT_EQ(already_exists({"", "v1", "pods"}, "a").message, "pods \"a\" already exists");
  EXPECT_EQ(
      conflict(kBatchJobs, "a", "the object has been modified; please apply your changes to the latest version and try again")
          .message,
      "Operation cannot be fulfilled on jobs.batch \"a\": the object has been modified; please apply your changes to the "
      "latest "
      "version and try again");
}

TEST(Status, goes_to_json_and_back) {
  EXPECT_EQ(json::print(to_json(not_found(kBatchJobs, "a"))),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"jobs.batch \"a\" not found",)"
            R"("reason":"NotFound","details":{"name":"a","group":"batch","kind":"jobs"},"code":404})");
  Status status = invalid(kWorkflow, "x", {field::required("spec.a"), field::forbidden("spec.b", "no")});
  status.retry_after_seconds = 3;
  EXPECT_EQ(status_from_json(to_json(status)), status);
  EXPECT_EQ(status_from_json(parsed(R"({"code":409,"message":"m"})")).reason, Reason::Conflict);
  EXPECT_EQ(status_from_json(parsed(R"({"reason":"Odd","code":404})")).reason, Reason::NotFound);
}

TEST(Reference, leaves_out_what_an_object_has_not) {
  EXPECT_EQ(json::print(reference_to(parsed(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})"))),
            R"({"apiVersion":"v1","kind":"Namespace","name":"n"})");
}

}  // namespace
}  // namespace slipway::kube
