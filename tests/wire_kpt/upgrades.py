"""Upgrades: `kpt pkg update` and `slipway pkg upgrade` from the same three states, by each of kpt's strategies.

kpt checks versions out one after the other in one folder, where Git looks at the size and the second of files: what differs between
two versions has to differ in size, else kpt may read the other version.
"""
import re
import shutil

from folders import repository
from stage import as_data, contents, copy, difference

STRATEGIES = ("resource-merge", "fast-forward", "force-delete-replace")  # this kpt does not know copy-merge
UPSTREAM = re.compile(r"^(?:upstream|upstreamLock):.*\n(?:[ -].*\n)*", re.M)


def histories(stage):
    """(name, old upstream, new upstream, local copy)"""
    own = stage.own / "history"
    yield "own", own / "1", own / "2", own / "local"
    yield "own untouched", own / "1", own / "2", own / "1"
    yield "own backwards", own / "2", own / "1", own / "local"
    if stage.corpus:
        porch = stage.corpus / "porch" / "update-4way"
        yield "porch update-4way", porch / "original", porch / "upstream", porch / "local"
        for case in sorted((stage.corpus / "kpt-merge3").iterdir()):
            made = [stage.fresh(f"merge3_{case.name}_{part}") for part in ("original", "updated", "destination")]
            for part in made:
                kind = part.name.rsplit("_", 1)[1]
                (part / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n")
                if (case / f"{kind}.yaml").exists():
                    shutil.copy(case / f"{kind}.yaml", part / "resources.yaml")
                for definition in case.glob("*.crd.yaml"):
                    shutil.copy(definition, part)
            yield f"kpt-merge3 {case.name}", *made


def with_upstream_of(fetched, text):
    """A Kptfile that says it was fetched as the Kptfile `fetched` was."""
    return UPSTREAM.sub("", text).rstrip("\n") + "\n" + "".join(UPSTREAM.findall(fetched))


def upgrade_alike(stage, name, states, strategy):
    origin, upstream, local = states
    work = f"upgrade_{name}_{strategy}".replace(" ", "_")
    url = repository(stage, work, [origin, upstream])
    folder = stage.folder / work
    stage.run(stage.kpt, "pkg", "get", f"{url}/web@v1", folder / "fetched")
    theirs, ours = folder / "theirs" / "web", folder / "ours" / "web"
    # An untouched copy is what was fetched, with the marks that kpt wrote; any other is taken as it stands.
    shutil.copytree(folder / "fetched", theirs) if local == origin else copy(local, theirs)
    kptfile = with_upstream_of((folder / "fetched" / "Kptfile").read_text(), (theirs / "Kptfile").read_text())
    (theirs / "Kptfile").write_text(kptfile)
    shutil.copytree(theirs, ours)
    before = contents(ours)
    stage.git(folder / "theirs", "init", "-q", ".")
    stage.git(folder / "theirs", "add", "-A")
    stage.git(folder / "theirs", "commit", "-q", "-m", "local")
    kpt = stage.run(stage.kpt, "pkg", "update", "web@v2", "--strategy", strategy, cwd=theirs.parent, check=False)
    mine = stage.run(stage.slipway, "pkg", "upgrade", ours, "--from", origin, "--to", upstream, "--strategy", strategy, check=False)
    if kpt.returncode != 0 and mine.returncode != 0:  # kpt has written its marks by then
        return difference(before, contents(ours))
    leave_out = as_data("upstream", "upstreamLock")
    found = difference(contents(theirs, leave_out), contents(ours, leave_out))
    if (kpt.returncode == 0) != (mine.returncode == 0):
        return f"kpt exit {kpt.returncode}: {kpt.stderr[-600:]}\nslipway exit {mine.returncode}: {mine.stderr[-600:]}\n{found}"
    return found


def cases(stage):
    for name, *states in histories(stage):
        for strategy in STRATEGIES[:1] if name.startswith("kpt-merge3") else STRATEGIES:
            yield f"upgrade {name} {strategy}", lambda n=name, s=states, how=strategy: upgrade_alike(stage, n, s, how)
