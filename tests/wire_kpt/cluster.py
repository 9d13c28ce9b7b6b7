"""`kpt live` against `slipway up`: a package is applied, its status read, pruned and destroyed."""
import json
import pathlib
import shutil

from stage import contents, copy, difference, without


class Live:
    """One control plane and one package, through the cases in their order."""

    def __init__(self, stage):
        self.stage, self.package = stage, None
        # As `make test-wire` leaves it, or PATH's.
        unpacked = pathlib.Path("out/tools/usr/bin/kubectl").absolute()
        self.kubectl = str(unpacked) if unpacked.exists() else shutil.which("kubectl")

    def kpt(self, *words, check=True):
        return self.stage.run(self.stage.kpt, "live", *words, cwd=self.package.parent, check=check)

    def names(self, kind):
        return {one["metadata"]["name"] for one in self.read("get", kind, "-n", "web")["items"]}

    def read(self, *words):
        return json.loads(self.stage.run(self.kubectl, *words, "-o", "json").stdout)

    def up(self):
        folder = self.stage.fresh("live")
        log = folder / "up.log"
        self.stage.start(log, [self.stage.slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0",
                               "--pod-runtime", "simulated"])
        self.stage.until("the control plane", lambda: "kubeconfig: " in log.read_text())
        self.kubeconfig = folder / "data" / "kubeconfig"
        self.stage.env["KUBECONFIG"] = str(self.kubeconfig)
        self.package = copy(self.stage.own / "live", folder / "web")

    def installs(self):
        self.up()
        self.kpt("install-resource-group")
        shown = self.read("get", "customresourcedefinition/resourcegroups.kpt.dev")
        conditions = {one["type"]: one["status"] for one in shown["status"]["conditions"]}
        return "" if conditions.get("Established") == "True" else f"conditions {conditions}"

    def inits(self):
        self.kpt("init", "web", "--namespace", "web", "--name", "inventory", "--inventory-id", "web-1")
        said = (self.package / "resourcegroup.yaml") if (self.package / "resourcegroup.yaml").exists() else self.package / "Kptfile"
        self.stage.run(self.stage.slipway, "pkg", "render", self.package)  # Slipway reads what kpt wrote
        return "" if "web-1" in said.read_text() else said.read_text()

    def applies(self):
        done = self.kpt("apply", "web", "--output", "json", "--reconcile-timeout", "5m")
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        applied = {event.get("name") for event in events if event.get("type") == "apply" and event.get("status") == "Successful"}
        if not {"web", "settings", "more"} <= applied:
            return done.stdout
        reconciled = {event.get("name") for event in events if event.get("status") == "Successful" and event.get("type") == "wait"}
        return "" if "web" in reconciled and self.names("configmaps") >= {"settings", "more"} else done.stdout

    def shows(self):
        done = self.kpt("status", "web", "--output", "events", "--poll-until", "current")
        wanted = "deployment.apps/web/web is Current"
        return "" if wanted in done.stdout else done.stdout

    def prunes(self):
        (self.package / "more.yaml").unlink()
        done = self.kpt("apply", "web", "--reconcile-timeout", "5m")
        left = self.names("configmaps")
        return "" if "more" not in left and "settings" in left else f"{left}: {done.stdout}"

    def destroys(self):
        done = self.kpt("destroy", "web")
        left = self.names("configmaps") | self.names("deployments") | self.names("resourcegroups.kpt.dev")
        return "" if not left & {"settings", "web", "inventory"} else f"{left}: {done.stdout}"


class Served:
    """A repository that Slipway fills, which kpt fetches from and updates by."""

    def __init__(self, stage):
        self.stage = stage

    def slipway(self, *words):
        return self.stage.run(self.stage.slipway, *words, "--kubeconfig", self.kubeconfig).stdout

    def publish(self, workspace, package):
        name = f"blueprints.web.{workspace}"
        files = [option for path in sorted(package.rglob("*")) if path.is_file() and path.name != "Kptfile"
                 for option in ("--file", f"{path.relative_to(package)}={path}")]
        self.slipway("pkg", "edit", name, *files)
        self.slipway("pkg", "propose", name)
        self.slipway("pkg", "approve", name)

    def gets(self):
        folder = self.stage.fresh("served")
        log = folder / "up.log"
        self.stage.start(log, [self.stage.slipway, "up", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0",
                               "--allow-local-git"])
        self.stage.until("the control plane", lambda: "kubeconfig: " in log.read_text())
        self.kubeconfig = str(folder / "data" / "kubeconfig")
        self.stage.git(folder, "init", "-q", "--bare", "-b", "main", "blueprints.git")
        self.url = f"file://{folder}/blueprints.git"
        self.slipway("repo", "register", str(folder / "blueprints.git"), "--create-branch")
        self.slipway("pkg", "init", "web", "--repository", "blueprints", "--workspace", "v1")
        self.publish("v1", self.stage.own / "live")
        self.local = folder / "local" / "web"
        self.local.parent.mkdir()
        self.stage.run(self.stage.kpt, "pkg", "get", f"{self.url}/web@v1", self.local)
        ours = folder / "pulled"
        self.slipway("pkg", "pull", "blueprints.web.v1", str(ours))
        # kpt marks what it fetches; what it fetched is what is served.
        return difference(contents(self.local, without("upstream", "upstreamLock", "metadata")), marked(ours, self.stage))

    def updates(self):
        self.stage.git(self.local.parent, "init", "-q", ".")
        self.stage.git(self.local.parent, "add", "-A")
        self.stage.git(self.local.parent, "commit", "-q", "-m", "fetched")
        self.slipway("pkg", "copy", "blueprints.web.v1", "--workspace", "v2")
        newer = copy(self.stage.own / "live", self.stage.fresh("newer") / "web")
        (newer / "more.yaml").write_text((newer / "more.yaml").read_text().replace("blue", "dark green"))
        self.publish("v2", newer)
        shown = self.stage.run(self.stage.kpt, "pkg", "diff", "web@v2", cwd=self.local.parent, check=False).stdout
        if "dark green" not in shown:
            return f"pkg diff: {shown}"
        self.stage.run(self.stage.kpt, "pkg", "update", "web@v2", cwd=self.local.parent)
        return "" if "green" in (self.local / "more.yaml").read_text() else (self.local / "more.yaml").read_text()

    def updates_a_clone(self):
        """What Slipway cloned into a deployment, kpt brings up to date, also where an object has another name by now."""
        folder = self.stage.fresh("edge")
        self.stage.git(folder, "init", "-q", "--bare", "-b", "main", "edge.git")
        self.slipway("repo", "register", f"file://{folder}/edge.git", "--create-branch", "--deployment")
        self.slipway("pkg", "clone", "blueprints.web.v1", "web", "--repository", "edge", "--workspace", "v1")
        self.slipway("pkg", "propose", "edge.web.v1")
        self.slipway("pkg", "approve", "edge.web.v1")
        self.stage.git(folder, "clone", "-q", "edge.git", "local")
        package = folder / "local" / "web"
        text = (package / "more.yaml").read_text()
        if "# kpt-merge: " not in text or "internal.kpt.dev/upstream-identifier" not in text:
            return f"no marks: {text}"
        (package / "more.yaml").write_text(text.replace("name: more\n", "name: north-more\n"))
        kptfile = (package / "Kptfile").read_text()
        url = next(line.split("repo: ")[1] for line in kptfile.splitlines() if "repo: " in line)
        (package / "Kptfile").write_text(kptfile.replace(f"repo: {url}", f"repo: {self.url}"))
        self.stage.git(folder / "local", "commit", "-q", "-a", "-m", "renamed")
        self.stage.run(self.stage.kpt, "pkg", "update", "web@v2", cwd=folder / "local")
        after = (package / "more.yaml").read_text()
        return "" if "dark green" in after and after.count("kind: ConfigMap") == 1 and "north-more" in after else after


def marked(folder, stage):
    """The files as `slipway pkg upgrade` marks them, which is how kpt does."""
    stage.run(stage.slipway, "pkg", "upgrade", folder, "--from", folder, "--to", folder, "--strategy", "resource-merge")
    kept = contents(folder, without("upstream", "upstreamLock", "metadata"))
    kept.pop(".KptRevisionMetadata")
    return kept


def cases(stage):
    served = Served(stage)
    yield "a served repository: pkg get", served.gets
    yield "a served repository: pkg diff, update", served.updates
    yield "a served repository: pkg update of a clone", served.updates_a_clone
    live = Live(stage)
    if not live.kubectl:
        print("skipped: kpt live, there is no kubectl to look with")
        return
    yield "live install-resource-group", live.installs
    yield "live init", live.inits
    yield "live apply", live.applies
    yield "live status", live.shows
    yield "live apply prunes", live.prunes
    yield "live destroy", live.destroys
