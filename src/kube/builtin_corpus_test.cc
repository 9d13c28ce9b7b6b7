// The field tables of built-in kinds against objects with every field filled, and CRDs of other projects against the CRD
// schema.
#include <gtest/gtest.h>

#include "kube/builtin.h"
#include "kube/go_literal_test.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

const ResourceType& builtin(std::string_view kind) {
  static const std::vector<ResourceType> all = builtin_types();
  return *std::ranges::find(all, kind, [](const ResourceType& type) { return type.kind.kind; });
}

void expect_known(Suite& suite, std::string_view kind, const json::Value& object) {
  std::vector<std::string> dropped;
  builtin(kind).schema->prune(object, &dropped);
  suite.expect(dropped.empty(), fmt::format("{} drops {}", kind, dropped.empty() ? "" : dropped.front()));
}

TEST(BuiltinCorpus, knows_every_field_of_the_kinds_it_serves) {
  Suite suite("api-golden/fields");
  for (const std::string_view name :
       {"core.v1.Namespace", "core.v1.ConfigMap", "core.v1.Secret", "core.v1.PersistentVolumeClaim", "core.v1.Event",
        "batch.v1.Job", "coordination.k8s.io.v1.Lease"}) {
    SLIPWAY_CORPUS_OR_SKIP(object, fmt::format("kube/api-golden/{}.json", name));
    expect_known(suite, name.substr(name.rfind('.') + 1), object);
  }
  // The corpus has no Pod, but the template of one.
  SLIPWAY_CORPUS_OR_SKIP(object, "kube/api-golden/core.v1.PodTemplate.json");
  expect_known(suite, "Pod", object["template"]);
}

TEST(BuiltinCorpus, takes_crds_of_other_projects) {
  Suite suite("crd/envtest");
  const Schema& crd_schema = *builtin("CustomResourceDefinition").schema;
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
