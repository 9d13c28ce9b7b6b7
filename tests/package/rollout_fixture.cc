#include "rollout_fixture.h"

#include <fmt/format.h>

#include "delivery/package/rollout_plan.h"
#include "krm/kptfile.h"

namespace slipway::package_test {

using namespace delivery::package;

std::string Fleet::cell(int number) const { return fmt::format("cell-{:02}", number); }

void Fleet::fleet(int cells) {
  cells_ = cells;
  add_repository("blueprints");
  for (int i = 0; i < cells; ++i) {
    const auto& repository = add_repository(cell(i), Deployment::Yes, "{tier: cell}");
    make(fmt::format(R"(
apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {{name: {}}}
spec: {{sourceFormat: unstructured, git: {{repo: '{}', branch: main, auth: none, period: {}}}}}
)",
                     cell(i), repository.path(), period_));
  }
}

void Fleet::blueprint(std::int64_t number, const std::string& value) {
  const std::string name = draft("blueprints", "web", fmt::format("v{}", number), {});
  edit(name, [&](Files& files) {
    for (const char* gate : {"ipam", "ticket"}) {
      files["Kptfile"] = krm::with_gate(files["Kptfile"], gate).value_or(files["Kptfile"]);
    }
    files["ns.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: example\n";
    files["web.yaml"] = fmt::format(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: example\ndata:\n  value: {}\n", value);
    files["address.yaml"] =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: address\n  namespace: example\ndata:\n  address: none\n";
  });
  propose(name);
  approve(name);
  EXPECT_EQ(revision(name)["spec"]["revision"].as_int(), number);
}

void Fleet::follow(std::int64_t number) {
  following_ = number;
  make(fmt::format(R"(
apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata: {{name: fleet, annotations: {{packages.slipway.dev/superseded-drafts: replace}}}}
spec:
  upstream: {{repo: blueprints, package: web, revision: {}}}
  targets:
    - repositorySelector: {{matchLabels: {{tier: cell}}}}
      template:
        labels: {{app: web}}
        annotations: {{config.porch.kpt.dev/auto-lifecycle-mgmt: 'true'}}
        pipeline: {{mutators: [{{image: 'set-namespace:v1', configMapExprs: [{{key: namespace, valueExpr: repoDefault}}]}}]}}
)",
                   number));
}

void Fleet::rollout(std::int64_t number, std::string_view spec) {
  const auto made = json::parse_yaml(spec).value();
  percents_.clear();
  for (const Value& step : made["steps"].items()) percents_.push_back(step["percent"].as_int());
  if (percents_.empty() || percents_.back() < 100) percents_.push_back(100);
  make(fmt::format(
      R"(
apiVersion: packages.slipway.dev/v1alpha1
kind: PackageRollout
metadata: {{name: {}}}
spec: {}
)",
      kRollout,
      json::print(made.with("selector", json::parse(R"({"matchLabels":{"app":"web"}})").value())
                      .with("upstream", json::object({{"repo", "blueprints"}, {"package", "web"}, {"revision", number}})))));
}

void Fleet::errors(std::string_view percent) {
  web_.replies = {
      {200,
       fmt::format(R"({{"status":"success","data":{{"resultType":"vector","result":[{{"metric":{{}},"value":[1,"{}"]}}]}}}})",
                   percent)}};
}

/// What must be so is looked for again and again: a content that changed takes back what was said of it.
void Fleet::act(const Value& draft) {
  const std::string name(kube::name(draft));
  const std::string where = draft["spec"]["repository"].str();
  if (condition_in(draft, "Drafted") != "True Drafted") return;
  if (!condition_in(draft, "ipam").starts_with("True") && !no_address_.contains(where)) {
    edit(name, [&](Files& files) {
      std::string& text = files["address.yaml"];
      if (const auto at = text.find("none"); at != std::string::npos) text.replace(at, 4, "10.0.0." + where.substr(5));
    });
    say(name, "ipam", "True", "ipam");
  } else if (!condition_in(draft, "ticket").starts_with("True") && !no_person_.contains(where)) {
    say(name, "ticket", "True", "alice");
  }
}

std::int64_t Fleet::approved(std::int64_t number) {
  std::int64_t count = 0;
  for (const Value& one : list(kHub, kRecords, "default")) {
    const Value& spec = one["spec"];
    const bool is_of_it = spec["upstreamLock"]["git"]["ref"].as_string().ends_with(fmt::format("/v{}", number)) &&
                          spec["revision"].as_int() >= 0 && spec["repository"].as_string() != "blueprints";
    const bool is_publishing =
        spec["intents"].size() > 0 && spec["intents"].item(spec["intents"].size() - 1)["kind"].as_string() == "Approve";
    const bool is_published =
        spec["lifecycle"].as_string() == "Published" || spec["lifecycle"].as_string() == "DeletionProposed";
    if (is_of_it && (is_published || is_publishing)) ++count;
  }
  return count;
}

void Fleet::check_bound() {
  const Value now = status();
  const std::int64_t step = now["step"].as_int();
  if (now["revision"].as_int() != following_ || now["targets"].as_int() == 0) return;
  const std::int64_t bound = allowed(percents_.at(static_cast<std::size_t>(step)), now["targets"].as_int());
  EXPECT_LE(approved(following_), bound) << "in step " << step;
}

void Fleet::tick() {
  advance(seconds{10});
  check_bound();
  if (!acts_) return;
  for (const Value& one : list(kHub, kRevisions, "default")) {
    const Value& spec = one["spec"];
    if (spec["lifecycle"].as_string() == "Draft" && spec["repository"].as_string() != "blueprints") act(one);
  }
  check_bound();
}

bool Fleet::ticks_until(const std::function<bool()>& holds, Duration limit) {
  const Steady deadline = env_->steady() + limit;
  while (!holds()) {
    if (env_->steady() >= deadline) return false;
    tick();
  }
  return true;
}

std::set<std::string> Fleet::running() {
  std::set<std::string> found;
  for (const Value& one : list(kHub, {"", "v1", "configmaps"})) {
    if (kube::name(one) == "web") found.insert(fmt::format("{} {}", kube::ns(one), one["data"]["value"].as_string()));
  }
  return found;
}

}  // namespace slipway::package_test
