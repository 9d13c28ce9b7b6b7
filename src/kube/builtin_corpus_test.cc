// The field tables of built-in kinds against objects with every field filled, and CRDs of other projects against the CRD
// schema.
#include <gtest/gtest.h>

#include <set>

#include "kube/builtin.h"
#include "kube/go_literal_test.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

const std::vector<ResourceType>& all_types() {
  static const std::vector<ResourceType> all = builtin_types();
  return all;
}

const ResourceType& corpus_type(std::string_view kind) {
  return *std::ranges::find(all_types(), kind, [](const ResourceType& type) { return type.kind.kind; });
}

/// Fields of the goldens, which are of a later release, that 1.33 does not have.
bool is_of_later_release(std::string_view path) {
  static const std::set<std::string_view> kLater{"allocatedResources",
                                                 "bindMountOptions",
                                                 "declaredFeatures",
                                                 "defaultUser",
                                                 "evictionResponders",
                                                 "fileKeyRef",
                                                 "healthStatus",
                                                 "hostnameOverride",
                                                 "mode",
                                                 "podCertificate",
                                                 "resources",
                                                 "protocol",
                                                 "restartPolicyRules",
                                                 "scheduling",
                                                 "schedulingGroup",
                                                 "user",
                                                 "volumeHealth",
                                                 "volumeStatus",
                                                 "observedGeneration",
                                                 "podPreemptionPolicy"};
  return kLater.contains(path.substr(path.rfind('.') + 1));
}

void expect_known(Suite& suite, const ResourceType& type, const json::Value& object) {
  std::vector<std::string> dropped;
  type.schema->prune(object, &dropped);
  std::erase_if(dropped, is_of_later_release);
  suite.expect(dropped.empty(), fmt::format("{} drops {}", type.kind.kind, dropped.empty() ? "" : dropped.front()));
}

TEST(BuiltinCorpus, knows_every_field_of_the_kinds_it_serves) {
  Suite suite("api-golden/fields");
  for (const ResourceType& type : all_types()) {
    const std::string group = type.kind.group.empty() ? "core" : type.kind.group;
    const json::Value object =
        corpus_value(fmt::format("kube/api-golden/{}.{}.{}.json", group, type.kind.version, type.kind.kind));
    if (!object.is_null()) expect_known(suite, type, object);
  }
  // The corpus has no Pod, but the template of one.
  SLIPWAY_CORPUS_OR_SKIP(object, "kube/api-golden/core.v1.PodTemplate.json");
  expect_known(suite, corpus_type("Pod"), object["template"]);
}

TEST(BuiltinCorpus, takes_crds_of_other_projects) {
  Suite suite("crd/envtest");
  const Schema& crd_schema = *corpus_type("CustomResourceDefinition").schema;
  for (const char* file : {"crds__examplecrd_unserved", "crdv1_original__example_multiversion_crd1",
                           "crdv1_updated__example_multiversion_crd1_one_more_version", "example_multiversion_crd1",
                           "examplecrd", "multiplecrds"}) {
    SLIPWAY_CORPUS_OR_SKIP(documents, fmt::format("kube/crd/envtest/{}.yaml", file));
    for (const json::Value& crd : documents.items()) {
      if (crd["kind"].as_string() != "CustomResourceDefinition") continue;
      std::vector<std::string> dropped;
      const json::Value filled = crd_schema.fill_defaults(crd_schema.prune(crd, &dropped));
      std::erase(dropped, "spec.subresources");  // of v1beta1: rightly unknown
      const auto causes = crd_schema.validate(filled);
      suite.expect(dropped.empty() && causes.empty(), fmt::format("{}: {}", file, causes.empty() ? "" : causes.front().field));
      for (const json::Value& version : filled["spec"]["versions"].items()) {
        const auto compiled = Schema::compile(version["schema"]["openAPIV3Schema"]);
        suite.expect(compiled.has_value(), fmt::format("{}: {}", file, compiled ? "" : compiled.error().message));
      }
    }
  }
}

}  // namespace
}  // namespace slipway::kube
