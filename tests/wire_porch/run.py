#!/usr/bin/python3
"""Transcripts of Porch's client (porchctl), played with Slipway's commands against `slipway up`.

usage: run.py --slipway PATH [--only TEXT]

A transcript is a YAML file as Porch's end-to-end tests have them: {commands: [{args, stdin, stdout, stderr, exitCode, yaml,
containsErrorString}]}. Own ones are in tests/wire_porch/transcripts, others in $SLIPWAY_CORPUS/packages/porch/cli/*/config.yaml.
Each is played on a control plane of its own:

- `porchctl rpkg VERB` becomes `slipway pkg VERB`, `porchctl repo VERB` `slipway repo VERB`; del, reg, get and unreg are delete,
  register, list and unregister. Everything else (sh, sed, kubectl, kpt) is run as it stands where the program is there.
- An address of a Git repository becomes a bare repository of that name below the transcript's folder, /tmp/porch-e2e a folder there.
- Standard output must be the same, but for the column READY, which only Slipway has, and blanks at the ends of lines; with `yaml` the
  same data without uid, resourceVersion, creationTimestamp and commit. The exit code must be 0 or not as it is there. Of standard error
  only `containsErrorString` is compared: messages have other words.

Ends with "N passed, N failed", and a line for each failed step.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 300  # seconds for one command: a net, not a measure
VERBS = {"pkg": {"del": "delete"}, "repo": {"reg": "register", "get": "list", "unreg": "unregister"}}
VOLATILE = {"uid", "resourceVersion", "creationTimestamp", "commit", "internal.config.kubernetes.io/seqindent"}


class Play:
    def __init__(self, slipway, folder):
        self.slipway, self.folder = slipway, folder
        (folder / "git").mkdir()
        self.log = open(folder / "up.log", "w+")
        self.process = subprocess.Popen([slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0",
                                         "--allow-local-git"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + PATIENCE
        while "kubeconfig: " not in (folder / "up.log").read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("slipway up does not serve: " + (folder / "up.log").read_text())
            time.sleep(0.1)
        self.env = dict(os.environ, KUBECONFIG=str(folder / "data" / "kubeconfig"), HOME=str(folder), LC_ALL="C.UTF-8")
        self.namespaces = {"default"}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def run(self, args, stdin=None):
        return subprocess.run(args, input=stdin, text=True, capture_output=True, env=self.env, cwd=self.folder, timeout=PATIENCE,
                              check=False)

    def repository(self, address):
        """http://host/team/name(.git) → a bare repository here, made when it is first named."""
        found = re.match(r"https?://[^/]+/(?:[^/]+/)*?([^/@]+?)(\.git)?((?:/[^@]*)?@.*)?$", address)
        if not found:
            return address
        path = self.folder / "git" / f"{found.group(1)}.git"
        if not path.exists():
            self.run(["git", "init", "-q", "--bare", "-b", "main", str(path)])
        return f"{path}{found.group(3) or ''}"

    def namespace(self, name):
        if name in self.namespaces:
            return
        self.namespaces.add(name)
        manifest = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
        self.run([self.slipway, "apply", "-f", "-"], manifest)

    def words(self, args):
        args = [word.replace("/tmp/porch-e2e", str(self.folder / "e2e")) for word in args]
        if args[0] != "porchctl":
            return args
        group, verb, rest = "pkg" if args[1] == "rpkg" else args[1], args[2], args[3:]
        for word in rest:
            if word.startswith("--namespace="):
                self.namespace(word.split("=", 1)[1])
        rest = [self.repository(word) if word.startswith("http") else word for word in rest]
        made = [self.slipway, group, VERBS.get(group, {}).get(verb, verb), *rest]
        if (group, verb) == ("repo", "register"):
            made.append("--create-branch")
        return made

    def step(self, command):
        args = self.words(command["args"])
        if args[0] != self.slipway and shutil.which(args[0]) is None:
            return f"there is no {args[0]} here"
        (self.folder / "e2e").mkdir(exist_ok=True)
        done = self.run(args, command.get("stdin"))
        fault = difference(command, done)
        if not fault and command["args"][1:3] in (["repo", "register"], ["repo", "reg"]):
            self.settle(command["args"])
        return fault

    def listed(self, resource):
        """How often the server was asked for a list of that resource."""
        metrics = self.run(["kubectl", "get", "--raw", "/metrics"]).stdout
        lines = [line for line in metrics.splitlines() if line.startswith("apiserver_request_total{")]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if f'resource="{resource}"' in line and 'verb="LIST"' in line)

    def settle(self, args):
        """As Porch's tests do: a repository is used once it is Ready."""
        name = next((word.split("=", 1)[1] for word in args if word.startswith("--name=")), "")
        ns = next((word.split("=", 1)[1] for word in args if word.startswith("--namespace=")), "default")
        deadline = time.monotonic() + PATIENCE
        wanted = ["-o", "jsonpath={.metadata.name} {.status.conditions[0].status}", "-n", ns]
        while f"{name} True" not in self.run([self.slipway, "repo", "list", *wanted]).stdout:
            if time.monotonic() > deadline:
                return
            time.sleep(0.1)


def without_ready(text):
    """A table without the column that only Slipway has."""
    lines = text.splitlines()
    at = lines[0].find("   READY") if lines and lines[0].startswith("NAME") and "LIFECYCLE" in lines[0] else -1
    return [(line[:at] if at >= 0 else line).rstrip() for line in lines]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in VOLATILE}
    return [plain(one) for one in value] if isinstance(value, list) else value


def difference(command, done):
    wants_failure = command.get("exitCode", 0) != 0
    if wants_failure != (done.returncode != 0):
        return f"exit {done.returncode}: {done.stdout}{done.stderr}"
    if command.get("containsErrorString") and command.get("stderr", "") not in ("TBD", ""):
        if command["stderr"].strip() not in done.stderr:
            return f"standard error: {done.stderr}"
    if "stdout" not in command:
        return ""
    if command.get("yaml"):
        same = plain(yaml.safe_load(command["stdout"])) == plain(yaml.safe_load(done.stdout))
    else:
        same = without_ready(command["stdout"]) == without_ready(done.stdout)
    return "" if same else f"wanted:\n{command['stdout']}got:\n{done.stdout}"


def transcripts():
    found = [(path.stem, path) for path in sorted((HERE / "transcripts").glob("*.yaml"))]
    corpus = pathlib.Path(os.environ.get("SLIPWAY_CORPUS", "")) / "packages" / "porch" / "cli"
    return found + [(f"porch/{path.parent.name}", path) for path in sorted(corpus.glob("*/config.yaml"))]


def play(slipway, path):
    with tempfile.TemporaryDirectory(prefix="slipway-porch-") as name:
        stage = Play(slipway, pathlib.Path(name))
        try:
            for number, command in enumerate(yaml.safe_load(path.read_text())["commands"], 1):
                fault = stage.step(command)
                if fault:
                    return f"step {number}, {' '.join(command['args'])}: {fault}"
        finally:
            stage.stop()
    return ""


def why_reads_no_contents(slipway):
    """`slipway why` looks at objects; the files of every revision, which are read from Git, are not among them."""
    with tempfile.TemporaryDirectory(prefix="slipway-porch-") as name:
        stage = Play(slipway, pathlib.Path(name))
        try:
            for words in (["repo", "register", "--name=edge", "https://git.test/edge.git"],
                          ["rpkg", "init", "web", "--repository=edge", "--workspace=v1"]):
                fault = stage.step({"args": ["porchctl", *words]})
                if fault:
                    return fault
            said = stage.run([slipway, "why", "packagerevision/edge.web.v1", "--kubeconfig", stage.env["KUBECONFIG"]])
            if said.returncode != 0:
                return said.stdout + said.stderr
            files = stage.run([slipway, "describe", "packagerevisionresources/edge.web.v1", "--kubeconfig", stage.env["KUBECONFIG"]])
            if "Kptfile" not in files.stdout:
                return files.stdout + files.stderr
            count = stage.listed("packagerevisionresources")
            if not stage.listed("packagerevisions") or count:
                return f"{count} lists of contents, {stage.listed('packagerevisions')} of revisions"
        finally:
            stage.stop()
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slipway", required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed, failed = 0, 0
    for name, path in transcripts():
        if given.only not in name:
            continue
        fault = play(os.path.abspath(given.slipway), path)
        passed, failed = (passed, failed + 1) if fault else (passed + 1, failed)
        print(f"FAILED {name}\n    " + fault.replace("\n", "\n    ") if fault else f"passed {name}", flush=True)
    if given.only in "why" and shutil.which("kubectl"):
        fault = why_reads_no_contents(os.path.abspath(given.slipway))
        passed, failed = (passed, failed + 1) if fault else (passed + 1, failed)
        print(f"FAILED why\n    {fault}" if fault else "passed why", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
