"""Creates, reads, changes, replaces, lists and deletes the objects of kinds.yaml with the typed classes of python3-kubernetes, or its
dynamic client where it has none. Tells what failed, what it did, and which served kinds have no object in the file."""
import re

import yaml
from kubernetes import client, config, dynamic
from kubernetes.client.rest import ApiException

config.load_kube_config()
core = client.CoreV1Api()


def snake(kind):
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", kind)).lower()


class Typed:
    """The methods of one kind in an API class, as create_namespaced_config_map in CoreV1Api."""

    def __init__(self, api, kind, namespace):
        self.api, self.kind, self.namespace = api, kind, namespace

    def __call__(self, verb, *arguments, **options):
        name = f"{verb}_{'namespaced_' if self.namespace else ''}{snake(self.kind)}"
        return getattr(self.api, name)(*arguments, **options)

    def names(self, verb, *name):
        return (*name, self.namespace) if self.namespace else name

    def create(self, body):
        return self("create", *self.names("create"), body)

    def read(self, name):
        return self("read", *self.names("read", name))

    def replace(self, name, body):
        return self("replace", *self.names("replace", name), body)

    def list(self):
        # Events that were written through the core group have no eventTime, which this client refuses to read from any server.
        only = {"field_selector": "metadata.name=noted-again"} if isinstance(self.api, client.EventsV1Api) else {}
        return self("list", *self.names("list"), **only)

    def delete(self, name):
        return self("delete", *self.names("delete", name))


class Dynamic:
    """The same verbs by the dynamic client, which knows kinds from discovery."""

    def __init__(self, resource, namespace):
        self.resource, self.namespace = resource, namespace

    def create(self, body):
        return self.resource.create(body, namespace=self.namespace)

    def read(self, name):
        return self.resource.get(name, namespace=self.namespace)

    def replace(self, name, body):
        return self.resource.replace(body.to_dict(), name=name, namespace=self.namespace)

    def list(self):
        return self.resource.get(namespace=self.namespace)

    def delete(self, name):
        return self.resource.delete(name, namespace=self.namespace)


dynamic_client = dynamic.DynamicClient(client.ApiClient())


def verbs_of(body):
    """The verbs for the kind of an object."""
    group, _, version = body["apiVersion"].rpartition("/")
    namespace = body["metadata"].get("namespace")
    name = "".join(word.capitalize() for word in (group.removesuffix(".k8s.io") or "core").split("."))
    api = getattr(client, f"{name}{version.capitalize()}Api", None)
    typed = Typed(api() if api else None, body["kind"], namespace)
    if api and hasattr(typed.api, f"read_{'namespaced_' if namespace else ''}{snake(body['kind'])}"):
        return typed
    return Dynamic(dynamic_client.resources.get(api_version=body["apiVersion"], kind=body["kind"]), namespace)


def relabel(held):
    """Sets one label of a typed or of a dynamic object, and keeps the others."""
    if isinstance(held, dynamic.ResourceInstance):
        labels = held.to_dict()["metadata"].get("labels") or {}
    else:
        labels = held.metadata.labels or {}
    held.metadata.labels = {**labels, "changed": "yes"}
    return held


def label_of(held):
    labels = held.metadata.labels
    return dict(labels).get("changed") if labels else None


def check(body):
    """What is wrong with an object on its way, '' when nothing is."""
    verbs = verbs_of(body)
    name = body["metadata"]["name"]
    verbs.create(body)
    for attempt in range(20):
        before = verbs.read(name)
        generation = before.metadata.generation
        try:
            after = verbs.replace(name, relabel(before))
            break
        except ApiException as refused:
            if refused.status != 409 or attempt == 19:  # a controller wrote between: read again, as programs do
                raise
    if label_of(after) != "yes":
        return "the answer of the replacement lacks the label"
    if after.metadata.generation != generation:
        return f"a label made generation {generation} into {after.metadata.generation}"
    if label_of(next(item for item in verbs.list().items if item.metadata.name == name)) != "yes":
        return "the list lacks the label"
    verbs.delete(name)
    try:
        if not verbs.read(name).metadata.deletion_timestamp:
            return "it is still there"
    except ApiException as gone:
        if gone.status != 404:
            raise
    return ""


def served():
    """(apiVersion, kind) of what can be created and replaced, custom resources and revisions of packages (in Git) left out."""
    custom = {definition.spec.group for definition in client.ApiextensionsV1Api().list_custom_resource_definition().items}
    custom.add("porch.kpt.dev")
    versions = ["v1"] + [version.group_version for group in client.ApisApi().get_api_versions().groups if group.name not in custom
                         for version in group.versions]
    for version in versions:
        path = ("/api/" if version == "v1" else "/apis/") + version
        listed = client.ApiClient().call_api(path, "GET", response_type="V1APIResourceList", auth_settings=["BearerToken"])[0]
        for resource in listed.resources:
            if "/" not in resource.name and {"create", "update", "list"} <= set(resource.verbs):
                yield version, resource.kind


core.create_namespace({"metadata": {"name": "kinds"}})
bodies = list(yaml.safe_load_all(open("kinds.yaml")))
good = 0
for missing in sorted(set(served()) - {(body["apiVersion"], body["kind"]) for body in bodies}):
    print("not in kinds.yaml:", *missing)
for body in bodies:
    try:
        problem = check(body)
    except Exception as error:  # one kind that fails does not hide the others
        problem = f"{type(error).__name__}: {str(getattr(error, 'body', None) or error).strip()}"[:400]
    if problem:
        print(f"{body['apiVersion']} {body['kind']}: {problem}")
    good += not problem
print(f"{good} of {len(bodies)} kinds")
