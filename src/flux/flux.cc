#include "flux/flux.h"

#include "flux/git_repository.h"
#include "flux/helm_release.h"
#include "flux/kustomization.h"
#include "flux/source_controllers.h"

namespace slipway::flux {

void add_controllers(Env& env, control::Runtime& runtime, const std::string& cluster, delivery::ActsAs acts_as) {
  runtime.add(cluster, std::make_unique<GitRepositoryController>(env, acts_as));
  runtime.add(cluster, std::make_unique<HelmChartController>(env));
  runtime.add(cluster, std::make_unique<OciRepositoryController>(env));
  runtime.add(cluster, std::make_unique<KustomizationController>(env, acts_as));
  runtime.add(cluster, std::make_unique<HelmReleaseController>(env, acts_as));
}

}  // namespace slipway::flux
