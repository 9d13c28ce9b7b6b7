#!/usr/bin/env bash
set -euo pipefail
PIPELINE_NS=default
PIPELINE=podinfo
APP_REF_KIND=$(kubectl -n $PIPELINE_NS get pipeline $PIPELINE -o jsonpath={.spec.appRef.kind})
APP_REF_NAME=$(kubectl -n $PIPELINE_NS get pipeline $PIPELINE -o jsonpath={.spec.appRef.name})
for env in $(kubectl -n $PIPELINE_NS get pipeline $PIPELINE -o jsonpath='{range .spec.environments[*]}{.name},{range .targets[*]}{.namespace},{.clusterRef.namespace},{.clusterRef.name}{end}{"\n"}{end}') ; do
ENV=$(echo "$env" | cut -d"," -f1)
NS=$(echo "$env" | cut -d"," -f2)
CLUSTER_NS=$(echo "$env" | cut -d"," -f3)
[ -z "$CLUSTER_NS" ] && CLUSTER_NS=$PIPELINE_NS
CLUSTER=$(echo "$env" | cut -d"," -f4)
CAPI_CLUSTER=$(kubectl -n $CLUSTER_NS get gitopscluster "$CLUSTER" -o jsonpath='{.spec.capiClusterRef.name}')
TMPDIR=$(mktemp -d)
trap "rm -rf $TMPDIR" EXIT
kubectl -n $CLUSTER_NS get secret "$CAPI_CLUSTER"-kubeconfig -o go-template='{{.data.value | base64decode }}' > "$TMPDIR/kubeconfig"
kubectl --kubeconfig "$TMPDIR/kubeconfig" -n "$NS" get "$APP_REF_KIND" "$APP_REF_NAME"
done
