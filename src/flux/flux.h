// Flux, simulated: on a cluster of this process its GitRepository, Kustomization and HelmRelease work as under the real
// controllers, as far as a delivery can tell, without a chart registry. A HelmRelease of chart `web` in version 1.2.0 makes a
// Deployment with the image `web:1.2.0`; values replicaCount, image.repository, image.tag and podAnnotations change it. A
// version whose pods do not become ready within spec.timeout is a failed release, which is rolled back as
// spec.upgrade.remediation says. A Kustomization applies the YAML files of its path as they are (no kustomize build) and prunes
// what is gone.
//
// What the status says, and when, follows helm-controller 1.4.0, kustomize-controller 1.7.3 and source-controller 1.7.0. The
// other kinds of Flux are served and stored, and nothing works on them. NotImplemented: valuesFrom, tests, drift detection,
// dependsOn of HelmReleases, kubeConfig.
//
// GitRepositories, HelmReleases and Kustomizations read and write as their authors (author.h).
#pragma once

#include <string>
#include <vector>

#include "control/runtime.h"
#include "delivery/family/identity.h"

namespace slipway::flux {

/// CustomResourceDefinitions of Flux's kinds, which accept any spec.
std::vector<json::Value> definitions();

/// `env.git` reads repositories; without it GitRepositories say that there is none.
void add_controllers(Env& env, control::Runtime& runtime, const std::string& cluster, delivery::ActsAs acts_as);

}  // namespace slipway::flux
