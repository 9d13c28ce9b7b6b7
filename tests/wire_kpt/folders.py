"""Packages in folders: init, get, tree and diff over a Git repository, and rendering with `exec:` = `slipway fn NAME`."""
import pathlib
import re

import yaml

from stage import contents, copy, difference, without

IMAGE = re.compile(r"image:\s*(\S+)")


def name_of(image):
    return image.rsplit("/", 1)[-1].split("@")[0].split(":")[0]


def as_programs(stage, folder):
    """Every image of the Kptfiles becomes the program `slipway fn NAME`."""
    for path in pathlib.Path(folder).rglob("Kptfile"):
        text = path.read_text()
        path.write_text(IMAGE.sub(lambda found: f"exec: {stage.slipway} fn {name_of(found.group(1))}", text))


def rendered_packages(stage):
    """Those whose functions are all built in: (name, folder)."""
    roots = [stage.own / "render"]
    if stage.corpus:
        roots += [stage.corpus / "catalog-fn", stage.corpus / "kpt-fn-render", stage.corpus / "packages"]
    for root in roots:
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            kptfiles = [path for path in folder.rglob("Kptfile") if ".expected" not in path.parts]
            images = [image for path in kptfiles for image in IMAGE.findall(path.read_text())]
            if (folder / "Kptfile").exists() and images and all(name_of(image) in stage.functions for image in images):
                yield f"{root.name}/{folder.name}", folder


def renders_alike(stage, name, package):
    work = stage.fresh("render_" + name)
    kpt, ours = copy(package, work / "kpt" / "pkg"), copy(package, work / "slipway" / "pkg")
    as_programs(stage, kpt)
    as_programs(stage, ours)
    theirs = stage.run(stage.kpt, "fn", "render", kpt, "--allow-exec", check=False)
    mine = stage.run(stage.slipway, "pkg", "render", ours, "--allow-exec", check=False)
    found = difference(contents(kpt, without("status")), contents(ours, without("status")))
    if (theirs.returncode == 0) != (mine.returncode == 0):
        return f"kpt exit {theirs.returncode}: {theirs.stderr[-600:]}\nslipway exit {mine.returncode}: {mine.stderr[-600:]}\n{found}"
    return found


def images_as_programs(stage, name, package):
    """What is built in gives the files that the same functions give as programs."""
    work = stage.fresh("builtin_" + name)
    built_in, programs = copy(package, work / "a" / "pkg"), copy(package, work / "b" / "pkg")
    as_programs(stage, programs)
    first = stage.run(stage.slipway, "pkg", "render", built_in, check=False)
    second = stage.run(stage.slipway, "pkg", "render", programs, "--allow-exec", check=False)
    if first.returncode != second.returncode:
        return f"exit {first.returncode} as images: {first.stderr}\nexit {second.returncode} as programs: {second.stderr}"
    skip = lambda path, text: "" if "kind: Kptfile" in text else text
    return difference(contents(programs, skip), contents(built_in, skip))


def repository(stage, name, versions):
    """A bare repository whose folder `web` is each of `versions` in turn, tagged web/v1, web/v2 …"""
    work = stage.fresh(name)
    source = work / "source"
    source.mkdir()
    stage.git(source, "init", "-q", "-b", "main")
    for number, version in enumerate(versions, 1):
        stage.run("rm", "-rf", source / "web")
        copy(version, source / "web")
        stage.git(source, "add", "-A")
        stage.git(source, "commit", "-q", "--allow-empty", "-m", f"version {number}")
        stage.git(source, "tag", f"web/v{number}")
    bare = work / "repo.git"
    stage.git(work, "clone", "-q", "--bare", str(source), str(bare))
    return f"file://{bare}"


def init_makes_a_package(stage):
    """What `slipway pkg init` makes is one for kpt, and the other way round."""
    work = stage.fresh("init")
    (work / "theirs").mkdir()
    (work / "ours").mkdir()
    stage.run(stage.kpt, "pkg", "init", work / "theirs", "--description", "a web server")
    stage.run(stage.slipway, "pkg", "init", work / "ours", "--description", "a web server")
    kptfile, context = ("Kptfile", "package-context.yaml")
    skip = lambda path, text: text.replace("ours", "theirs") if path in (kptfile, context) else ""
    found = difference(contents(work / "theirs", skip), contents(work / "ours", skip))
    if found:
        return found
    for folder in ("theirs", "ours"):
        stage.run(stage.kpt, "fn", "render", work / folder)
        stage.run(stage.slipway, "pkg", "render", work / folder)
        stage.run(stage.slipway, "pkg", "ready", work / folder)
    return ""


def tree_shows_the_same(stage):
    package = stage.own / "history" / "1"
    work = copy(package, stage.fresh("tree") / "web")
    theirs = stage.run(stage.kpt, "pkg", "tree", work).stdout.rstrip("\n")
    ours = stage.run(stage.slipway, "pkg", "tree", work).stdout.rstrip("\n")
    return "" if theirs == ours else f"kpt:\n{theirs}\nslipway:\n{ours}"


def get_then_diff(stage):
    """A package fetched, unchanged, has no difference; changed, kpt shows it."""
    url = repository(stage, "get", [stage.own / "history" / "1", stage.own / "history" / "2"])
    local = stage.folder / "get" / "web"
    stage.run(stage.kpt, "pkg", "get", f"{url}/web@v1", local)
    stage.run(stage.slipway, "pkg", "render", local)
    stage.git(stage.folder / "get", "init", "-q", ".")
    (local / "added.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: added\n")
    shown = stage.run(stage.kpt, "pkg", "diff", "web", cwd=local.parent, check=False)
    return "" if "added" in shown.stdout else f"exit {shown.returncode}: {shown.stdout}{shown.stderr}"


def fetched_data(folder):
    """Every document as data, with the marks behind `metadata:`; Kptfiles too, but for the package's name."""
    made = {}
    for path, text in contents(folder).items():
        if not path.endswith((".yaml", "Kptfile")):
            made[path] = text
            continue
        # kpt leaves the suffix out, and names the version in upstream as it was asked for (the lock has web/v1 in both).
        documents = list(yaml.safe_load_all(text.replace("/repo.git\n", "/repo\n").replace("ref: web/", "ref: ")))
        if path.endswith("Kptfile"):
            documents[0].pop("metadata", None)
        made[path] = yaml.safe_dump_all(documents) + "".join(re.findall(r"# kpt-merge: .*\n", text))
    return made


def get_fetches_the_same(stage):
    """`slipway pkg get` leaves what `kpt pkg get` does, and kpt updates what it left."""
    url = repository(stage, "fetch", [stage.own / "history" / "1", stage.own / "history" / "2"])
    work = stage.folder / "fetch"
    found = []
    for version in ("@v1", "@web/v1", "@main", ""):
        theirs, ours = work / f"theirs{version.replace('/', '-')}" / "web", work / f"ours{version.replace('/', '-')}" / "web"
        theirs.parent.mkdir()
        ours.parent.mkdir()
        kpt = stage.run(stage.kpt, "pkg", "get", f"{url}/web{version}", theirs, check=False)
        mine = stage.run(stage.slipway, "pkg", "get", f"{url}/web{version}", ours, check=False)
        if (kpt.returncode == 0) != (mine.returncode == 0):
            found.append(f"{version}: kpt {kpt.returncode} {kpt.stderr}, slipway {mine.returncode} {mine.stderr}")
        elif kpt.returncode == 0:
            found.append(difference(fetched_data(theirs), fetched_data(ours)))
    for side in ("theirs", "ours"):
        folder = work / f"{side}@v1"
        stage.git(folder, "init", "-q", ".")
        stage.git(folder, "add", "-A")
        stage.git(folder, "commit", "-q", "-m", "fetched")
        stage.run(stage.kpt, "pkg", "update", "web@v2", cwd=folder)
    found.append(difference(fetched_data(work / "theirs@v1" / "web"), fetched_data(work / "ours@v1" / "web")))
    return "\n".join(one for one in found if one)


def cases(stage):
    yield "pkg get as kpt", lambda: get_fetches_the_same(stage)
    yield "pkg init", lambda: init_makes_a_package(stage)
    yield "pkg tree", lambda: tree_shows_the_same(stage)
    yield "pkg get, diff", lambda: get_then_diff(stage)
    for name, package in rendered_packages(stage):
        yield f"render {name}", lambda name=name, package=package: renders_alike(stage, name, package)
        if name.startswith("render/"):
            yield f"built in {name}", lambda name=name, package=package: images_as_programs(stage, name, package)
