# What the Pipelines RFC does to show an application over all its environments: one GET per target, with the kubeconfig that the
# target's GitopsCluster leads to.
set -euo pipefail
ns=default name=podinfo
kind=$(kubectl -n $ns get pipeline $name -o jsonpath={.spec.appRef.kind})
app=$(kubectl -n $ns get pipeline $name -o jsonpath={.spec.appRef.name})
targets='{range .spec.environments[*]}{.name},{range .targets[*]}{.namespace},{.clusterRef.namespace},{.clusterRef.name}{end}{"\n"}{end}'
for target in $(kubectl -n $ns get pipeline $name -o jsonpath="$targets"); do
  IFS=, read -r environment app_ns cluster_ns cluster <<<"$target"
  [ -n "$cluster_ns" ] || cluster_ns=$ns
  capi=$(kubectl -n "$cluster_ns" get gitopscluster "$cluster" -o jsonpath='{.spec.capiClusterRef.name}')
  kubectl -n "$cluster_ns" get secret "$capi"-kubeconfig -o go-template='{{.data.value | base64decode}}' >"$environment.kubeconfig"
  echo "$environment"
  kubectl --kubeconfig "$environment.kubeconfig" -n "$app_ns" get "$kind" "$app"
done
