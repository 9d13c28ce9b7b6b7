// What policies of scope Application cannot change: as whom an application acts, and which one it is.
#include "delivery/application/scoped_policies.h"

#include <gtest/gtest.h>

#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::yaml;

constexpr const char* kStored = R"(
metadata:
  {name: a, namespace: team, uid: u, finalizers: [f], labels: {l: stored}, annotations: {app.oam.dev/username: ann, other: stored}}
spec: {components: [], policies: [{name: p, type: t}]}
)";

enum class Named : std::uint8_t { Yes, AsGlobal };

/// With a policy of this template.
Result<Scoped> scoped_by(const std::string& text, Named named = Named::Yes) {
  testing::Library library;
  library.add(DefinitionKind::Policy, "t", text, yaml("{scope: Application}"));
  Lookup lookup{.definition = [&](DefinitionKind kind, const std::string& type) -> Result<DefinitionPtr> {
                  return library.find(kind, type);
                },
                .policy = {},
                .workflow = {}};
  if (named == Named::Yes) return with_scoped_policies(yaml(kStored), scoped_policies(yaml(kStored), lookup));
  lookup.global_policies = [&] { return std::vector<DefinitionPtr>{library.find(DefinitionKind::Policy, "t")}; };
  const Value unnamed = yaml(kStored).without_path({"spec", "policies"});
  return with_scoped_policies(unnamed, scoped_policies(unnamed, lookup));
}

Result<Scoped> scoped(const std::string& output) { return scoped_by("output: " + output); }

TEST(ScopedPolicies, cannot_say_as_whom_an_application_acts) {
  for (const std::string key : {"app.oam.dev/username", "app.oam.dev/group", "app.oam.dev/service-account-name"}) {
    const auto made = scoped("annotations: \"" + key + "\": \"system:masters\"");
    ASSERT_FALSE(made) << key;
    EXPECT_EQ(made.error().message,
              "policy p: output.annotations[\"" + key + "\"]: a policy cannot set as whom the application acts");
  }
}

TEST(ScopedPolicies, pass_annotations_on_without_those_of_admission) {
  const auto made = scoped("annotations: {context.appAnnotations, \"made/of\": context.appAnnotations.other}");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->application["metadata"]["annotations"], yaml("{app.oam.dev/username: ann, other: stored, made/of: stored}"));
}

TEST(ScopedPolicies, parameters_that_are_missing_are_named) {
  const std::string text = "output: labels: l: parameter.team\nparameter: {team: string, size: *1 | int}";
  const auto made = scoped_by(text);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "policy p: spec.policies[0].properties.team: Required value: string");
  EXPECT_EQ(made.error().causes, std::vector<Cause>{field::required("spec.policies[0].properties.team", "string")});
  EXPECT_TRUE(scoped_by("output: labels: l: \"x\"\nparameter: team: string")) << "none that is used";
  EXPECT_TRUE(scoped_by("config: enabled: false\n" + text)) << "it is not enabled";
  const auto global = scoped_by(text, Named::AsGlobal);
  ASSERT_FALSE(global);
  EXPECT_EQ(global.error().message, "policy t: parameter.team: required (string)");
}

TEST(ScopedPolicies, change_labels_and_other_annotations) {
  const auto made = scoped("{labels: l: \"made\", annotations: other: \"made\"}");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->application["metadata"],
            yaml("{name: a, namespace: team, uid: u, finalizers: [f], labels: {l: made}, annotations: {app.oam.dev/username: "
                 "ann, other: made}}"));
}

TEST(ScopedPolicies, leave_the_metadata_as_it_is_stored) {
  const Value made = yaml(R"(
metadata:
  name: b
  namespace: elsewhere
  uid: v
  ownerReferences: [{name: x}]
  labels: {l: made}
  annotations: {app.oam.dev/username: root, app.oam.dev/group: "system:masters", app.oam.dev/service-account-name: s, other: made}
spec: {components: [{name: c}]}
)");
  const Value whole = with_metadata_of(made, yaml(kStored));
  EXPECT_EQ(whole["metadata"],
            yaml("{name: a, namespace: team, uid: u, finalizers: [f], labels: {l: made}, annotations: {app.oam.dev/username: "
                 "ann, other: made}}"));
  EXPECT_EQ(whole["spec"], made["spec"]);
}

}  // namespace
}  // namespace slipway::delivery::application
