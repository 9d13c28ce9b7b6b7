#include "delivery/rollout/config_copies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

const char* const kTemplate = R"(
metadata: {labels: {app: web}}
spec:
  initContainers:
  - {name: init, envFrom: [{secretRef: {name: s1}}]}
  containers:
  - name: main
    envFrom: [{configMapRef: {name: c1, optional: true}}, {prefix: X_, secretRef: {name: s2}}]
    env:
    - {name: A, value: a}
    - {name: B, valueFrom: {configMapKeyRef: {name: c1, key: b}}}
    - {name: C, valueFrom: {secretKeyRef: {name: s3, key: c, optional: true}}}
    - {name: D, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  volumes:
  - {name: v1, configMap: {name: c2}}
  - {name: v2, secret: {secretName: s4}}
  - {name: v3, projected: {sources: [{configMap: {name: c3}}, {secret: {name: s5}}, {serviceAccountToken: {path: t}}]}}
  - {name: v4, emptyDir: {}}
  imagePullSecrets: [{name: pull}]
)";

TEST(ConfigCopies, finds_each_reference_once) {
  std::string found;
  for (const ConfigReference& one : config_references(yaml(kTemplate))) {
    found += fmt::format("{}{}{} ", one.is_secret ? "secret/" : "", one.name, one.is_optional ? "?" : "");
  }
  EXPECT_EQ(found, "c1 c2 c3 secret/s1 secret/s2 secret/s3? secret/s4 secret/s5 ") << "c1 is needed somewhere";
}

TEST(ConfigCopies, renames_in_every_place_and_nothing_else) {
  const Value before = yaml(kTemplate);
  const Value after = with_config_names(before, [](const ConfigReference& one) { return one.name + "-x"; });
  std::string text(kTemplate);
  for (const std::string name : {"c1", "c2", "c3", "s1", "s2", "s3", "s4", "s5"}) {
    for (std::size_t at = 0; (at = text.find(": " + name, at)) != std::string::npos; at += 6) text.insert(at + 4, "-x");
  }
  EXPECT_EQ(after, yaml(text));
  EXPECT_EQ(with_config_names(before, [](const ConfigReference& one) { return one.name; }), before);
}

TEST(ConfigCopies, are_named_by_content_and_workload_and_never_change) {
  const Value map =
      yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: conf., namespace: shop, labels: {a: b}}, data: {k: v}}");
  const kube::Object copy = config_copy(map, "Deployment/web-v2", {});
  EXPECT_TRUE(is_config_copy(copy));
  EXPECT_FALSE(is_config_copy(map));
  EXPECT_TRUE(copy["immutable"].as_bool());
  EXPECT_EQ(copy["data"], map["data"]);
  EXPECT_EQ(kube::ns(copy), "shop");
  EXPECT_TRUE(kube::name(copy).starts_with("conf-")) << kube::name(copy);
  EXPECT_EQ(copy, config_copy(map, "Deployment/web-v2", {}));
  EXPECT_NE(kube::name(copy), kube::name(config_copy(map, "Deployment/web-v3", {})));
  EXPECT_NE(kube::name(copy), kube::name(config_copy(map.with_path({"data", "k"}, "w"), "Deployment/web-v2", {})));
  EXPECT_NE(kube::name(copy), kube::name(config_copy(map.with_path({"data", "l"}, "v"), "Deployment/web-v2", {})));
}

}  // namespace
}  // namespace slipway::delivery::rollout
