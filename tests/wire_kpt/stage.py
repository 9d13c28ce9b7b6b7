"""The two programs, the folder they work in, and what cases compare."""
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import yaml

PATIENCE = 300  # seconds for one wait: a net, not a measure


class Stage:
    def __init__(self, slipway, kpt, folder, corpus, here):
        self.slipway, self.kpt, self.folder, self.corpus = str(slipway), kpt, folder, corpus
        self.own = here / "packages"
        self.processes = []
        self.env = {"HOME": str(folder), "PATH": os.environ["PATH"], "KPT_CACHE_DIR": str(folder / "cache"), "LC_ALL": "C.UTF-8",
                    "KPT_DISABLE_ATTRIBUTION": "1",  # else it marks objects of one vendor as its own
                    "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org",
                    "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org"}
        listed = self.run(self.slipway, "fn", "list").stdout
        self.functions = {line.split()[0] for line in listed.splitlines()}

    def run(self, *words, cwd=None, check=True):
        done = subprocess.run([str(word) for word in words], cwd=cwd, env=self.env, text=True, capture_output=True, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def git(self, folder, *words):
        return self.run("git", *words, cwd=folder).stdout

    def fresh(self, name):
        """A new empty folder."""
        made = self.folder / name.replace("/", "_").replace(" ", "_")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        return made

    def until(self, what, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise RuntimeError(f"in vain: {what}")
            time.sleep(0.1)

    def start(self, log, words):
        with open(log, "w") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.env, cwd=self.folder)
        self.processes.insert(0, process)
        return process

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        self.processes = []


def copy(source, target):
    """The files of a package without those that say what is expected."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".expected", ".git"))
    return target


def contents(folder, leave_out=lambda path, text: text):
    """path → text of all files, each through `leave_out`."""
    made = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and ".git" not in path.parts:
            name = str(path.relative_to(folder))
            made[name] = leave_out(name, path.read_bytes().decode("utf-8", "surrogateescape"))
    return made


def without(*keys):
    """Leaves these members of a Kptfile's root out."""
    def leave_out(path, text):
        if pathlib.PurePath(path).name != "Kptfile":
            return text
        for key in keys:
            text = re.sub(rf"^{key}:.*\n(?:(?:[ #-].*)?\n)*", "", text, flags=re.M)
        return text
    return leave_out


def as_data(*left_out):
    """Kptfiles as data, without these members: this kpt writes them through its types, sorted and without comments."""
    def leave_out(path, text):
        if pathlib.PurePath(path).name != "Kptfile":
            return text
        data = yaml.safe_load(text)
        return yaml.safe_dump({key: value for key, value in data.items() if key not in left_out})
    return leave_out


def difference(theirs, ours):
    """A diff from what kpt left to what Slipway left; empty when nothing differs."""
    lines = []
    for path in sorted({*theirs, *ours}):
        before, after = theirs.get(path), ours.get(path)
        if before == after:
            continue
        if before is None or after is None:
            lines.append(f"{path}: only {'slipway' if before is None else 'kpt'} has it")
            continue
        lines += [line.rstrip("\n") for line in difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                                                     f"kpt/{path}", f"slipway/{path}", n=2)]
    return "\n".join(lines[:60])
