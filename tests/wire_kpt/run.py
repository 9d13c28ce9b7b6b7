#!/usr/bin/python3
"""kpt itself (v1.0.0-beta.56) beside Slipway: the same packages fetched, rendered, upgraded and applied by both.

usage: run.py --slipway PATH [--kpt PATH] [--only TEXT] [--keep]

Every line of the output is a case: what kpt leaves in a folder is compared byte for byte with what Slipway leaves. Packages are
those of tests/wire_kpt/packages and, where it is there, of $SLIPWAY_CORPUS/packages. Cases named in
tests/known_failures/wire_kpt.txt ("CASE  # reason") are told, and not counted as failed; one that passes must leave the list.
Skipped with a line where kpt is absent. Ends with a line "N passed, N failed".
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import cluster
import folders
import upgrades
from stage import Stage

HERE = pathlib.Path(__file__).resolve().parent


def known_differences():
    listed = {}
    for line in (HERE.parent / "known_failures" / "wire_kpt.txt").read_text().splitlines():
        name, _, reason = line.partition("  # ")
        if reason:
            listed[name] = reason
    return listed


def judge(case):
    """What differs, or what broke; empty when the case passes."""
    try:
        return case()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def judged(stage, only):
    """(name, reason) in order: folders four at a time, the steps on a cluster one after another."""
    alone = [case for case in [*folders.cases(stage), *upgrades.cases(stage)] if only in case[0]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        yield from zip([name for name, _ in alone], pool.map(judge, [case for _, case in alone]))
    for name, case in cluster.cases(stage):
        if only in name:
            yield name, judge(case)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slipway", required=True)
    parser.add_argument("--kpt", default=shutil.which("kpt"))
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true", help="leave the folder that was worked in, and say where it is")
    given = parser.parse_args()
    if not given.kpt:
        print("skipped: wire-kpt, there is no kpt on this machine")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-kpt-"))
    corpus = pathlib.Path(os.environ.get("SLIPWAY_CORPUS", "")) / "packages"
    stage = Stage(pathlib.Path(given.slipway).resolve(), given.kpt, folder, corpus if corpus.is_dir() else None, HERE)
    passed, failed, differing, known = 0, 0, 0, known_differences()
    try:
        for name, reason in judged(stage, given.only):
            if reason and name in known:
                differing += 1
                print(f"differs {name}: {known[name]}", flush=True)
            elif reason or name in known:
                failed += 1
                print(f"FAILED  {name}\n        " + (reason or "passes: take it off the list").replace("\n", "\n        "), flush=True)
            else:
                passed += 1
                print(f"passed  {name}", flush=True)
    finally:
        stage.stop()
        if given.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{differing} differ for a reason that tests/known_failures/wire_kpt.txt gives")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
