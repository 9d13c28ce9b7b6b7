#include "delivery/family/protection.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery {
namespace {

const kube::GroupVersionKind kGuardKind{"test.slipway.dev", "v1", "Guard"};
const kube::Resource kGuards{"test.slipway.dev", "v1", "guards"};

std::vector<std::string> deleted_while_held(const kube::Object& object, const kube::Object& old) {
  const bool is_refused = kube::is_deleting(object) && old["status"]["held"].as_bool();
  return is_refused ? std::vector<std::string>{"status.held"} : std::vector<std::string>{};
}

const Protection kGuardRows[] = {{kGuardKind, "delete while held", "approve", kGuards, true, deleted_while_held}};

kube::Object guard(const std::string& owners, bool is_held) {
  return *json::parse_yaml(
      "{apiVersion: test.slipway.dev/v1, kind: Guard, metadata: {name: g, namespace: team, ownerReferences: " + owners +
      "}, status: {held: " + (is_held ? "true" : "false") + "}}");
}

const kube::UserInfo kEve{.name = "eve", .uid = "", .groups = {}, .extra = {}};

/// The fields of what is refused; `may`: whether the user has the right.
std::vector<std::string> refused(const kube::Object& object, const kube::Object& old, bool may,
                                 const kube::UserInfo* user = &kEve) {
  const auto allows = [may](std::string_view verb, const kube::Resource&, std::string_view, std::string_view name) {
    EXPECT_EQ(std::string(verb) + " " + std::string(name), "approve g");
    return may;
  };
  std::vector<std::string> fields;
  for (const Cause& cause : check_protection(kGuardRows, object, old, {user, allows, Time{}})) fields.push_back(cause.field);
  return fields;
}

TEST(Protection, of_a_delete_binds_the_owners_that_would_take_the_object_along) {
  const std::string bait = "{apiVersion: v1, kind: ConfigMap, name: bait, uid: u1}";
  const std::string other = "{apiVersion: v1, kind: ConfigMap, name: other, uid: u2}";
  const std::vector<std::string> owners{"metadata.ownerReferences"};
  const kube::Object held = guard("[]", true), owned = guard("[" + bait + "]", true);
  EXPECT_EQ(refused(guard("[" + bait + "]", true), held, false), owners);
  EXPECT_EQ(refused(guard("[" + bait + ", " + other + "]", true), owned, false), owners);
  EXPECT_EQ(refused(guard("[" + other + "]", true), owned, false), owners) << "replaced";
  EXPECT_EQ(refused(guard("[{apiVersion: v1, kind: ConfigMap, name: gone, uid: u1}]", true), owned, false), owners)
      << "the collector looks for it by its name";
  EXPECT_EQ(refused(guard("[" + bait + "]", true), guard("[" + bait + ", " + other + "]", true), false), owners)
      << "the one that is left may be gone";
  EXPECT_EQ(refused(owned, held, true), std::vector<std::string>{}) << "with the right";
  EXPECT_EQ(refused(owned, held, false, nullptr), std::vector<std::string>{}) << "the process";
  EXPECT_EQ(refused(held, owned, false), std::vector<std::string>{}) << "without owners nothing is collected";
  EXPECT_EQ(
      refused(guard("[{apiVersion: v1, kind: ConfigMap, name: bait, uid: u1, blockOwnerDeletion: true}]", true), owned, false),
      std::vector<std::string>{});
  EXPECT_EQ(refused(guard("[" + bait + "]", false), guard("[]", false), false), std::vector<std::string>{})
      << "its delete would not be refused";
}

TEST(Protection, says_what_is_refused_and_which_right_it_takes) {
  const auto causes = check_protection(kGuardRows, guard("[{apiVersion: v1, kind: ConfigMap, name: bait, uid: u1}]", true),
                                       guard("[]", true), {&kEve, [](auto&&...) { return false; }, Time{}});
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(
      causes[0].message,
      "Forbidden: the object would be deleted together with its owners, which is refused now: for that user \"eve\" needs "
      "the right to approve guards.test.slipway.dev in namespace team");
}

}  // namespace
}  // namespace slipway::delivery
