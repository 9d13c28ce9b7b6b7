#include "stage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "json/text.h"
#include "kube/object.h"

namespace slipway::handover_test {
namespace {

using oracle_test::kHub;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kNamespace = "default";
const kube::GroupVersionKind kDeployment{"apps", "v1", "Deployment"};
const kube::GroupVersionKind kPod{"", "v1", "Pod"};
constexpr const char* kBatches = "rolloutBatches: [{replicas: 50%}, {replicas: 50%}]";
constexpr const char* kTemplateMark = "app.oam.dev/rollout-template";
/// By an Ingress that the test makes.
constexpr const char* kTraffic = "{provider: nginx, ingressRef: {name: web}, service: web, settleSeconds: 1, drainSeconds: 2}";

/// An approval after the first batch, of ways whose plan a user writes.
constexpr const char* kAskedBatches = "rolloutBatches: [{replicas: 50%, gates: [{name: look, approval: {}}]}, {replicas: 50%}]";

/// The members of the plan of a rollout that a user writes.
std::string plan_of(const Version& version) {
  std::string plan = version.is_asked ? kAskedBatches : kBatches;
  if (version.decreases_first) plan += ", rolloutStrategy: DecreaseFirst";
  if (version.on_failure == OnFailure::Revert) plan += ", onFailure: Revert";
  if (version.has_traffic) plan += fmt::format(", traffic: {}", kTraffic);
  if (version.target_size > 0) plan += fmt::format(", targetSize: {}", version.target_size);
  return plan;
}

std::string traits_of(const Version& version) {
  std::vector<std::string> traits;
  const std::string ready = version.is_bad ? "never" : version.ready_after;
  traits.push_back(fmt::format("{{type: annotations, properties: {{slipway.dev/ready-after: {}}}}}", ready));
  if (version.is_scaled) traits.push_back("{type: hpa, properties: {min: 2, max: 8}}");
  if (version.way == Way::Trait) {
    const std::string size = version.replicas > 0 ? fmt::format("targetSize: {}, ", version.replicas) : "";
    traits.push_back(fmt::format("{{type: rollout, properties: {{{}{}}}}}", size, kBatches));
  } else if (version.replicas > 0) {
    traits.push_back(fmt::format("{{type: scaler, properties: {{replicas: {}}}}}", version.replicas));
  }
  return fmt::format("{}", fmt::join(traits, ", "));
}

std::string more_of(const Version& version) {
  switch (version.way) {
    case Way::Normal:
    case Way::Trait:
    case Way::Template:
      return "";
    case Way::BlueGreen:
      return fmt::format(
          ", workflow: {{steps: [{{name: first, type: blue-green-rollout{}}}, {{name: rest, type: rollout-promotion{}}}]}}",
          version.has_traffic ? fmt::format(", properties: {{traffic: {}}}", kTraffic) : "",
          version.on_failure == OnFailure::Revert ? ", properties: {rollbackIfNotApproved: true}" : "");
    case Way::Plan:
      return fmt::format(", rolloutPlan: {{{}}}", plan_of(version));
    case Way::Standalone:
      return ", workflow: {steps: [{name: hold, type: suspend}, {name: web, type: apply-component, properties: {component: "
             "web}}]}";
  }
  return "";
}

Value application_of(const Version& version) {
  const std::string ports = version.has_service ? fmt::format(", ports: [{{port: {}, expose: true}}]", version.port) : "";
  std::string keep;
  if (version.keeps_legacy) keep = "keepLegacyResource: true";
  if (version.revision_limit > 0) keep = fmt::format("applicationRevisionLimit: {}", version.revision_limit);
  if (!keep.empty()) keep = fmt::format(", policies: [{{name: keep, type: garbage-collect, properties: {{{}}}}}]", keep);
  return oracle_test::yaml(
      fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: "
                  "web, type: webservice, properties: {{image: 'web:{}'{}}}, traits: [{}]}}]{}{}}}}}",
                  version.number, ports, traits_of(version), more_of(version), keep));
}

bool is_pod_there(const Value& pod) {
  return !kube::is_deleting(pod) && pod["status"]["phase"].as_string() != "Failed" &&
         pod["status"]["phase"].as_string() != "Succeeded";
}

/// Whether the pod is an endpoint of the Service; without one any pod counts.
bool selects(const Value& service, const Value& pod) {
  return std::ranges::all_of(service["spec"]["selector"].members(),
                             [&](const auto& label) { return kube::label(pod, label.key) == label.value.as_string(); });
}

Value reference(std::string_view version, std::string_view kind, std::string_view name) {
  return json::object({{"apiVersion", std::string(version)},
                       {"kind", std::string(kind)},
                       {"namespace", kNamespace},
                       {"name", std::string(name)}});
}

Value rollout_reference(std::string_view name) { return reference("core.oam.dev/v1beta1", "AppRollout", name); }

/// The rollout of that way.
Value reference_of(Way way) {
  if (way == Way::Trait) return reference("standard.oam.dev/v1alpha1", "Rollout", "web");
  return rollout_reference(way == Way::Standalone || way == Way::Template ? "r" : "a-web");
}

}  // namespace

std::string_view name_of(Way way) {
  switch (way) {
    case Way::Normal:
      return "Normal";
    case Way::BlueGreen:
      return "BlueGreen";
    case Way::Plan:
      return "Plan";
    case Way::Trait:
      return "Trait";
    case Way::Standalone:
      return "Standalone";
    case Way::Template:
      return "Template";
  }
  return "";
}

Stage::Stage() : plane_(&oracle_test::image()) { plane_.make_namespace(kNamespace); }

Value Stage::find(std::string_view version, std::string_view kind, std::string_view name) {
  return plane_.find(kHub, reference(version, kind, name));
}

void Stage::apply(const Version& version) {
  Value wanted = application_of(version);
  if (version.way == Way::Template) wanted = wanted.with_path({"metadata", "annotations", kTemplateMark}, "true");
  if (application().is_null()) {
    ASSERT_EQ(plane_.apply(wanted, kNamespace), "");
  } else {  // what the version before had and this one has not goes
    for (const char* member : {"workflow", "rolloutPlan", "policies"}) {
      if (!wanted["spec"].has(member)) wanted = wanted.with_path({"spec", member}, Value());
    }
    for (const auto& [name, value] : application()["spec"]["rolloutPlan"].members()) {
      if (wanted["spec"]["rolloutPlan"].is_null() || wanted["spec"]["rolloutPlan"].has(name)) continue;
      wanted = wanted.with_path({"spec", "rolloutPlan", name}, Value());
    }
    ASSERT_EQ(plane_.merge(reference("core.oam.dev/v1beta1", "Application", "a"), wanted), "");
  }
  if (version.way != Way::Standalone && version.way != Way::Template) return;
  const std::int64_t before = revisions_;
  const char* waiting = version.way == Way::Template ? "rollingOut" : "workflowSuspending";
  ASSERT_TRUE(until([&] {
    revisions_ = application()["status"]["latestRevision"]["revision"].as_int();
    return revisions_ > before && phase() == waiting;
  })) << story();
  roll_to(fmt::format("a-v{}", revisions_), revisions_ > 1 ? fmt::format("a-v{}", revisions_ - 1) : "", plan_of(version));
}

std::string Stage::apply_as_template(const Version& version) {
  const Value wanted = application_of(version).with_path({"metadata", "annotations", kTemplateMark}, "true");
  return plane_.merge(reference("core.oam.dev/v1beta1", "Application", "a"), wanted);
}

void Stage::roll_to(const std::string& target, const std::string& source, const std::string& plan) {
  const std::string from = source.empty() ? "" : fmt::format(", sourceAppRevisionName: {}", source);
  Value wanted =
      oracle_test::yaml(fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {{name: r}}, spec: "
                                    "{{targetAppRevisionName: {}{}, componentList: [web], rolloutPlan: {{{}}}}}}}",
                                    target, from, plan.empty() ? kBatches : plan));
  if (const Value there = rollout(Way::Standalone); !there.is_null()) {  // what the plan before had and this one has not goes
    for (const auto& [name, value] : there["spec"]["rolloutPlan"].members()) {
      if (!wanted["spec"]["rolloutPlan"].has(name)) wanted = wanted.with_path({"spec", "rolloutPlan", name}, Value());
    }
    ASSERT_EQ(plane_.merge(rollout_reference("r"), wanted), "");
  } else {
    ASSERT_EQ(plane_.apply(wanted, kNamespace), "");
  }
}

Value Stage::rollout(Way way) { return way == Way::Normal ? Value() : plane_.find(kHub, reference_of(way)); }

void Stage::make_ingress() {
  ASSERT_EQ(plane_.apply(oracle_test::yaml("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: "
                                           "{ingressClassName: nginx, rules: [{host: web.example, http: {paths: [{path: /, "
                                           "pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}"),
                         kNamespace),
            "");
}

std::string Stage::traffic_left() {
  std::vector<std::string> left;
  if (!find("networking.k8s.io/v1", "Ingress", "web-canary").is_null()) left.emplace_back("Ingress web-canary");
  for (const char* name : {"web-source", "web-target"}) {
    if (!find("v1", "Service", name).is_null()) left.push_back(fmt::format("Service {}", name));
  }
  const Value ingress = find("networking.k8s.io/v1", "Ingress", "web");
  const Value& path = ingress["spec"]["rules"].item(0)["http"]["paths"].item(0);
  const std::string backend = path["backend"]["service"]["name"].str();
  if (backend != "web") left.push_back(fmt::format("backend {}", backend));
  for (const Value& object : {ingress, find("v1", "Service", "web")}) {
    for (const auto& [key, value] : object["metadata"]["annotations"].members()) {
      if (key.starts_with("rollout.slipway.dev/")) left.push_back(fmt::format("{} {}", kube::kind(object), key));
    }
    if (object["spec"]["selector"].has("app.oam.dev/revision")) left.push_back(json::print(object["spec"]["selector"]));
  }
  return fmt::format("{}", fmt::join(left, ", "));
}

bool Stage::reject(Way way, OnFailure on_failure) {
  const auto asks = [&] { return rollout(way)["status"]["pause"].as_bool(); };
  if (way == Way::Trait) {
    return plane_.act(reference_of(way), on_failure == OnFailure::Revert ? "rollout revert" : "rollout abort").empty();
  }
  return until(asks, minutes{3}) && plane_.act(reference_of(way), "rollout reject").empty();
}

bool Stage::until(const std::function<bool()>& holds, Duration limit) {
  const Time end = plane_.now() + limit;
  while (!holds()) {
    if (plane_.now() >= end || !plane_.pass(std::chrono::milliseconds{500})) return false;
  }
  return true;
}

bool Stage::finish(Way way, People people) {
  std::string seen;
  Time since = plane_.now();
  const Time begin = since;
  while (plane_.now() - begin < minutes{30}) {
    if (!plane_.pass(seconds{1})) return false;
    const Value app = application();
    const Value& workflow = app["status"]["workflow"];
    if (people == People::Agree && rollout(way)["status"]["pause"].as_bool()) plane_.act(reference_of(way), "rollout approve");
    const Value r = rollout(Way::Standalone)["status"];
    const bool is_rolled = r["rollingState"].as_string() == "rolloutSucceed" &&
                           r["lastTargetRevision"].as_string() == app["status"]["latestRevision"]["name"].as_string();
    if (people == People::Agree && way == Way::Standalone && is_rolled && workflow["suspend"].as_bool()) {
      plane_.act(reference("core.oam.dev/v1beta1", "Application", "a"), "workflow resume");
    }
    std::string now = fmt::format("{} {} {}", phase(), sizes(), json::print(workflow["steps"]));
    if (now != seen) {
      seen = std::move(now);
      since = plane_.now();
    }
    if (plane_.now() - since > seconds{40}) break;
  }
  revisions_ = application()["status"]["latestRevision"]["revision"].as_int();
  return plane_.now() - begin < minutes{30};
}

void Stage::deliver(const Version& version) {
  apply(version);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_TRUE(finish(version.way)) << story();
  EXPECT_EQ(phase(), "running") << name_of(version.way) << " " << version.number << "\n" << story();
  EXPECT_EQ(images(), fmt::format("web:{} {}", version.number, std::max<std::int64_t>(version.replicas, 1)))
      << name_of(version.way) << "\n"
      << story();
}

void Stage::delete_rollout(Way way, OnFailure on_failure) {
  const Value deleted = reference_of(way);
  if (on_failure == OnFailure::Revert) {
    EXPECT_EQ(plane_.merge(deleted, oracle_test::yaml("{spec: {rolloutPlan: {revertOnDelete: true}}}")), "") << story();
  }
  EXPECT_EQ(plane_.remove(deleted), "") << story();
}

std::string Stage::sizes() {
  std::string text;
  for (const Value& one : plane_.all_of(kHub, kDeployment, kNamespace)) {
    text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(one), one["status"]["readyReplicas"].as_int(),
                        one["spec"]["replicas"].as_int());
  }
  return text;
}

std::string Stage::serving() {
  std::string text;
  for (const Value& one : plane_.all_of(kHub, kDeployment, kNamespace)) {
    const std::int64_t ready = one["status"]["readyReplicas"].as_int(), asked = one["spec"]["replicas"].as_int();
    if (ready + asked > 0) text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(one), ready, asked);
  }
  return text;
}

std::string Stage::images() {
  std::map<std::string, int> count;
  for (const Value& pod : plane_.all_of(kHub, kPod, kNamespace)) {
    if (is_pod_there(pod)) ++count[pod["spec"]["containers"].item(0)["image"].str()];
  }
  std::string text;
  for (const auto& [image, pods] : count) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", image, pods);
  return text;
}

std::string Stage::left_after_deletion() {
  unwatch();
  plane_.remove(reference("core.oam.dev/v1beta1", "Application", "a"));
  const auto left = [&] {
    std::set<std::string> names;
    for (const Value& one : plane_.all(kHub, kNamespace)) {
      const std::string_view kind = kube::kind(one);
      const bool is_users = (kind == "AppRollout" && kube::name(one) == "r") || (kind == "Ingress" && kube::name(one) == "web");
      const bool is_clusters = kind == "Event" || kind == "ServiceAccount" || kube::name(one) == "kube-root-ca.crt" ||
                               kube::name(one) == "kubernetes";
      if (!is_users && !is_clusters) names.insert(fmt::format("{}/{}", kind, kube::name(one)));
    }
    for (const Value& one : plane_.all(kHub, "")) {
      if (kube::kind(one) == "ResourceTracker") names.insert(fmt::format("ResourceTracker/{}", kube::name(one)));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  };
  until([&] { return left().empty(); }, minutes{3});
  return left();
}

void Stage::watch(Bounds bounds) {
  plane_.observe([this, bounds] { observe(bounds); });
}

void Stage::observe(Bounds bounds) {
  if (!fault_.empty()) return;
  const auto report = [&](std::string what) {
    fault_ = fmt::format("{}: {} ({}; application {})", to_rfc3339(plane_.now()), what, sizes(), phase());
  };
  const Value service = find("v1", "Service", "web");
  if (service.is_null() && !service_uid_.empty()) return report("the Service is gone");
  if (!service.is_null()) {
    if (service_uid_.empty()) service_uid_ = kube::uid(service), service_ip_ = service["spec"]["clusterIP"].str();
    if (service_uid_ != kube::uid(service)) return report("the Service is another object");
    if (service_ip_ != service["spec"]["clusterIP"].as_string()) return report("the Service has another address");
  }
  std::int64_t pods = 0, ready = 0;
  for (const Value& pod : plane_.all_of(kHub, kPod, kNamespace)) {
    if (!is_pod_there(pod)) continue;
    ++pods;
    if (kube::is_true(pod, "Ready") && selects(service, pod)) ++ready;
  }
  was_ready_ |= ready >= bounds.whole;
  if (was_ready_ && ready < bounds.whole - bounds.unavailable) return report(fmt::format("{} endpoints are ready", ready));
  if (pods > bounds.whole + bounds.surge) return report(fmt::format("{} pods are there", pods));
}

std::string Stage::story() {
  const Value status = application()["status"];
  std::string text = fmt::format("{}\napplication {} {}\nsteps {}\nconditions {}\n", sizes(), phase(),
                                 status["latestRevision"]["name"].as_string(), json::print(status["workflow"]["steps"]),
                                 json::print(status["conditions"].item(status["conditions"].size() - 1)));
  const auto tell = [&](const Value& rollout) {
    if (rollout.is_null()) return;
    const Value& now = rollout["status"];
    text += fmt::format("{} {} -> {} {} {}/{} {} waits {} sources {} target {} T {} {}\n", kube::kind(rollout),
                        kube::name(rollout), json::print(rollout["spec"]), now["lastTargetRevision"].as_string(),
                        now["rollingState"].as_string(), now["batchRollingState"].as_string(), now["failure"].as_string(),
                        json::print(now["waits"]), json::print(now["sources"]), json::print(now["target"]),
                        now["rolloutTargetSize"].as_int(), kube::annotation(rollout, "rollout.slipway.dev/yield"));
  };
  for (const Way way : {Way::Plan, Way::Standalone, Way::Trait}) tell(rollout(way));
  for (const Value& tracker : plane_.all(kHub, "")) {
    if (kube::kind(tracker) != "ResourceTracker") continue;
    text += fmt::format("tracker {}:", kube::name(tracker));
    for (const Value& one : tracker["spec"]["managedResources"].items()) {
      text += fmt::format(" {}/{}", one["kind"].as_string(), one["name"].as_string());
    }
    text += "\n";
  }
  return text;
}

}  // namespace slipway::handover_test
