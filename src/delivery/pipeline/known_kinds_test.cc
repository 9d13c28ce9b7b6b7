#include "delivery/pipeline/known_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/lives_test.h"

namespace slipway::delivery::pipeline {
namespace {

/// What the caches show to a look at `target` (target_look.cc).
bool is_needed(const Object& target, const Object& other) {
  const Needs needs = find_row(target)->needs(target);
  for (const Needs::Named& source : needs.sources) {
    if (kube::kind(other) == source.kind && kube::ns(other) == source.ns && kube::name(other) == source.name) return true;
  }
  const bool is_made = std::ranges::any_of(needs.made, [&](const KindName& kind) { return kind.kind == kube::kind(other); });
  const std::vector<std::string> keys = maker_keys(other);
  return is_made && std::ranges::find_first_of(keys, needs.makers) != keys.end();
}

TEST(KnownKinds, reduced_objects_that_a_row_needs_are_read_as_all_whole_ones_are) {
  std::vector<Life> whole = lives();
  std::vector<Life> small = lives(reduced, is_needed);
  if (whole.empty()) GTEST_SKIP() << "no corpus";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<Values> expected;
    whole[i].play(
        [&](std::size_t, bool, const std::string&, const Values& values, const Value&) { expected.push_back(values); });
    std::size_t at = 0;
    small[i].play([&](std::size_t state, bool, const std::string& key, const Values& values, const Value&) {
      Values short_text = expected[at++];
      // Messages are cut.
      short_text.text = values.text;
      EXPECT_EQ(values, short_text) << whole[i].id() << "#" << state << " " << key << ": " << values.running.text << " "
                                    << json::enum_name(values.state) << ", not " << short_text.running.text << " "
                                    << json::enum_name(short_text.state);
    });
  }
}

TEST(KnownKinds, what_an_agent_made_is_found_by_the_keys_that_its_row_needs) {
  std::vector<Life> all = lives(reduced);
  if (all.empty()) GTEST_SKIP() << "no corpus";
  const Object release = *json::parse_yaml(
      "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: a}, spec: {targetNamespace: "
      "b}, status: {history: [{name: old, namespace: c}]}}");
  const Needs needs = find_row(release)->needs(release);
  EXPECT_EQ(needs.makers, (std::vector<std::string>{"helm a/web", "release b/b-web", "release c/old"}));
  const Object made = *json::parse_yaml(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: b, annotations: {meta.helm.sh/release-name: "
      "b-web, "
      "meta.helm.sh/release-namespace: b}}}");
  EXPECT_EQ(maker_keys(reduced(made)), std::vector<std::string>{"release b/b-web"});
}

TEST(KnownKinds, a_pod_that_is_not_ready_is_its_name_only) {
  const Object pod = *json::parse_yaml(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a, labels: {app: web}}, status: {conditions: [{type: Ready, "
      "status: 'False'}], containerStatuses: [{name: web, imageID: 'web@sha256:aa'}]}}");
  EXPECT_EQ(json::print(reduced(pod)), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"}})");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
