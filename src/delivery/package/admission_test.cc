#include "delivery/package/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/family/protected_status_test.h"
#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/protected.h"
#include "delivery/package/repository_access.h"
#include "json/text_test.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Every kind of the room that has a status, and RootSync, whose definition comes with the clusters.
TEST(PackageAdmission, users_write_no_status) {
  auto kinds = kinds_with_status(installed_definitions());
  kinds.emplace_back(kRootSyncKind.group, kRootSyncKind.kind);
  EXPECT_EQ(kinds.size(), 7U);
  expect_users_write_no_status(admission_rows(), kinds);
}

kube::Object repository(std::string_view annotations) {
  return yaml(fmt::format(
      "{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {{name: edge, namespace: default, "
      "creationTimestamp: '2026-01-02T00:00:00Z', annotations: {}}}, spec: {{deployment: true, git: {{repo: r}}}}}}",
      annotations));
}

class RepositoryAdmission : public ::testing::Test {
 public:
  kube::Asker asker(bool may_approve) {
    const auto may = [may_approve](std::string_view verb, const kube::Resource& resource, std::string_view, std::string_view) {
      EXPECT_EQ(fmt::format("{} {}", verb, resource.plural), "update packagerevisions/approval");
      return may_approve;
    };
    return {.user = &alice_, .may = may};
  }
  std::string refusal_of_delete(std::string_view annotations, bool may_approve) {
    const kube::Object old = repository(annotations);
    const kube::Object going = old.with_path({"metadata", "deletionTimestamp"}, "2026-01-03T00:00:00Z");
    std::string fields;
    for (const Cause& cause : check_protection(protections(), going, old, asker(may_approve))) fields += cause.field + ";";
    return fields;
  }

 protected:
  kube::UserInfo alice_{.name = "alice", .uid = "", .groups = {"devs"}, .extra = {}};
};

TEST_F(RepositoryAdmission, one_that_protects_is_deleted_by_who_may_approve) {
  const std::string mode = "metadata.annotations[packages.slipway.dev/gates];";
  const std::string answers = "metadata.annotations[packages.slipway.dev/ticket-answers];";
  EXPECT_EQ(refusal_of_delete("{}", false), mode) << "a deployment repository enforces";
  EXPECT_EQ(refusal_of_delete("{packages.slipway.dev/gates: report}", false), "");
  EXPECT_EQ(refusal_of_delete("{packages.slipway.dev/gates: report, packages.slipway.dev/ticket-answers: desk}", false),
            answers);
  EXPECT_EQ(refusal_of_delete("{packages.slipway.dev/tickets: 'secret:desk'}", false), mode + answers);
  EXPECT_EQ(refusal_of_delete("{packages.slipway.dev/tickets: 'secret:desk'}", true), "");
}

TEST_F(RepositoryAdmission, registering_again_weakens_no_gate_of_older_records) {
  const auto mode = [](const kube::Object& object, const std::string& created) {
    const kube::Object record = yaml(fmt::format("{{metadata: {{name: edge.web.v1, creationTimestamp: '{}'}}}}", created));
    return gate_mode_of(read_repository(object).value(), record);
  };
  const std::string before = "2026-01-01T00:00:00Z";
  const std::string after = "2026-01-02T00:00:01Z";
  const kube::Object forged = repository("{packages.slipway.dev/gates: report, slipway.dev/gates-waived: 'true'}");
  const kube::Object by_editor = stamp_waiver(forged, {}, asker(false));
  EXPECT_EQ(mode(by_editor, before), GateMode::Enforce);
  EXPECT_EQ(mode(by_editor, after), GateMode::Report);
  EXPECT_EQ(mode(stamp_waiver(forged, by_editor, asker(false)), before), GateMode::Enforce);
  const kube::Object by_approver = stamp_waiver(by_editor, by_editor, asker(true));
  EXPECT_EQ(mode(by_approver, before), GateMode::Report);
  EXPECT_EQ(mode(stamp_waiver(repository("{packages.slipway.dev/gates: report}"), by_approver, asker(false)), before),
            GateMode::Report)
      << "an editor writes another field";
  EXPECT_EQ(mode(stamp_waiver(repository("{slipway.dev/gates-waived: 'true'}"), {}, asker(true)), before), GateMode::Enforce)
      << "it enforces by itself";
}

}  // namespace
}  // namespace slipway::delivery::package
