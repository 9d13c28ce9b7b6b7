#!/usr/bin/python3
"""What KubeVela's command line asks of a cluster, command by command, against `slipway up`.

usage: run.py --slipway PATH [--only TEXT]

The program itself cannot be fetched everywhere, so this plays its requests, as its source (release 1.10) makes them: which
paths, which patch types, and above all in which shape it sends objects back: read into Go types, so that a member which these do
not know is lost, and a zero time is null. A command is a function below with the name that people type. It returns nothing, or
fails with what it found.

Ends with a line "N passed, N failed". Everything listens on loopback and stops with this program.
"""
import argparse
import base64
import copy
import gzip
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

PATIENCE = 180  # seconds for one wait: a net, not a measure
OAM = "/apis/core.oam.dev/v1beta1"
SYSTEM = "vela-system"

# The members that KubeVela's Go types know, by the place of the object. Others are lost when its client writes an object back.
STEP = {"id", "name", "type", "phase", "message", "reason", "firstExecuteTime", "lastExecuteTime", "subSteps"}
WORKFLOW = {"appRevision", "mode", "status", "message", "suspend", "suspendState", "terminated", "finished", "contextBackend",
            "steps", "startTime", "endTime"}
STATUS = {"conditions", "observedGeneration", "rollout", "status", "components", "services", "workflow", "latestRevision",
          "appliedResources", "policy"}
SERVICE = {"name", "namespace", "cluster", "env", "workloadDefinition", "healthy", "workloadHealthy", "message", "details", "traits",
           "scopes"}
COMPONENT = {"name", "type", "externalRevision", "properties", "dependsOn", "inputs", "outputs", "traits", "scopes"}


class Refused(Exception):
    def __init__(self, code, status):
        super().__init__(f"{code}: {status.get('message', status)}")
        self.code, self.status = code, status


class Api:
    """HTTP as the kubeconfig says."""

    def __init__(self, kubeconfig):
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pem:
            for key in ("client-certificate-data", "client-key-data"):
                pem.write(base64.b64decode(user[key]).decode())
            pem.flush()
            self.context.load_cert_chain(pem.name)

    def ask(self, method, path, body=None, kind="application/json", accept="application/json", **query):
        url = self.server + path + ("?" + urllib.parse.urlencode(query) if query else "")
        request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Accept": accept, "Content-Type": kind, "User-Agent": "vela/1.10.3"})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=PATIENCE) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            try:
                raise Refused(error.code, json.loads(text)) from None
            except json.JSONDecodeError:
                raise Refused(error.code, {"message": text}) from None
        is_stream = "watch" in query or path.endswith("/log")
        return json.loads(text) if text.startswith("{") and not is_stream else text

    def get(self, path, **query):
        return self.ask("GET", path, **query)

    def get_or_none(self, path):
        try:
            return self.get(path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def items(self, path, **query):
        return self.get(path, **query)["items"]


def check(is_true, what):
    if not is_true:
        raise AssertionError(what)


def until(what, probe):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            found = probe()
            if found:
                return found
            last = found
        except (AssertionError, KeyError, TypeError, Refused) as problem:
            last = problem
        check(time.monotonic() < deadline, f"{what}: it did not come; last: {last}")
        time.sleep(0.2)


# ---- Go's types ---------------------------------------------------------------------------------------------------------------

def only(value, known):
    return {key: one for key, one in value.items() if key in known}


def as_step(step):
    out = {"id": "", **only(step, STEP)}
    if "subSteps" in out:
        out["subSteps"] = [as_step(sub) for sub in out["subSteps"]]
    return out


def as_workflow(workflow):
    out = {"suspend": False, "terminated": False, "finished": False, "mode": "", **only(workflow, WORKFLOW)}
    out["startTime"], out["endTime"] = workflow.get("startTime"), workflow.get("endTime")  # a zero time is null
    if "steps" in out:
        out["steps"] = [as_step(step) for step in out["steps"]]
    return out


def as_application(app):
    """The object as it is after Go has read it into v1beta1.Application and written it again."""
    out = copy.deepcopy(app)
    out["spec"] = only(app["spec"], {"components", "policies", "workflow"})
    out["spec"]["components"] = [only(one, COMPONENT) for one in app["spec"].get("components", [])]
    status = only(app.get("status", {}), STATUS)
    if "workflow" in status:
        status["workflow"] = as_workflow(status["workflow"])
    if "services" in status:
        status["services"] = [only(one, SERVICE) for one in status["services"]]
    out["status"] = status
    return out


def check_application(app):
    """What Go would refuse to read: a member of another type."""
    status = app.get("status", {})
    for key in ("status",):
        check(isinstance(status.get(key, ""), str), f"status.{key} must be a string")
    for one in status.get("services", []):
        check(isinstance(one["name"], str) and isinstance(one["healthy"], bool), f"a service is {one}")
        check(all(isinstance(text, str) for text in one.get("details", {}).values()), f"details are texts: {one}")
    for one in status.get("appliedResources", []):
        check(one["kind"] and one["name"] and one["apiVersion"], f"an applied resource is {one}")
    if latest := status.get("latestRevision"):
        check(isinstance(latest["revision"], int) and latest["revisionHash"] and latest["name"], f"latestRevision is {latest}")
    workflow = status.get("workflow")
    if workflow:
        check(all(isinstance(workflow[key], bool) for key in ("suspend", "terminated", "finished")), f"workflow is {workflow}")
        check(isinstance(workflow["mode"], str), "the mode of an application's workflow is a string")
        if workflow.get("startTime"):
            check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", workflow["startTime"]), "startTime is no metav1.Time")
        for step in workflow.get("steps", []):
            check(step["id"] and step["name"] and step["phase"], f"a step is {step}")


def content_of(revision):
    """ApplicationRevision.spec, or ResourceTracker.spec.managedResources, unpacked as pkg/util/compression does."""
    compression = revision["spec"].get("compression", {})
    if not compression.get("type"):
        return revision["spec"]
    check(compression["type"] == "gzip", "gzip or zstd is what clients can read")
    return json.loads(gzip.decompress(base64.b64decode(compression["data"])))


# ---- the command line ---------------------------------------------------------------------------------------------------------

class Vela:
    def __init__(self, api, namespace="default"):
        self.api, self.ns = api, namespace

    # What the commands below have in common.
    def path(self, name="", resource="applications", ns=None):
        return f"{OAM}/namespaces/{ns or self.ns}/{resource}" + (f"/{name}" if name else "")

    def app(self, name):
        app = self.api.get(self.path(name))
        check_application(app)
        return app

    def definition(self, kind, name):
        """util.GetCapabilityDefinition: the application's namespace, then vela-system; NAME@v1 is a DefinitionRevision."""
        if "@" in name:
            revision = self.api.get(self.path(name.replace("@", "-"), "definitionrevisions", SYSTEM))
            return revision["spec"][kind[0].lower() + kind[1:]]
        resource = kind.lower() + "s" if not kind.endswith("y") else kind.lower()[:-1] + "ies"
        found = self.api.get_or_none(self.path(name, resource)) or self.api.get_or_none(self.path(name, resource, SYSTEM))
        check(found, f"{kind} {name} not found")
        check(found["spec"]["schematic"]["cue"]["template"], f"{kind} {name} has no template")
        return found

    def parse(self, app):
        """appfile.NewApplicationParser: everything that the application names is read."""
        for component in app["spec"].get("components", []):
            self.definition("ComponentDefinition", component["type"])
            for trait in component.get("traits", []):
                self.definition("TraitDefinition", trait["type"])
        for step in app["spec"].get("workflow", {}).get("steps", []):
            self.definition("WorkflowStepDefinition", step["type"])

    def trackers(self, app):
        """resourcetracker.ListApplicationResourceTrackers"""
        found = self.api.items(f"{OAM}/resourcetrackers",
                               labelSelector=f"app.oam.dev/name={app['metadata']['name']},app.oam.dev/namespace={self.ns}")
        for tracker in found:
            if tracker["spec"].get("compression", {}).get("type"):
                tracker["spec"]["managedResources"] = content_of(tracker)
            check(tracker["metadata"]["labels"].get("app.oam.dev/uid", app["metadata"]["uid"]) == app["metadata"]["uid"],
                  "the tracker is of another application")
            check(tracker["spec"]["type"] in ("root", "versioned", "component-revision"), tracker["spec"]["type"])
        current = [one for one in found if one["spec"]["type"] == "versioned" and
                   one["spec"]["applicationGeneration"] == app["metadata"]["generation"]]
        return found, current

    def view(self, name):
        """velaql.NewViewHandler: the text of a view; the program evaluates it itself."""
        text = self.api.get(f"/api/v1/namespaces/{SYSTEM}/configmaps/{name}")["data"]["template"]
        check("status" in text and "parameter" in text, f"{name} is no view: {text}")
        return text

    def pods(self, app):
        """query.#CollectPods: the managed objects by way of the trackers, then what they own."""
        self.view("component-pod-view")
        _, current = self.trackers(app)
        check(current, "there is no tracker of this generation")
        # The rules of the tree may be extended by ConfigMaps.
        self.api.items(f"/api/v1/namespaces/{SYSTEM}/configmaps", labelSelector="rules.oam.dev/resources=true")
        found = []
        for managed in current[0]["spec"]["managedResources"]:
            if managed["kind"] != "Deployment":
                continue
            where = f"/apis/apps/v1/namespaces/{managed['namespace']}"
            deployment = self.api.get(f"{where}/deployments/{managed['name']}")
            selector = ",".join(f"{key}={value}" for key, value in deployment["spec"]["selector"]["matchLabels"].items())
            for owner in self.api.items(f"{where}/replicasets", labelSelector=selector):
                check(owner["metadata"]["ownerReferences"][0]["uid"] == deployment["metadata"]["uid"], "a set of somebody else")
                pods = self.api.items(f"/api/v1/namespaces/{managed['namespace']}/pods", labelSelector=selector)
                found += [pod for pod in pods if pod["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]]
        return found

    def merge_status(self, app):
        """client.Status().Patch(ctx, app, client.Merge): the whole object is the patch."""
        return self.api.ask("PATCH", self.path(app["metadata"]["name"]) + "/status", app, "application/merge-patch+json")

    def put_status(self, app):
        return self.api.ask("PUT", self.path(app["metadata"]["name"]) + "/status", app)

    # The commands.
    def up(self, manifest):
        """common.ApplyApplication: create, or a three-way merge with the last applied configuration."""
        wanted = copy.deepcopy(manifest)
        wanted["metadata"].setdefault("namespace", self.ns)
        name = wanted["metadata"]["name"]
        applied = json.dumps(wanted)
        wanted["metadata"].setdefault("annotations", {})["app.oam.dev/last-applied-configuration"] = applied
        there = self.api.get_or_none(self.path(name))
        if there is None:
            return self.api.ask("POST", self.path(), wanted)
        return self.api.ask("PATCH", self.path(name), wanted, "application/merge-patch+json")

    def wait(self, name, phase="running"):
        """TrackDeployStatus"""
        return until(f"{name} is {phase}", lambda: (app := self.app(name)).get("status", {}).get("status") == phase and
                     app["status"].get("workflow") and app)

    def suspend(self, name, step=""):
        app = as_application(self.app(name))
        app["status"]["workflow"]["suspend"] = True
        for one in app["status"]["workflow"].get("steps", []):
            for each in [*one.get("subSteps", []), one]:
                if each["phase"] == "running" and step in ("", each["name"]):
                    each["phase"] = "suspending"
        self.merge_status(app)

    def resume(self, name, step=""):
        app = as_application(self.app(name))
        check(app["status"]["workflow"]["suspend"], f"workflow {name} is not suspended.")
        app["status"]["workflow"]["suspend"] = False
        for one in app["status"]["workflow"].get("steps", []):
            for each in [*one.get("subSteps", []), one]:
                if each["phase"] == "suspending" and step in ("", each["name"]):
                    each["phase"] = "running"
        self.merge_status(app)

    def terminate(self, name):
        app = as_application(self.app(name))
        workflow = app["status"]["workflow"]
        workflow["terminated"], workflow["suspend"] = True, False
        for one in workflow.get("steps", []):
            for each in [*one.get("subSteps", []), one]:
                if each["phase"] in ("running", "suspending"):
                    each["phase"], each["reason"] = "failed", "Terminate"
        self.merge_status(app)

    def restart(self, name):
        app = as_application(self.app(name))
        del app["status"]["workflow"]
        self.put_status(app)

    def restart_from(self, name, step):
        """wfUtils.CleanStatusFromStep, mode StepByStep."""
        app = as_application(self.app(name))
        workflow = app["status"]["workflow"]
        workflow.update({"terminated": False, "suspend": False, "finished": False, "endTime": None})
        self.api.get(f"/api/v1/namespaces/{self.ns}/configmaps/{workflow['contextBackend']['name']}")
        self.parse(app)
        names = [one["name"] for one in workflow["steps"]]
        workflow["steps"] = workflow["steps"][:names.index(step)]
        self.put_status(app)

    def revisions(self, name):
        self.app(name)
        found = self.api.items(self.path(resource="applicationrevisions"), labelSelector=f"app.oam.dev/name={name}")
        return sorted(found, key=lambda one: int(one["metadata"]["name"].rsplit("-v", 1)[1]))

    def rollback(self, name):
        """operation.Rollback of an application with a publish version."""
        app = self.app(name)
        workflow = app["status"].get("workflow", {})
        check(workflow["terminated"] or workflow["suspend"] or workflow["finished"], "can not rollback a running workflow")
        revisions = self.revisions(name)
        outdated = []
        while revisions and not revisions[-1].get("status", {}).get("succeeded"):
            outdated.append(revisions.pop())
        check(revisions, "failed to find previous succeeded revision")
        revision = revisions[-1]
        version = revision["metadata"]["annotations"]["app.oam.dev/publishVersion"]
        trackers, _ = self.trackers(app)
        match = [one for one in trackers if one["metadata"]["labels"].get("app.oam.dev/appRevision") == revision["metadata"]["name"]]
        check(match, f"cannot find resource tracker for previous revision {revision['metadata']['name']}, unable to rollback")
        frozen = as_application(self.app(name))
        frozen["metadata"]["annotations"]["app.oam.dev/controller-version-require"] = "Disabled"
        frozen["metadata"]["annotations"]["app.oam.dev/publishVersion"] = version
        frozen["spec"] = content_of(revision)["application"]["spec"]
        self.api.ask("PUT", self.path(name), frozen)
        status = as_application(self.app(name))
        check(revision["status"].get("workflow"), "the revision does not tell how its workflow ended")
        status["status"]["workflow"] = as_workflow(revision["status"]["workflow"])
        status["status"]["services"] = []
        status["status"]["appliedResources"] = [
            only(one, {"apiVersion", "kind", "namespace", "name", "cluster", "creator"}) for one in match[0]["spec"]["managedResources"]]
        status["status"]["latestRevision"] = {
            "name": revision["metadata"]["name"], "revision": int(revision["metadata"]["name"].rsplit("-v", 1)[1]),
            "revisionHash": revision["metadata"]["labels"]["app.oam.dev/app-revision-hash"]}
        self.put_status(status)
        tracker = self.api.get(f"{OAM}/resourcetrackers/{match[0]['metadata']['name']}")
        tracker["spec"]["applicationGeneration"] = self.app(name)["metadata"]["generation"]
        self.api.ask("PUT", f"{OAM}/resourcetrackers/{tracker['metadata']['name']}", tracker)
        thawed = as_application(self.app(name))
        thawed["metadata"]["annotations"].pop("app.oam.dev/controller-version-require")
        self.api.ask("PUT", self.path(name), thawed)
        for one in outdated:
            self.api.ask("DELETE", self.path(one["metadata"]["name"], "applicationrevisions"))
        return revision["metadata"]["name"]

    def delete(self, name):
        self.app(name)
        self.api.ask("DELETE", self.path(name))
        until(f"{name} is gone", lambda: self.api.get_or_none(self.path(name)) is None)


def web(name, image="nginx:1.25", **spec):
    return {"apiVersion": "core.oam.dev/v1beta1", "kind": "Application", "metadata": {"name": name},
            "spec": {"components": [{"name": name, "type": "webservice", "properties": {"image": image, "ports": [{"port": 80}]},
                                     "traits": [{"type": "scaler", "properties": {"replicas": 2}}]}], **spec}}


def gated(name, version="", image="nginx:1.25"):
    """Waits for a person before it deploys."""
    app = web(name, image, workflow={"steps": [
        {"name": "first", "type": "print-message-in-status", "properties": {"message": "hello"}},
        {"name": "approve", "type": "suspend"},
        {"name": "apply", "type": "apply-component", "properties": {"component": name}}]})
    if version:
        app["metadata"]["annotations"] = {"app.oam.dev/publishVersion": version}
    return app


# ---- what must hold, a row for each command -----------------------------------------------------------------------------------

def vela_up(vela):
    vela.up(web("up"))
    app = vela.wait("up")
    check(app["status"]["workflow"]["status"] == "succeeded", app["status"]["workflow"])
    vela.up(web("up", image="nginx:1.26"))
    until("the second revision", lambda: vela.wait("up")["status"]["latestRevision"]["name"] == "up-v2")


def vela_up_publish_version(vela):
    """vela up NAME --publish-version two: the annotation by PUT."""
    app = web("published")
    app["metadata"]["annotations"] = {"app.oam.dev/publishVersion": "one"}
    vela.up(app)
    vela.wait("published")
    again = as_application(vela.app("published"))
    again["metadata"]["annotations"]["app.oam.dev/publishVersion"] = "two"
    vela.api.ask("PUT", vela.path("published"), again)
    until("version two runs", lambda: (status := vela.app("published")["status"])["workflow"]["appRevision"] == "two" and
          status["status"] == "running")
    names = [one["metadata"]["annotations"]["app.oam.dev/publishVersion"] for one in vela.revisions("published")]
    check(names == ["one", "two"], names)


def vela_ls(vela):
    vela.up(web("listed"))
    vela.wait("listed")
    for path in (vela.path(), f"{OAM}/applications"):
        found = vela.api.get(path)
        check(found["kind"] == "ApplicationList", found["kind"])
        row = [one for one in found["items"] if one["metadata"]["name"] == "listed"][0]
        check_application(row)
        check(row["metadata"]["creationTimestamp"] and row["status"]["services"][0]["healthy"], row["status"])
        check(row["spec"]["components"][0]["traits"][0]["type"] == "scaler", row["spec"])


def vela_status(vela):
    vela.up(web("shown"))
    app = vela.wait("shown")
    backend = app["status"]["workflow"]["contextBackend"]
    check(backend["kind"] == "ConfigMap", backend)
    check("vars" in vela.api.get(f"/api/v1/namespaces/default/configmaps/{backend['name']}")["data"], "no vars")


def vela_status_tree(vela):
    vela.up(web("tree"))
    app = vela.wait("tree")
    _, current = vela.trackers(app)
    managed = [(one["kind"], one["namespace"], one["name"], one["component"]) for one in current[0]["spec"]["managedResources"]]
    check(("Deployment", "default", "tree", "tree") in managed, managed)
    clusters = vela.api.get("/apis/cluster.core.oam.dev/v1alpha1/virtualclusters")
    check(clusters["kind"] == "VirtualClusterList" and clusters["items"][0]["metadata"]["name"] == "local", clusters)
    vela.parse(app)
    # --detail: each object as a table
    table = vela.api.get("/apis/apps/v1/namespaces/default/deployments/tree",
                         accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
    check(table["kind"] == "Table" and table["rows"][0]["cells"][0] == "tree", table)


def vela_status_pod(vela):
    vela.up(web("podded"))
    pods = until("its pods run", lambda: len(vela.pods(vela.wait("podded"))) == 2 and vela.pods(vela.app("podded")))
    check(all(pod["metadata"]["labels"]["app.oam.dev/component"] == "podded" for pod in pods), pods[0]["metadata"])
    vela.view("service-endpoints-view")
    vela.view("component-service-view")
    vela.view("service-applied-resources-view")
    vela.view("application-resource-tree-view")


def vela_logs(vela):
    vela.up(web("logged"))
    pods = until("its pods run", lambda: vela.pods(vela.wait("logged")))
    pod = until("a pod runs", lambda: [one for one in vela.pods(vela.app("logged")) if one["status"]["phase"] == "Running"])[0]
    name = pod["metadata"]["name"]
    # stern watches the pods of the namespace first, then follows the log.
    events = vela.api.ask("GET", "/api/v1/namespaces/default/pods", watch="true", timeoutSeconds=1)
    check(name in events, f"the watch does not tell of {name}")
    vela.api.ask("GET", f"/api/v1/namespaces/default/pods/{name}/log", container=pod["spec"]["containers"][0]["name"],
                 timestamps="true", sinceSeconds=3600, accept="*/*")
    check(len(pods) > 0, pods)


def vela_exec(vela):
    vela.up(web("entered"))
    pod = until("a pod runs", lambda: [one for one in vela.pods(vela.wait("entered")) if one["status"]["phase"] == "Running"])[0]
    try:
        vela.api.ask("POST", f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/exec", command="date", stdout="true",
                     container=pod["spec"]["containers"][0]["name"])
    except Refused as refused:
        # kubectl's own code from here on (tests/wire). Without an upgrade it is told what is missing.
        check(refused.code in (400, 501), refused)


def vela_dry_run(vela):
    app = web("tried")
    app["metadata"]["namespace"] = "default"
    made = vela.api.ask("POST", vela.path(), app, dryRun="All")
    check(made["metadata"]["uid"], made)
    check(vela.api.get_or_none(vela.path("tried")) is None, "a dry run was kept")
    vela.parse(app)
    wrong = web("tried")
    wrong["spec"]["components"][0]["type"] = "webservise"
    try:
        vela.api.ask("POST", vela.path(), wrong, dryRun="All")
        raise AssertionError("an unknown type was not refused")
    except Refused as refused:
        check("webservise" in str(refused), refused)
    for cluster_read in ("VirtualCluster",):
        check(vela.api.items("/apis/cluster.core.oam.dev/v1alpha1/virtualclusters"), cluster_read)


def vela_live_diff(vela):
    vela.up(web("compared"))
    latest = vela.wait("compared")["status"]["latestRevision"]["name"]
    content = content_of(vela.api.get(vela.path(latest, "applicationrevisions")))
    check(content["application"]["spec"] == vela.app("compared")["spec"], content["application"])
    check(content["application"]["metadata"]["name"] == "compared", content["application"]["metadata"])
    # A revision is rendered from what it holds.
    check(content["componentDefinitions"]["webservice"]["spec"]["schematic"]["cue"]["template"], list(content))
    check(content["traitDefinitions"]["scaler"]["spec"]["schematic"]["cue"]["template"], list(content))


def vela_revision(vela):
    """vela revision list, vela revision get"""
    vela.up(web("revised"))
    vela.wait("revised")
    vela.up(web("revised", image="nginx:1.26"))
    until("the second revision has succeeded",
          lambda: len(all_of := vela.revisions("revised")) == 2 and all_of[-1].get("status", {}).get("succeeded"))
    for one in vela.revisions("revised"):
        check(one["metadata"]["labels"]["app.oam.dev/app-revision-hash"], one["metadata"])
        status = one["status"]
        check(status["succeeded"] is True, status)
        check(re.fullmatch(r"\d{4}-.*Z", status["workflow"]["startTime"]), status)
        check(status["workflow"]["finished"] is True and status["workflow"]["status"] == "succeeded", status)
    vela.view("application-revision-view")
    vela.api.get(vela.path("revised-v1", "applicationrevisions"))


def vela_workflow_suspend_resume(vela):
    vela.up(gated("paused"))
    app = vela.wait("paused", "workflowSuspending")
    ids = {one["name"]: one["id"] for one in app["status"]["workflow"]["steps"]}
    check(app["status"]["workflow"]["suspend"] is True, app["status"]["workflow"])
    vela.resume("paused")
    done = vela.wait("paused")
    check({one["name"]: one["id"] for one in done["status"]["workflow"]["steps"]}.items() >= ids.items(), "ids changed")
    check([one["phase"] for one in done["status"]["workflow"]["steps"]] == ["succeeded"] * 3, done["status"]["workflow"])


def vela_workflow_suspend_running(vela):
    """A workflow that runs is suspended by hand."""
    slow = web("slow", workflow={"steps": [
        {"name": "gate", "type": "depends-on-app", "properties": {"name": "never", "namespace": "default"}},
        {"name": "apply", "type": "apply-component", "properties": {"component": "slow"}}]})
    vela.up(slow)
    until("the step waits", lambda: vela.app("slow")["status"]["workflow"]["steps"][0]["phase"] in ("running", "failed"))
    vela.suspend("slow")
    vela.wait("slow", "workflowSuspending")
    vela.resume("slow")
    until("it goes on", lambda: vela.app("slow")["status"]["status"] == "runningWorkflow")
    vela.delete("slow")


def vela_workflow_terminate_restart(vela):
    vela.up(gated("ended"))
    vela.wait("ended", "workflowSuspending")
    vela.terminate("ended")
    app = vela.wait("ended", "workflowTerminated")
    check(app["status"]["workflow"]["terminated"] is True, app["status"]["workflow"])
    steps = {one["name"]: (one["phase"], one.get("reason")) for one in app["status"]["workflow"]["steps"]}
    check(steps["approve"] == ("failed", "Terminate"), steps)
    vela.restart("ended")
    vela.wait("ended", "workflowSuspending")
    vela.resume("ended")
    vela.wait("ended")


def vela_workflow_restart_step(vela):
    vela.up(gated("again"))
    vela.wait("again", "workflowSuspending")
    vela.terminate("again")
    before = vela.wait("again", "workflowTerminated")
    first = before["status"]["workflow"]["steps"][0]
    vela.restart_from("again", "approve")
    app = vela.wait("again", "workflowSuspending")
    check(app["status"]["workflow"]["steps"][0]["id"] == first["id"], "the first step ran again")
    vela.resume("again")
    vela.wait("again")


def vela_workflow_rollback(vela):
    vela.up(gated("back", "one"))
    vela.wait("back", "workflowSuspending")
    vela.resume("back")
    vela.wait("back")
    until("the revision tells of it",
          lambda: vela.revisions("back")[-1].get("status", {}).get("succeeded") and vela.revisions("back")[-1]["status"]["workflow"])
    vela.up(gated("back", "two", image="nginx:1.26"))
    until("version two waits", lambda: (app := vela.wait("back", "workflowSuspending"))["status"]["workflow"]["appRevision"] == "two")
    check(vela.rollback("back") == "back-v1", "another revision")
    app = until("version one runs", lambda: (one := vela.wait("back"))["status"]["workflow"]["appRevision"] == "one" and one)
    check(app["status"]["latestRevision"]["name"] == "back-v1", app["status"]["latestRevision"])
    check(app["status"]["workflow"]["finished"] is True, app["status"]["workflow"])
    deployment = vela.api.get("/apis/apps/v1/namespaces/default/deployments/back")
    check(deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.25", deployment["spec"]["template"])
    check([one["metadata"]["name"] for one in vela.revisions("back")] == ["back-v1"], "revisions are left")


def trait(name, text):
    return {"apiVersion": "core.oam.dev/v1beta1", "kind": "TraitDefinition",
            "metadata": {"name": name, "namespace": SYSTEM, "annotations": {"definition.oam.dev/description": "a test"}},
            "spec": {"appliesToWorkloads": ["*"], "schematic": {"cue": {"template": text}}}}


def vela_def_apply(vela):
    """vela def apply: GET, then POST or PUT; each content becomes a revision with a schema."""
    text = "parameter: {level: string}\npatch: metadata: labels: level: parameter.level\n"
    path = f"{OAM}/namespaces/{SYSTEM}/traitdefinitions"
    check(vela.api.get_or_none(f"{path}/level") is None, "it is there already")
    vela.api.ask("POST", path, trait("level", text))
    found = until("its revision", lambda: (one := vela.api.get(f"{path}/level")).get("status", {}).get("latestRevision") and one)
    check(found["status"]["latestRevision"]["name"] == "level-v1", found["status"])
    found["spec"]["schematic"]["cue"]["template"] = text.replace("level: string", 'level: *"low" | string')
    vela.api.ask("PUT", f"{path}/level", found)
    until("the second revision", lambda: vela.api.get(f"{path}/level")["status"]["latestRevision"]["name"] == "level-v2")
    schema = until("its schema", lambda: vela.api.get(f"/api/v1/namespaces/{SYSTEM}/configmaps/trait-schema-level"))
    check(json.loads(schema["data"]["openapi-v3-json-schema"])["properties"]["level"]["type"] == "string", schema["data"])


def vela_def_list(vela):
    """vela def list: each kind of all namespaces, without types."""
    for resource, some in (("componentdefinitions", "webservice"), ("traitdefinitions", "scaler"),
                           ("policydefinitions", "topology"), ("workflowstepdefinitions", "deploy")):
        found = vela.api.items(f"{OAM}/{resource}")
        row = [one for one in found if one["metadata"]["name"] == some][0]
        check(row["metadata"]["annotations"]["definition.oam.dev/description"], row["metadata"])
    check(isinstance(vela.api.items(f"{OAM}/workloaddefinitions"), list), "workloads")


def vela_def_get(vela):
    """vela def get NAME, --revisions"""
    found = [one for one in vela.api.items(f"{OAM}/componentdefinitions") if one["metadata"]["name"] == "worker"]
    check(len(found) == 1, found)
    revisions = vela.api.items(f"{OAM}/namespaces/{SYSTEM}/definitionrevisions",
                               labelSelector="componentdefinition.oam.dev/name=worker")
    check(revisions[0]["spec"]["definitionType"] == "Component" and revisions[0]["spec"]["revision"] == 1, revisions[0]["spec"])
    check(revisions[0]["spec"]["componentDefinition"]["spec"]["workload"], revisions[0]["spec"]["componentDefinition"])
    vela.definition("ComponentDefinition", "worker@v1")


def vela_show(vela):
    """vela show webservice: the schema that was published, and what is used of others."""
    vela.definition("ComponentDefinition", "webservice")
    status = vela.api.get(vela.path("webservice", "componentdefinitions", SYSTEM))["status"]
    schema = vela.api.get(f"/api/v1/namespaces/{SYSTEM}/configmaps/{status['configMapRef']}")["data"]["openapi-v3-json-schema"]
    properties = json.loads(schema)["properties"]
    check(properties["image"]["type"] == "string", properties["image"])
    check("image" in json.loads(schema)["required"], schema[:200])


def vela_cluster_list(vela):
    """vela cluster list: the gateway's service first, then Secrets, then ManagedClusters where they are served."""
    service = vela.api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.cluster.core.oam.dev")
    check(service["spec"]["service"]["namespace"] == SYSTEM, service)
    check([one["status"] for one in service["status"]["conditions"] if one["type"] == "Available"] == ["True"], service["status"])
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
              "metadata": {"name": "edge", "namespace": SYSTEM, "annotations": {"cluster.core.oam.dev/cluster-alias": "the edge"},
                           "labels": {"cluster.core.oam.dev/cluster-credential-type": "ServiceAccountToken", "zone": "a"}},
              "data": {"endpoint": base64.b64encode(b"https://127.0.0.1:1").decode(), "token": base64.b64encode(b"t").decode()}}
    vela.api.ask("POST", f"/api/v1/namespaces/{SYSTEM}/secrets", secret)
    found = vela.api.items(f"/api/v1/namespaces/{SYSTEM}/secrets", labelSelector="cluster.core.oam.dev/cluster-credential-type")
    check([one["metadata"]["name"] for one in found] == ["edge"], found)
    # The client finds in discovery that ManagedClusters are not served, and goes on without.
    groups = [one["name"] for one in vela.api.get("/apis")["groups"]]
    check("cluster.core.oam.dev" in groups and "cluster.open-cluster-management.io" not in groups, groups)
    named = {one["metadata"]["name"]: one for one in vela.api.items("/apis/cluster.core.oam.dev/v1alpha1/virtualclusters")}
    check(named["edge"]["spec"] == {"alias": "the edge", "endpoint": "https://127.0.0.1:1", "credentialType": "ServiceAccountToken"},
          named["edge"])
    check(named["edge"]["metadata"]["labels"] == {"zone": "a", "cluster.core.oam.dev/control-plane": "false"}, named["edge"])
    gateway = vela.api.get("/apis/cluster.core.oam.dev/v1alpha1/clustergateways/edge")
    check(gateway["spec"]["access"]["endpoint"] == "https://127.0.0.1:1" and "serviceAccountToken" not in json.dumps(gateway), gateway)
    vela.api.ask("DELETE", f"/api/v1/namespaces/{SYSTEM}/secrets/edge")


def vela_delete(vela):
    vela.up(web("removed"))
    vela.wait("removed")
    vela.delete("removed")
    until("its objects are gone",
          lambda: vela.api.get_or_none("/apis/apps/v1/namespaces/default/deployments/removed") is None)
    check(not vela.api.items(f"{OAM}/resourcetrackers", labelSelector="app.oam.dev/name=removed"), "trackers are left")


def vela_delete_orphan(vela):
    """vela delete --orphan: a finalizer first; the objects stay."""
    vela.up(web("orphan"))
    vela.wait("orphan")
    app = as_application(vela.app("orphan"))
    app["metadata"]["finalizers"].append("app.oam.dev/orphan-resource")
    vela.api.ask("PUT", vela.path("orphan"), app)
    vela.delete("orphan")
    check(vela.api.get_or_none("/apis/apps/v1/namespaces/default/deployments/orphan"), "it was deleted")


def discovery(vela):
    """Go's clients map kinds to resources by discovery before anything else."""
    for version, kinds in (("core.oam.dev/v1beta1", {"Application", "ApplicationRevision", "ResourceTracker", "ComponentDefinition",
                                                     "TraitDefinition", "PolicyDefinition", "WorkflowStepDefinition",
                                                     "WorkloadDefinition", "DefinitionRevision"}),
                           ("core.oam.dev/v1alpha1", {"Policy", "Workflow", "WorkflowRun"}),
                           ("cluster.core.oam.dev/v1alpha1", {"VirtualCluster", "ClusterGateway"}),
                           ("apiregistration.k8s.io/v1", {"APIService"})):
        served = {one["kind"] for one in vela.api.get(f"/apis/{version}")["resources"]}
        check(kinds <= served, f"{version}: missing {kinds - served}")


COMMANDS = [discovery, vela_up, vela_up_publish_version, vela_ls, vela_status, vela_status_tree, vela_status_pod, vela_logs, vela_exec,
            vela_dry_run, vela_live_diff, vela_revision, vela_workflow_suspend_resume, vela_workflow_suspend_running,
            vela_workflow_terminate_restart, vela_workflow_restart_step, vela_workflow_rollback, vela_def_apply, vela_def_list,
            vela_def_get, vela_show, vela_cluster_list, vela_delete, vela_delete_orphan]


def vela_in_another_cluster(vela):
    """vela cluster list, and what vela logs, exec and status ask of objects elsewhere: through the hub, by the gateway's path."""
    named = {one["metadata"]["name"]: one["spec"] for one in vela.api.items("/apis/cluster.core.oam.dev/v1alpha1/virtualclusters")}
    check(named["edge"]["credentialType"] == "Internal", named)
    app = web("spread")
    app["spec"]["policies"] = [{"name": "edge", "type": "topology", "properties": {"clusters": ["edge"]}}]
    vela.up(app)
    vela.wait("spread")
    check(vela.api.get_or_none("/apis/apps/v1/namespaces/default/deployments/spread") is None, "it is in the hub too")
    through = "/apis/cluster.core.oam.dev/v1alpha1/clustergateways/{}/proxy"
    deployment = vela.api.get(through.format("edge") + "/apis/apps/v1/namespaces/default/deployments/spread")
    check(deployment["metadata"]["labels"]["app.oam.dev/name"] == "spread", deployment["metadata"])
    pod = vela.api.items(through.format("edge") + "/api/v1/namespaces/default/pods", labelSelector="app.oam.dev/component=spread")[0]
    vela.api.get(through.format("edge") + f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log")
    check(vela.api.get(through.format("local") + "/api/v1/namespaces/default")["kind"] == "Namespace", "local is the hub")
    # Go's transport puts the gateway's path before the path of the kubeconfig's server.
    server, root = vela.api.server.split("/clusters/")
    vela.api.server = server
    try:
        found = vela.api.get(through.format("edge") + f"/clusters/{root}/apis/apps/v1/namespaces/default/deployments/spread")
        check(found["metadata"]["uid"] == deployment["metadata"]["uid"], found["metadata"])
    finally:
        vela.api.server = f"{server}/clusters/{root}"
    try:
        vela.api.get(through.format("nowhere") + "/api/v1/pods")
        check(False, "a cluster that is not there answers")
    except Refused as refused:
        check(refused.code == 501, refused)
    vela.delete("spread")


COMMANDS_OF_TWO = [vela_in_another_cluster]


class Plane:
    """`slipway up` with simulated pods."""

    def __init__(self, slipway, folder, *more):
        folder.mkdir(exist_ok=True)
        self.kubeconfig = folder / "data" / "kubeconfig"
        self.log = open(folder / "up.log", "w")
        self.process = subprocess.Popen([slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0",
                                         "--pod-runtime", "simulated", *more], stdout=self.log, stderr=subprocess.STDOUT)
        until("the cluster comes up", lambda: "kubeconfig: " in (folder / "up.log").read_text())
        self.api = Api(self.kubeconfig)
        until("the definitions are there", lambda: len(self.api.items(f"{OAM}/workflowstepdefinitions")) > 30 and
              self.api.get(f"{OAM}/namespaces/{SYSTEM}/componentdefinitions/worker")["status"]["latestRevision"])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.close()


def problem_of(command, api):
    """None when it went well."""
    try:
        command(Vela(api))
        return None
    except (AssertionError, KeyError, IndexError, TypeError, Refused) as problem:
        return f": {type(problem).__name__}: {problem}"[:1500]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slipway", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, more, commands in (("one", (), COMMANDS), ("two", ("--clusters", "hub,edge"), COMMANDS_OF_TWO)):
            commands = [one for one in commands if options.only in one.__name__.replace("_", " ")]
            if not commands:
                continue
            plane = Plane(os.path.abspath(options.slipway), pathlib.Path(folder) / name, *more)
            try:
                for command in commands:
                    problem = problem_of(command, plane.api)
                    passed, failed = passed + (problem is None), failed + (problem is not None)
                    print(f"{'ok   ' if problem is None else 'FAIL '} {command.__name__.replace('_', ' ')}{problem or ''}", flush=True)
            finally:
                plane.stop()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
