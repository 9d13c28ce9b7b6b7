// A pipeline in the middle of its life, for the tests of this room: web of namespace shop, through dev, staging (two clusters)
// and prod. 1.1.0 has settled in dev and staging, prod runs 1.0.0.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "delivery/pipeline/scene.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {

inline const Time kNoon = parse_rfc3339("2026-03-01T12:00:00Z").value();

inline kube::Object yaml_object(const std::string& text) { return json::parse_yaml(text).value(); }

inline kube::Object own_object(const std::string& kind, const std::string& name, const std::string& spec,
                               const std::string& status = "null", const std::string& created = "2026-03-01T11:00:00Z") {
  return yaml_object(
      fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: {}, metadata: {{name: {}, namespace: shop, "
                  "creationTimestamp: '{}'}}, spec: {}, status: {}}}",
                  kind, name, created, spec, status));
}

inline const std::string kWebSpec = R"(
  appRef: {kind: HelmRelease, name: web}
  environments:
    - {name: dev, targets: [{namespace: web-dev}]}
    - {name: staging, targets: [{namespace: web, clusterRef: {kind: GitopsCluster, name: eu}},
                                {namespace: web, clusterRef: {kind: GitopsCluster, name: us}}]}
    - {name: prod, targets: [{namespace: web-prod}],
       gates: [{name: leads, at: before, approval: {count: 2}}, {name: slo, at: after, metric: {query: q}}]}
)";

inline const std::string kWebStatus = R"(
  observedGeneration: 1
  line: dev 1.1.0 → staging 1.1.0 → prod 1.0.0
  conditions:
    - {type: Ready, status: 'True', reason: ReconciliationSucceeded, message: all targets could be read}
    - {type: PromotionPending, status: 'True', reason: ApprovalMissing, message: prod waits for 2 people}
  environments:
    dev:
      version: {version: 1.1.0, digest: sha256:bbbbbbbb}
      targetCount: 1
      readyCount: 1
      states: {settled: 1}
      versions: {1.1.0: 1}
      targets:
        - {clusterAppRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}, namespace: web-dev, chart: webchart,
           ready: true, revision: 1.1.0, state: settled, since: '2026-03-01T10:00:00Z', specified: {version: 1.1.0},
           attempted: {version: 1.1.0}, running: {version: 1.1.0, digest: sha256:bbbbbbbb}, images: ['web:1.1.0@sha256:b1', 'proxy:2'],
           related: [HelmChart web-dev/web-dev-web]}
    staging:
      version: {version: 1.1.0, digest: sha256:bbbbbbbb}
      targetCount: 2
      readyCount: 2
      states: {settled: 2}
      versions: {1.1.0: 2}
      targets:
        - {clusterAppRef: {kind: HelmRelease, name: web, clusterRef: {kind: GitopsCluster, name: eu}}, namespace: web, chart: webchart, ready: true,
           revision: 1.1.0, state: settled, running: {version: 1.1.0}, images: ['web:1.1.0@sha256:b1', 'proxy:2']}
        - {clusterAppRef: {kind: HelmRelease, name: web, clusterRef: {kind: GitopsCluster, name: us}}, namespace: web, chart: webchart, ready: true,
           revision: 1.1.0, state: settled, running: {version: 1.1.0}, images: ['web:1.1.0@sha256:b1', 'proxy:2']}
    prod:
      version: {version: 1.0.0, digest: sha256:aaaaaaaa}
      chart: webchart
      targetCount: 1
      readyCount: 1
      states: {settled: 1}
      versions: {1.0.0: 1}
      targets:
        - {clusterAppRef: {kind: HelmRelease, name: web}, namespace: web-prod, chart: webchart, ready: true, revision: 1.0.0, state: settled,
           running: {version: 1.0.0, digest: sha256:aaaaaaaa}, images: ['web:1.0.0@sha256:a1', 'proxy:2']}
      promotion: {name: to-prod, release: web-2, version: 1.1.0, phase: Waiting, reason: ApprovalMissing,
                  message: 0 of 2 people have approved, since: '2026-03-01T11:30:00Z'}
)";

inline kube::Object web_pipeline(const std::string& spec = kWebSpec, const std::string& status = kWebStatus) {
  const kube::Object head = yaml_object(
      "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: web, namespace: shop, uid: u-1, "
      "generation: 1, "
      "creationTimestamp: '2026-02-01T12:00:00Z'}}");
  const kube::Object with_spec = head.with("spec", yaml_object(spec));
  return status.empty() ? with_spec : with_spec.with("status", yaml_object(status));
}

inline std::vector<kube::Object> web_releases() {
  return {own_object("Release", "web-1",
                     "{pipeline: web, version: 1.0.0, digest: 'sha256:aaaaaaaa', images: ['proxy:2', 'web:1.0.0@sha256:a1'], "
                     "environment: dev}",
                     "null", "2026-02-10T12:00:00Z"),
          own_object("Release", "web-2",
                     "{pipeline: web, version: 1.1.0, digest: 'sha256:bbbbbbbb', images: ['proxy:2', 'web:1.1.0@sha256:b1'], "
                     "environment: dev}",
                     "null", "2026-03-01T10:00:00Z")};
}

inline kube::Object promotion_object(const std::string& name, const std::string& environment, const std::string& release,
                                     const std::string& status, const std::string& more = "",
                                     const std::string& created = "2026-03-01T11:00:00Z") {
  return own_object("Promotion", name,
                    fmt::format("{{pipeline: web, environment: {}, release: {}{}}}", environment, release, more), status,
                    created);
}

/// With its releases, and `around`.
inline Scene web_scene(std::vector<kube::Object> around = {}, const kube::Object& pipeline = web_pipeline()) {
  for (const kube::Object& one : web_releases()) around.push_back(one);
  return Scene::of(pipeline, around, kNoon);
}

}  // namespace slipway::delivery::pipeline
