#!/usr/bin/python3
"""Flux's real controllers (tools/flux-controllers) against `slipway up`: a chart is installed, upgraded, fails and is rolled
back, and a folder of a Git repository is applied; each time a Pipeline over it must say what runs.

usage: run.py --slipway PATH --flux FOLDER     (FOLDER as tools/flux-controllers leaves it)

Ends with a line "N passed, N failed". Everything listens on loopback and stops with this program.
"""
import argparse
import hashlib
import http.server
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

PATIENCE = 300  # seconds for one wait: a net, not a measure


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# A chart of one Deployment. What its pods do is told by annotations (docs/simulated-pods.md).
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels:
    helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}
    app.kubernetes.io/instance: {{ .Release.Name }}
spec:
  replicas: 2
  selector:
    matchLabels: {app.kubernetes.io/instance: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app.kubernetes.io/instance: {{ .Release.Name }}}
      annotations: {slipway.dev/ready-after: "READY_AFTER"}
    spec:
      containers: [{name: web, image: "web:{{ .Chart.AppVersion }}"}]
"""


def chart(version, ready_after="1s"):
    """The bytes of web-VERSION.tgz."""
    files = {
        "web/Chart.yaml": f"apiVersion: v2\nname: web\nversion: {version}\nappVersion: {version}\n",
        "web/values.yaml": "{}\n",
        "web/templates/deployment.yaml": DEPLOYMENT.replace("READY_AFTER", ready_after),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


class Shelf(http.server.BaseHTTPRequestHandler):
    """A chart repository, and Git over HTTP by git's own http-backend."""

    charts = {}
    git_root = ""

    def log_message(self, *_):
        pass

    def index(self):
        lines = ["apiVersion: v1", "entries:", "  web:"]
        for version, content in self.charts.items():
            lines += [f"  - name: web\n    version: {version}\n    appVersion: {version}\n    apiVersion: v2",
                      f"    digest: {hashlib.sha256(content).hexdigest()}\n    urls: [web-{version}.tgz]",
                      "    created: 2026-01-01T00:00:00Z"]
        return "\n".join(lines).encode()

    def answer(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        name = self.path.lstrip("/")
        if name == "index.yaml":
            return self.answer(self.index())
        for version, content in self.charts.items():
            if name == f"web-{version}.tgz":
                return self.answer(content)
        if name.startswith("git/"):
            return self.git()
        self.send_error(404)

    def do_POST(self):
        self.git()

    def git(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.git_root, "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": path[len("/git"):], "QUERY_STRING": query, "REQUEST_METHOD": self.command,
               "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        made = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False).stdout
        head, _, content = made.partition(b"\r\n\r\n")
        status, headers = 200, []
        for line in head.decode().split("\r\n"):
            key, _, value = line.partition(": ")
            if key == "Status":
                status = int(value.split()[0])
            else:
                headers.append((key, value))
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Stage:
    """slipway up, the three controllers and the shelf."""

    def __init__(self, slipway, flux, folder):
        self.slipway, self.flux, self.folder, self.processes = slipway, flux, folder, []
        Shelf.git_root = str(folder)
        self.shelf = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
        threading.Thread(target=self.shelf.serve_forever, daemon=True).start()
        self.kubeconfig = folder / "data" / "kubeconfig"
        self.start("up", [slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0"])
        self.wait("the cluster comes up", lambda: "kubeconfig: " in (folder / "up.log").read_text())
        for definition in sorted((flux / "crds").glob("*.yaml")):
            self.run("apply", "-f", str(definition))
        self.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n")
        storage = free_port()
        self.controller("source-controller", [f"--storage-addr=127.0.0.1:{storage}", f"--storage-adv-addr=127.0.0.1:{storage}",
                                              f"--storage-path={folder}/artifacts"])
        self.controller("helm-controller", [])
        self.controller("kustomize-controller", [])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.shelf.server_port}"

    def start(self, name, command):
        env = dict(os.environ, KUBECONFIG=str(self.kubeconfig), RUNTIME_NAMESPACE="flux-system")
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes.insert(0, subprocess.Popen(command, stdout=log, stderr=log, env=env, cwd=self.folder))

    def controller(self, name, flags):
        (self.folder / "artifacts").mkdir(exist_ok=True)
        self.start(name, [str(self.flux / name), "--enable-leader-election=false", "--watch-all-namespaces", "--events-addr=",
                          f"--metrics-addr=127.0.0.1:{free_port()}", f"--health-addr=127.0.0.1:{free_port()}", *flags])

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        self.shelf.shutdown()

    def run(self, *words, text=None):
        done = subprocess.run([self.slipway, *words, "--kubeconfig", str(self.kubeconfig)], input=text, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"slipway {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def apply(self, yaml):
        self.run("apply", "-f", "-", text=yaml)

    def status(self, pipeline):
        return json.loads(self.run("pipeline", "status", pipeline, "-o", "json"))["status"]

    def wait(self, what, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise RuntimeError(f"in vain: {what}")
            time.sleep(0.3)


def release(stage, version, more=""):
    return f"""apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: charts}}
spec: {{interval: 10s, url: "{stage.url}"}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: web}}
spec:
  interval: 10s
  timeout: 20s
  chart: {{spec: {{chart: web, version: "{version}", interval: 10s, sourceRef: {{kind: HelmRepository, name: charts}}}}}}
{more}"""


PIPELINE = """apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: %s}
spec:
  appRef: {apiVersion: %s, kind: %s, name: web}
  environments: [{name: dev, targets: [{namespace: default}]}]
"""


def target(stage, name):
    """The one target of a pipeline: its state and four values."""
    targets = (stage.status(name) or {}).get("environments", {}).get("dev", {}).get("targets", [])
    return targets[0] if targets else {}


def says(stage, state, version):
    found = target(stage, "web")
    return found.get("state") == state and found.get("running", {}).get("version", "") == version


def installs(stage):
    stage.apply(release(stage, "1.0.0") + "---\n" + PIPELINE % ("web", "helm.toolkit.fluxcd.io/v2", "HelmRelease"))
    stage.wait("1.0.0 is settled", lambda: says(stage, "settled", "1.0.0"))
    assert target(stage, "web")["images"][0].startswith("web:1.0.0"), target(stage, "web")


def upgrades(stage):
    stage.apply(release(stage, "1.1.0"))
    stage.wait("1.1.0 is settled", lambda: says(stage, "settled", "1.1.0"))


def fails_and_is_rolled_back(stage):
    stage.apply(release(stage, "1.2.0", "  upgrade: {remediation: {retries: 1}}\n"))
    stage.wait("1.2.0 was taken back", lambda: says(stage, "rolled back", "1.1.0"))
    assert target(stage, "web")["attempted"]["version"] == "1.2.0", target(stage, "web")


def goes_on_with_a_good_version(stage):
    stage.apply(release(stage, "1.3.0", "  upgrade: {remediation: {retries: 1}}\n"))
    stage.wait("1.3.0 is settled", lambda: says(stage, "settled", "1.3.0"))


def applies_a_folder_of_a_repository(stage):
    work, bare = stage.folder / "work", stage.folder / "config.git"
    git = ["git", "-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    subprocess.run([*git, "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    subprocess.run([*git, "clone", "-q", str(bare), str(work)], check=True, capture_output=True)
    (work / "dev").mkdir()
    (work / "dev" / "worker.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker, namespace: default}\nspec:\n"
        "  selector: {matchLabels: {app: worker}}\n  template:\n    metadata: {labels: {app: worker}}\n"
        "    spec: {containers: [{name: worker, image: 'worker:7'}]}\n")
    subprocess.run([*git, "-C", str(work), "checkout", "-q", "-B", "main"], check=True)
    subprocess.run([*git, "-C", str(work), "add", "."], check=True)
    subprocess.run([*git, "-C", str(work), "commit", "-q", "-m", "worker 7"], check=True)
    subprocess.run([*git, "-C", str(work), "push", "-q", "origin", "main"], check=True)
    head = subprocess.run([*git, "-C", str(work), "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    stage.apply(f"""apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: config}}
spec: {{interval: 10s, url: "{stage.url}/git/config.git", ref: {{branch: main}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: web}}
spec: {{interval: 10s, prune: true, wait: true, path: ./dev, sourceRef: {{kind: GitRepository, name: config}}}}
---
""" + PIPELINE % ("folder", "kustomize.toolkit.fluxcd.io/v1", "Kustomization"))
    wanted = f"main@sha1:{head}"
    stage.wait("the commit is settled", lambda: target(stage, "folder").get("state") == "settled" and
               target(stage, "folder").get("running", {}).get("version") == wanted)
    assert target(stage, "folder")["images"][0].startswith("worker:7"), target(stage, "folder")


CASES = [installs, upgrades, fails_and_is_rolled_back, goes_on_with_a_good_version, applies_a_folder_of_a_repository]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slipway", required=True)
    parser.add_argument("--flux", required=True)
    arguments = parser.parse_args()
    Shelf.charts = {"1.0.0": chart("1.0.0"), "1.1.0": chart("1.1.0"), "1.2.0": chart("1.2.0", "never"), "1.3.0": chart("1.3.0")}
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="slipway-flux-") as folder:
        stage = None
        try:
            stage = Stage(str(pathlib.Path(arguments.slipway).absolute()), pathlib.Path(arguments.flux).absolute(),
                          pathlib.Path(folder))
            for case in CASES:
                try:
                    case(stage)
                    passed += 1
                    print(f"passed: {case.__name__}", flush=True)
                except (RuntimeError, AssertionError, KeyError, IndexError) as problem:
                    failed += 1
                    print(f"FAILED: {case.__name__}: {problem}", flush=True)
                    for name in ("web", "folder"):
                        subprocess.run([stage.slipway, "pipeline", "status", name, "-o", "json", "--kubeconfig",
                                        str(stage.kubeconfig)], check=False)
        except RuntimeError as problem:
            failed += 1
            print(f"FAILED: {problem}")
        finally:
            if stage:
                stage.stop()
        if failed:
            for log in sorted(pathlib.Path(folder).glob("*.log")):
                print(f"-- {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
