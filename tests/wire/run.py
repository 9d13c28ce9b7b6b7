#!/usr/bin/python3
"""Runs the behaviours of tests/wire/expect with every kubectl found, each on a control plane of its own.

usage: run.py --slipway PATH [--tools DIR] [--only TEXT] [--kubectl 1.33] [--few]

With --few each behaviour runs with the oldest and the newest kubectl it is for, and with one of those between in turn.

A behaviour file has sections:

    == what is shown
    $ kubectl get ns            a command for the shell; KUBECONFIG is set, the folder holds tests/wire/files
    NAME   STATUS   AGE         lines that must follow, exactly (output and errors together)
    ~default  +Active .*        a line that starts with ~ is a regular expression for the whole line
    ...                         any number of lines
    ? 1                         the exit code, 0 when not said
    $> kubectl get pod p        tried again until it shows what is expected; after ten minutes it does not

A section, a command or a line may begin with [1.29-], [-1.28] or [1.30-1.32]: then it counts only for those minors.
A section that begins with == ! is run once, without kubectl (client libraries); one with @process has pods that are processes,
the others simulated ones; one with @clusters has the clusters dev and staging, with @three dev, staging and prod; one with @flux
has the simulated Flux; one with @localgit may name Git repositories by paths.

Sections named in tests/known_failures/wire.txt ("FILE: TITLE # reason") are run and told, but not counted as failed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 600  # seconds, which only a broken run takes
HERE = pathlib.Path(__file__).resolve().parent
RANGE = re.compile(r"\[(\d\.\d+)?-?(\d\.\d+)?\]\s*")


def minor_of(text):
    return tuple(int(part) for part in text.split("."))


def split_range(line):
    """('rest', applies(minor)) of a line that may begin with a range."""
    match = RANGE.match(line)
    if not match:
        return line, lambda minor: True
    low, high = match.group(1), match.group(2)
    if "-" not in match.group(0):
        high = low
    return line[match.end():], lambda minor: (not low or minor >= minor_of(low)) and (not high or minor <= minor_of(high))


class Step:
    def __init__(self, command, applies, is_retried):
        self.command, self.applies, self.is_retried = command, applies, is_retried
        self.expected, self.code = [], 0


class Section:
    def __init__(self, file, title, applies):
        self.file, self.applies, self.steps = file, applies, []
        self.is_client = title.startswith("!")
        self.pods = "process" if "@process" in title else "simulated"
        self.options = ["--clusters", "dev,staging"] if "@clusters" in title else []
        if "@three" in title:
            self.options = ["--clusters", "dev,staging,prod"]
        if "@flux" in title:
            self.options += ["--simulated-flux"]
        if "@localgit" in title:
            self.options += ["--allow-local-git"]
        self.title = re.sub(r"@\w+ ", "", title.lstrip("! "))


def read_sections():
    sections = []
    for file in sorted((HERE / "expect").glob("*.txt")):
        for line in file.read_text().splitlines():
            if line.startswith("=="):
                title, applies = split_range(line[2:].strip())
                sections.append(Section(file.stem, title, applies))
            elif line.startswith("$"):
                is_retried = line.startswith("$>")
                command, applies = split_range(line[2 if is_retried else 1:].strip())
                sections[-1].steps.append(Step(command, applies, is_retried))
            elif line.startswith("? "):
                sections[-1].steps[-1].code = int(line[2:])
            elif line.startswith("#") or (not line.strip() and (not sections or not sections[-1].steps)):
                continue
            elif sections and sections[-1].steps:
                sections[-1].steps[-1].expected.append(line)
    for section in sections:
        for step in section.steps:
            while step.expected and not step.expected[-1].strip():
                step.expected.pop()
    return sections


def matches(expected, actual):
    """Whether the lines fit; expected may hold '...' and '~' lines."""
    if not expected:
        return not actual
    head = expected[0]
    if head == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    fits = re.fullmatch(head[1:], actual[0]) if head.startswith("~") else head.rstrip() == actual[0].rstrip()
    return bool(fits) and matches(expected[1:], actual[1:])


def node_client():
    """@kubernetes/client-node, where `make test-wire` has put it."""
    return str(pathlib.Path("out/tools/node_modules/@kubernetes/client-node/dist/index.js").absolute())


def helm():
    """helm, where `make test-wire` has built it."""
    return pathlib.Path("out/tools/bin/helm").absolute()


class Plane:
    """`slipway up` on a free port, in a folder of its own."""

    def __init__(self, slipway, folder, pods, options):
        self.folder = folder
        kubeconfig = folder / "data" / "kubeconfig"
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(
            [slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0", "--pod-runtime", pods, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:  # its address comes last
            self.said = line
            if kubeconfig.exists() and "kubeconfig" in line:
                break
        if self.process.poll() is not None:
            raise RuntimeError("slipway up ended: " + (folder / "log").read_text())
        self.environment = {
            "HOME": str(folder), "SLIPWAY_NODE_CLIENT": node_client(), "KUBECONFIG": str(kubeconfig), "LC_ALL": "C.UTF-8", "TERM": "dumb", "EDITOR": "true",
            "PATH": str(folder / "bin") + ":" + os.path.dirname(os.path.abspath(slipway)) + ":/usr/local/bin:/usr/bin:/bin"}

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return f"slipway up did not stop within {PATIENCE} s"
        return "" if self.process.returncode in (0, 130) else f"slipway up ended with {self.process.returncode}"


def run_step(step, plane, minor):
    expected = []
    for line in step.expected:
        rest, applies = split_range(line)
        if applies(minor):
            expected.append(rest)
    deadline = time.monotonic() + (PATIENCE if step.is_retried else 0)
    while True:
        try:
            done = subprocess.run(["bash", "-c", step.command], cwd=plane.folder / "work", env=plane.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output, code = (late.stdout or b"").decode() + f"\n({PATIENCE} s passed)", -1
        if code == step.code and matches(expected, output.rstrip("\n").split("\n") if output.strip() else []):
            return ""
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    want = "\n".join("      " + line for line in expected)
    have = "\n".join("      " + line for line in output.rstrip("\n").split("\n"))
    return f"    $ {step.command}\n    expected (exit {step.code}):\n{want}\n    got (exit {code}):\n{have}"


def run_section(section, slipway, kubectl, minor):
    with tempfile.TemporaryDirectory(prefix="slipway-wire-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        shutil.copytree(HERE / "files", folder / "work")
        if kubectl:
            (folder / "bin" / "kubectl").symlink_to(kubectl)
            (folder / "bin" / "kubectl-slipway").symlink_to(os.path.abspath(slipway))
        if helm().exists():
            (folder / "bin" / "helm").symlink_to(helm())
        plane = Plane(slipway, folder, section.pods, section.options)
        try:
            for step in section.steps:
                if step.applies(minor):
                    problem = run_step(step, plane, minor)
                    if problem:
                        return problem
        finally:
            ending = plane.stop()
        return "    " + ending if ending else ""


def find_kubectls(tools):
    """{minor: path} of the real clients: unpacked into `tools`, on PATH, and beside what PATH's kubectl points to."""
    places = list(pathlib.Path(tools).glob("**/bin/kubectl")) if tools else []
    on_path = shutil.which("kubectl")
    if on_path:
        real = pathlib.Path(on_path).resolve()
        places += sorted(real.parent.glob("kubectl.1.*")) or [real]
    found = {}
    for place in places:
        said = subprocess.run([place, "version", "--client"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}).stdout
        version = re.search(r"v?(1)\.(\d+)[.+]", said) or re.search(r'Major:"(1)", Minor:"(\d+)', said)
        if version:
            found.setdefault((int(version.group(1)), int(version.group(2))), place.resolve())
    return dict(sorted(found.items()))


def few(clients, turn):
    """The first, the last and, with the number of the turn, one of those between."""
    between = clients[1:-1]
    return clients[:1] + ([between[turn % len(between)]] if between else []) + clients[1:][-1:]


def known_failures():
    """{section name: reason} of what is expected to fail."""
    lines = (HERE.parent / "known_failures" / "wire.txt").read_text().splitlines()
    return {name.strip(): reason.strip() for name, _, reason in (line.partition("#") for line in lines) if name.strip()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slipway", required=True)
    parser.add_argument("--tools", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--kubectl", default="")
    parser.add_argument("--few", action="store_true")
    arguments = parser.parse_args()
    kubectls = find_kubectls(arguments.tools)
    if arguments.kubectl:
        kubectls = {minor: path for minor, path in kubectls.items() if minor == minor_of(arguments.kubectl)}
    print("kubectl found: " + (", ".join(f"{a}.{b}" for a, b in kubectls) or "none"))
    runs = []
    for turn, section in enumerate(read_sections()):
        if arguments.only not in section.file + ": " + section.title:
            continue
        if section.is_client and "client-node" in section.title and not os.path.exists(node_client()):
            print(f"skipped: {section.title} (npm has not brought it)")
        elif section.is_client and section.title.startswith("helm ") and not helm().exists():
            print(f"skipped: {section.title} (go is not there, or its module proxy, or SLIPWAY_HELM=no)")
        elif section.is_client:
            runs.append((section, None, (1, 99)))
        else:
            clients = [(section, path, minor) for minor, path in kubectls.items() if section.applies(minor)]
            runs += few(clients, turn) if arguments.few else clients
    failed, expected = 0, 0
    known = known_failures()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = [(run, pool.submit(run_section, run[0], arguments.slipway, run[1], run[2])) for run in runs]
        for (section, path, minor), result in results:
            name = f"{section.file}: {section.title}" + (f" [kubectl {minor[0]}.{minor[1]}]" if path else "")
            try:
                problem = result.result()
            except Exception as error:  # a plane that did not start is a failure of this run, not the end of all
                problem = f"    {error}"
            reason = known.get(f"{section.file}: {section.title}")
            if reason and problem:
                expected += 1
                print(f"known failure: {name} ({reason})")
            elif reason:
                print(f"passes, take it off tests/known_failures/wire.txt: {name}")
            elif problem:
                failed += 1
                print(f"FAILED {name}\n{problem}", flush=True)
    print(f"{len(runs) - failed - expected} passed, {failed} failed" + (f", {expected} skipped" if expected else ""))
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
