#include "delivery/package/admission.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "json/text_test.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Every kind of the room that has a status, and RootSync, whose definition comes with the clusters.
TEST(PackageAdmission, users_write_no_status) {
  const kube::UserInfo alice{.name = "alice", .uid = "", .groups = {"devs"}, .extra = {}};
  const auto asker = [&](bool may_impersonate) {
    const auto may = [may_impersonate](std::string_view verb, const kube::Resource&, std::string_view, std::string_view) {
      return verb != "impersonate" || may_impersonate;
    };
    return kube::Asker{.user = &alice, .may = may};
  };
  const std::vector<kube::AdmissionRow> rows = admission_rows();
  std::size_t count = 0;
  std::vector<std::pair<std::string, std::string>> kinds{{kRootSyncKind.group, kRootSyncKind.kind}};
  for (const Value& definition : installed_definitions()) {
    if (!definition["spec"]["versions"].item(0)["subresources"].has("status")) continue;
    kinds.emplace_back(definition["spec"]["group"].str(), definition["spec"]["names"]["kind"].str());
  }
  for (const auto& [group, kind] : kinds) {
    const auto row = std::ranges::find_if(
        rows, [&](const kube::AdmissionRow& one) { return one.group == group && one.kind == kind && one.stamp_status; });
    ASSERT_NE(row, rows.end()) << kind << " takes its status from users";
    const kube::Object old = yaml("{metadata: {name: one}, status: {step: 0, phase: Waiting, gates: [{name: leads}]}}");
    const kube::Object written = yaml("{metadata: {name: one}, status: {step: 1, phase: Running, healthySince: x}}");
    EXPECT_EQ(*row->stamp_status(written, old, asker(false)), old) << kind;
    EXPECT_EQ(*row->stamp_status(written, old, asker(true)), written) << kind;
    EXPECT_EQ(*row->stamp_status(written, old, kube::Asker{}), written) << kind << " by the process itself";
    ++count;
  }
  EXPECT_EQ(count, 7U);
}

}  // namespace
}  // namespace slipway::delivery::package
