# podinfo.sh VERSION: a HelmRelease of podinfo, and its chart repository.
cat <<END
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: podinfo, namespace: podinfo}
spec: {type: oci, url: "oci://registry.example/charts"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: podinfo}
spec:
  interval: 1m
  targetNamespace: podinfo
  chart: {spec: {chart: podinfo, version: "$1", sourceRef: {kind: HelmRepository, name: podinfo}}}
END
