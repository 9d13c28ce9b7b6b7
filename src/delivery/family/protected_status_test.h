// For tests of families: each kind with a status has an admission row that keeps users from writing it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "json/text_test.h"
#include "kube/admission.h"

namespace slipway::delivery {

/// {group, kind} of the definitions whose objects have a status.
inline std::vector<std::pair<std::string, std::string>> kinds_with_status(const std::vector<json::Value>& definitions) {
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const json::Value& definition : definitions) {
    const json::Value& spec = definition["spec"];
    if (!spec["versions"].item(0)["subresources"].has("status")) continue;
    kinds.emplace_back(spec["group"].str(), spec["names"]["kind"].str());
  }
  return kinds;
}

/// A user's write of the status changes nothing, unless the user may impersonate anyone; the process writes what it likes.
inline void expect_users_write_no_status(const std::vector<kube::AdmissionRow>& rows,
                                         const std::vector<std::pair<std::string, std::string>>& kinds) {
  const kube::UserInfo alice{.name = "alice", .uid = "", .groups = {"devs"}, .extra = {}};
  const auto asker = [&](bool may_impersonate) {
    const auto may = [may_impersonate](std::string_view verb, const kube::Resource&, std::string_view, std::string_view) {
      return verb != "impersonate" || may_impersonate;
    };
    return kube::Asker{.user = &alice, .may = may};
  };
  const kube::Object old = yaml("{metadata: {name: one}, status: {step: 0, phase: Waiting, gates: [{name: leads}]}}");
  const kube::Object written = yaml("{metadata: {name: one}, status: {step: 1, phase: Running, healthySince: x}}");
  for (const auto& [group, kind] : kinds) {
    const auto row = std::ranges::find_if(
        rows, [&](const kube::AdmissionRow& one) { return one.group == group && one.kind == kind && one.stamp_status; });
    ASSERT_NE(row, rows.end()) << kind << " takes its status from users";
    EXPECT_EQ(*row->stamp_status(written, old, asker(false)), old) << kind;
    EXPECT_EQ(*row->stamp_status(written, old, asker(true)), written) << kind;
    EXPECT_EQ(*row->stamp_status(written, old, kube::Asker{}), written) << kind << " by the process itself";
  }
}

}  // namespace slipway::delivery
