#!/usr/bin/env bash
# Story 1, its commands as printed; `flux` is ./flux beside this file, since no flux is on the machine of the test.
set -euo pipefail
cd "$(dirname "$0")"
PATH=$PWD:$PATH

kubectl apply -f story-1.yaml

for c in dev prod ; do \
  kubectl --context="$c" create ns podinfo ; \
  flux --context="$c" -n podinfo create source helm podinfo --url=oci://ghcr.io/stefanprodan/charts ; \
done

flux --context=dev -n podinfo create hr podinfo --target-namespace=podinfo --source=HelmRepository/podinfo --chart=podinfo --chart-version=6.1.6
kubectl --context=dev -n podinfo annotate hr podinfo pipelines.weave.works/pipeline=default/podinfo

flux --context=prod -n podinfo create hr podinfo --target-namespace=podinfo --source=HelmRepository/podinfo --chart=podinfo --chart-version=6.1.5
kubectl --context=prod -n podinfo annotate hr podinfo pipelines.weave.works/pipeline=default/podinfo
