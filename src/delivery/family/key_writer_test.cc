#include "delivery/family/key_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery {
namespace {

constexpr std::string_view kKey = "hmac-key";

kube::Object secret(std::string_view data, std::string_view annotations = "{}") {
  return yaml(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: hk, namespace: a, annotations: {}}}, data: {}}}",
                          annotations, data));
}

std::string writer_of(const kube::Object& object) {
  const auto user = key_writer(object);
  return user == nullptr ? "" : user->name;
}

TEST(KeyWriter, is_who_last_changed_the_key_whatever_the_body_says) {
  const kube::UserInfo admin{.name = "admin", .uid = "", .groups = {"leads"}, .extra = {}};
  const kube::UserInfo alice{.name = "alice", .uid = "", .groups = {"devs"}, .extra = {}};
  const kube::Asker as_admin{.user = &admin, .may = {}};
  const kube::Asker as_alice{.user = &alice, .may = {}};
  const std::string forged = "{slipway.dev/hmac-key-author: admin, slipway.dev/hmac-key-author-groups: leads}";

  const kube::Object made = record_key_writer(secret("{hmac-key: YQ==}"), {}, as_admin, kKey);
  EXPECT_EQ(writer_of(made), "admin");
  EXPECT_EQ(key_writer(made)->groups, std::vector<std::string>{"leads"});
  const kube::Object changed = record_key_writer(secret("{hmac-key: Yg==}", forged), made, as_alice, kKey);
  EXPECT_EQ(writer_of(changed), "alice");
  EXPECT_EQ(writer_of(record_key_writer(secret("{hmac-key: Yg==}", forged), changed, as_alice, kKey)), "alice");
  EXPECT_EQ(writer_of(record_key_writer(secret("{hmac-key: YQ==, other: Yg==}"), made, as_alice, kKey)), "admin")
      << "another key, and the annotations left out";
  const kube::Object removed = record_key_writer(secret("{other: Yg==}", forged), made, as_alice, kKey);
  EXPECT_EQ(writer_of(removed), "");
  EXPECT_EQ(writer_of(record_key_writer(secret("{hmac-key: YQ==}", forged), removed, as_alice, kKey)), "alice");
  EXPECT_EQ(writer_of(record_key_writer(secret("{hmac-key: YQ==}", forged), {}, as_alice, kKey)), "alice") << "created again";

  const kube::Object old = secret("{hmac-key: YQ==}");
  EXPECT_EQ(writer_of(record_key_writer(secret("{hmac-key: YQ==}", forged), old, as_alice, kKey)), "")
      << "of a time before writers were recorded";
  EXPECT_EQ(record_key_writer(made, {}, kube::Asker{}, kKey), made) << "the process's own";
}

TEST(KeyWriter, leaves_the_annotation_of_who_wrote_the_whole_secret) {
  const kube::UserInfo alice{.name = "alice", .uid = "", .groups = {"devs"}, .extra = {}};
  for (const char* data : {"{hmac-key: YQ==}", "{other: YQ==}"}) {
    const kube::Object written = secret(data, "{slipway.dev/content-authors: '[]'}");
    for (const kube::Object& old : {kube::Object(), secret(data)}) {
      const kube::Object made = record_key_writer(written, old, {.user = &alice, .may = {}}, kKey);
      EXPECT_EQ(kube::annotation(made, "slipway.dev/content-authors"), "[]") << data;
    }
  }
}

}  // namespace
}  // namespace slipway::delivery
