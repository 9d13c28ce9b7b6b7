"""What python3-kubernetes does in daily use: typed objects, a watch from a list, patches, a command in a pod."""
import sys
import time

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

config.load_kube_config()
core, apps = client.CoreV1Api(), client.AppsV1Api()
print("version", client.VersionApi().get_code().git_version)
core.create_namespace({"metadata": {"name": "py"}})
listed = core.list_namespaced_config_map("py")
for number in range(3):
    core.create_namespaced_config_map("py", client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"c{number}"), data={"n": str(number)}))
core.patch_namespaced_config_map("c1", "py", {"data": {"more": "yes"}})
core.delete_namespaced_config_map("c0", "py")
seen = []
for event in watch.Watch().stream(core.list_namespaced_config_map, "py", resource_version=listed.metadata.resource_version, timeout_seconds=600):
    seen.append(event["type"] + " " + event["object"].metadata.name)
    if len(seen) == 5:
        break
print(", ".join(seen))
try:
    core.read_namespaced_config_map("c0", "py")
except ApiException as missing:
    print(missing.status, missing.reason)
pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sleep", "1000"]}]}}
core.create_namespaced_pod("default", pod)
while core.read_namespaced_pod("p", "default").status.phase != "Running":
    time.sleep(0.1)
print(stream(core.connect_get_namespaced_pod_exec, "p", "default", command=["echo", "inside"], stdout=True, stderr=True, stdin=False, tty=False).strip())
apps.create_namespaced_deployment("default", {
    "metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "d"}}, "template": {
        "metadata": {"labels": {"a": "d"}}, "spec": pod["spec"]}}})
apps.patch_namespaced_deployment_scale("d", "default", {"spec": {"replicas": 2}})
print("replicas", apps.read_namespaced_deployment("d", "default").spec.replicas)
sys.exit(0)
