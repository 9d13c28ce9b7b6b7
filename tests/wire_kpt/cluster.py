"""`kpt live` against `slipway up`: a package is applied, its status read, pruned and destroyed."""
import json
import pathlib
import shutil

from stage import copy


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


def cases(stage):
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
