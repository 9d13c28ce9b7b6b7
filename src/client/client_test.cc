#include "client/client.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::client {
namespace {

/// Remembers what it was asked.
class Recorder : public Client {
 public:
  Task<Result<Reply>> call(Request request) override {
    asked = std::move(request);
    co_return Reply{json::object({{"answer", 42}}), {}, 200};
  }
  Task<Result<std::unique_ptr<Watch>>> watch(Request) override { co_return fail(Reason::NotImplemented, "no watch"); }

  Request asked;
};

class Verbs : public testing::Test {
 protected:
  void TearDown() override { env_.drop_all(); }
  static Value job() {
    return json::object({{"apiVersion", "batch/v1"},
                         {"kind", "Job"},
                         {"metadata", json::object({{"name", "j"}, {"namespace", "n"}, {"resourceVersion", "5"}})}});
  }

  const Resource jobs_{"batch", "v1", "jobs"};
  ManualEnv env_;
  Recorder client_;
};

TEST_F(Verbs, take_the_address_from_the_object) {
  ASSERT_TRUE(env_.run(update(client_, jobs_, job(), "me")));
  EXPECT_EQ(client_.asked.to_string(), "PUT jobs.batch n/j");
  EXPECT_EQ(client_.asked.field_manager, "me");
  EXPECT_EQ(client_.asked.body, job());
  ASSERT_TRUE(env_.run(update_status(client_, jobs_, job(), "me")));
  EXPECT_EQ(client_.asked.to_string(), "PUT jobs.batch/status n/j");
  ASSERT_TRUE(env_.run(create(client_, jobs_, job(), "me")));
  EXPECT_EQ(client_.asked.to_string(), "POST jobs.batch n/");
  ASSERT_TRUE(env_.run(apply(client_, jobs_, job(), "me")));
  EXPECT_EQ(client_.asked.to_string(), "PATCH jobs.batch n/j");
  EXPECT_EQ(client_.asked.patch_type, PatchType::Apply);
  EXPECT_TRUE(client_.asked.force);
}

TEST_F(Verbs, give_the_object_of_the_reply) {
  const auto got = env_.run(get(client_, jobs_, {"n", "j"}));
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, json::object({{"answer", 42}}));
  EXPECT_EQ(client_.asked.to_string(), "GET jobs.batch n/j");
}

TEST_F(Verbs, ask_for_lists_and_patches) {
  ASSERT_TRUE(env_.run(list(client_, jobs_, {.ns = "n", .label_selector = "a=b", .field_selector = "metadata.name=j"})));
  EXPECT_EQ(client_.asked.label_selector, "a=b");
  EXPECT_EQ(client_.asked.field_selector, "metadata.name=j");
  ASSERT_TRUE(env_.run(merge_patch(client_, jobs_, {"n", "j"}, json::object({{"spec", Value()}}), "me", "status")));
  EXPECT_EQ(client_.asked.patch_type, PatchType::Merge);
  EXPECT_EQ(client_.asked.subresource, "status");
}

TEST_F(Verbs, remove_says_how) {
  ASSERT_TRUE(env_.run(remove(client_, jobs_, {"n", "j"},
                              {.propagation = "Foreground", .uid = "u", .resource_version = "7", .grace_seconds = 0})));
  EXPECT_EQ(client_.asked.to_string(), "DELETE jobs.batch n/j");
  EXPECT_EQ(client_.asked.body, json::object({{"apiVersion", "v1"},
                                              {"kind", "DeleteOptions"},
                                              {"propagationPolicy", "Foreground"},
                                              {"gracePeriodSeconds", 0},
                                              {"preconditions", json::object({{"uid", "u"}, {"resourceVersion", "7"}})}}));
}

TEST(PatchTypes, are_read_from_media_types) {
  EXPECT_EQ(patch_type_of("application/merge-patch+json; charset=utf-8"), PatchType::Merge);
  EXPECT_EQ(patch_type_of("application/apply-patch+yaml"), PatchType::Apply);
  const auto unknown = patch_type_of("text/plain");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::UnsupportedMediaType);
  EXPECT_EQ(unknown.error().message,
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
            "application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml");
}

}  // namespace
}  // namespace slipway::client
