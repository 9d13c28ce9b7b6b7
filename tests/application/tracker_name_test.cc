// Applications of two namespaces whose ResourceTrackers would have one name (A9): neither holds the other up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::minutes;

Value application(const std::string& ns, const std::string& annotations, const std::string& value) {
  return yaml(fmt::format(
      "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: web, namespace: {}, annotations: {{{}}}}}, "
      "spec: {{components: [{{name: c, type: k8s-objects, properties: {{objects: [{{apiVersion: v1, kind: ConfigMap, "
      "metadata: {{name: made}}, data: {{of: {}}}}}]}}}}]}}}}",
      ns, annotations, value));
}

Value named(const char* version, const char* kind, const std::string& ns, const std::string& name) {
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", ns}, {"name", name}});
}

TEST(TrackerNames, that_two_namespaces_come_to_hold_up_neither) {
  Plane plane(&image());
  for (const char* ns : {"team-a", "x-team-a"}) plane.make_namespace(ns);
  const auto phase = [&](const std::string& ns) {
    return plane.find(kHub, named("core.oam.dev/v1beta1", "Application", ns, "web"))["status"]["status"].str();
  };
  const auto made = [&](const std::string& ns) {
    return plane.find(kHub, named("v1", "ConfigMap", ns, "made"))["data"]["of"].str();
  };
  ASSERT_EQ(plane.apply(application("team-a", "app.oam.dev/publishVersion: v1-x", "a"), ""), "");
  plane.pass(minutes{1});
  ASSERT_FALSE(plane.find(kHub, named("core.oam.dev/v1beta1", "ResourceTracker", "", "web-v1-x-team-a")).is_null());
  ASSERT_EQ(plane.apply(application("x-team-a", "", "one"), ""), "");
  plane.pass(minutes{1});
  EXPECT_EQ(phase("x-team-a"), "running");
  EXPECT_EQ(made("x-team-a"), "one");
  EXPECT_EQ(made("team-a"), "a");
  // A change, and a restart of the workflow, find the tracker again; the end takes what it made with it.
  ASSERT_EQ(plane.apply(application("x-team-a", "", "two"), ""), "");
  plane.pass(minutes{1});
  EXPECT_EQ(made("x-team-a"), "two");
  EXPECT_EQ(plane.remove(named("core.oam.dev/v1beta1", "Application", "x-team-a", "web")), "");
  plane.pass(minutes{1});
  EXPECT_EQ(made("x-team-a"), "");
  EXPECT_EQ(made("team-a"), "a") << "the other one's stays";
  EXPECT_EQ(phase("team-a"), "running");
}

}  // namespace
}  // namespace slipway::oracle_test
