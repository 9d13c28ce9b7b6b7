#include "flux/flux.h"
#include "flux/kinds.h"
#include "kube/crd_schema.h"

namespace slipway::flux {
namespace {

using json::Value;

struct Kind {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  std::vector<std::string> short_names{};
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {kSourceGroup, "v1", "GitRepository", "gitrepositories", {"gitrepo"}},
      {kSourceGroup, "v1", "HelmRepository", "helmrepositories", {"helmrepo"}},
      {kSourceGroup, "v1", "HelmChart", "helmcharts", {"hc"}},
      {kSourceGroup, "v1", "OCIRepository", "ocirepositories", {"ocirepo"}},
      {kHelmGroup, "v2", "HelmRelease", "helmreleases", {"hr"}},
      {kKustomizeGroup, "v1", "Kustomization", "kustomizations", {"ks"}},
      {"notification.toolkit.fluxcd.io", "v1beta3", "Alert", "alerts"},
      {"notification.toolkit.fluxcd.io", "v1beta3", "Provider", "providers"},
      {"image.toolkit.fluxcd.io", "v1", "ImagePolicy", "imagepolicies", {"imgpol"}},
  };
  return all;
}

Value any_object() { return json::object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}); }

Value definition(const Kind& kind) {
  kube::CrdSpec spec;
  spec.group = kind.group;
  spec.version = kind.version;
  spec.kind = kind.kind;
  spec.plural = kind.plural;
  spec.short_names = kind.short_names;
  spec.columns = {kube::column("Age", ".metadata.creationTimestamp", "date"),
                  kube::column("Ready", R"(.status.conditions[?(@.type=="Ready")].status)"),
                  kube::column("Status", R"(.status.conditions[?(@.type=="Ready")].message)")};
  spec.doc = "A kind of Flux; simulated.";
  spec.spec_schema = any_object();
  spec.status_schema = any_object();
  return kube::make_crd(spec);
}

}  // namespace

std::vector<Value> definitions() {
  std::vector<Value> made;
  for (const Kind& kind : kinds()) made.push_back(definition(kind));
  return made;
}

}  // namespace slipway::flux
