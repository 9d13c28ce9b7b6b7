#include "flux/release_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "control/author_right.h"
#include "flux/charts.h"
#include "json/text.h"

namespace slipway::flux {
namespace {

using json::Value;
using kube::Object;

constexpr Duration kDefaultTimeout = std::chrono::minutes{5};
constexpr std::size_t kMostEntries = 5;
constexpr const char* kSourceNotReady = "SourceNotReady";

/// Wholly rolled out to the template that it has now.
bool is_rolled_out(const Object& deployment) {
  const Value& status = deployment["status"];
  const std::int64_t wanted = deployment["spec"]["replicas"].is_null() ? 1 : deployment["spec"]["replicas"].as_int();
  return status["observedGeneration"].as_int() == kube::generation(deployment) &&
         status["updatedReplicas"].as_int() == wanted && status["replicas"].as_int() == wanted &&
         status["availableReplicas"].as_int() == wanted;
}

/// One look at a HelmRelease.
class Look {
 public:
  Look(const Object& release, const Chart& chart, const Object& deployment, Time now)
      : release_(release), chart_(chart), deployment_(deployment), now_(now), status_(release["status"]) {}

  ReleasePlan plan() {
    if (status_["lastAttemptedRevision"].as_string() != chart_.version ||
        status_["lastAttemptedConfigDigest"].as_string() != chart_.config_digest()) {
      begin();
    } else if (kube::is_true(release_, "Reconciling")) {
      go_on();
    } else {
      rest();
    }
    made_.status = status_;
    return std::move(made_);
  }

 private:
  void set(std::string_view member, Value value) { status_ = status_.with(member, std::move(value)); }
  void set_condition(std::string type, std::string status, std::string reason, std::string message) {
    const Value conditions = kube::set_condition(
        status_["conditions"], {std::move(type), std::move(status), std::move(reason), std::move(message)}, now_);
    set("conditions", conditions);
  }
  void drop_condition(std::string_view type) {
    std::vector<Value> kept;
    for (const Value& condition : status_["conditions"].items()) {
      if (condition["type"].as_string() != type) kept.push_back(condition);
    }
    set("conditions", json::array(kept));
  }
  /// Every condition written now speaks of the present generation.
  void stamp() {
    std::vector<Value> stamped;
    for (const Value& condition : status_["conditions"].items()) {
      stamped.push_back(condition.with("observedGeneration", kube::generation(release_)));
    }
    set("conditions", json::array(stamped));
  }

  const Value& newest() const { return status_["history"].item(0); }
  Value deployed() const {
    for (const Value& entry : status_["history"].items()) {
      if (entry["status"].as_string() == "deployed") return entry;
    }
    return {};
  }
  bool is_install() const { return deployed().is_null(); }
  std::string what() const { return is_install() ? "install" : "upgrade"; }
  std::string named(std::int64_t revision, std::string_view version) const {
    const ReleaseName name = release_name(release_);
    return fmt::format("{}/{}.v{} with chart {}@{}", name.ns, name.name, revision, chart_.name, version);
  }
  Duration timeout() const {
    const auto given = parse_duration(release_["spec"]["timeout"].as_string());
    return given ? *given : kDefaultTimeout;
  }
  std::int64_t retries() const { return release_["spec"][what()]["remediation"]["retries"].as_int(); }

  void begin() {
    set("lastAttemptedRevision", chart_.version);
    set("lastAttemptedConfigDigest", chart_.config_digest());
    status_ = chart_.digest.empty() ? status_.without("lastAttemptedRevisionDigest")
                                    : status_.with("lastAttemptedRevisionDigest", chart_.digest);
    set("lastAttemptedGeneration", kube::generation(release_));
    set("failures", 0);
    set("upgradeFailures", 0);
    set("installFailures", 0);
    start_action();
  }

  void start_action() {
    const std::string text = fmt::format("Running '{}' action with timeout of {}s", what(),
                                         std::chrono::duration_cast<std::chrono::seconds>(timeout()).count());
    drop_condition("Stalled");
    drop_condition("Reconciling");
    set_condition("Reconciling", "True", "Progressing", text);
    set_condition("Ready", "Unknown", "Progressing", text);
    stamp();
    made_.apply = chart_;
    made_.look_again = timeout();
  }

  void go_on() {
    const Object wanted = render(release_, chart_);
    const bool is_there = !deployment_.is_null() &&
                          kube::label(deployment_, "helm.sh/chart") == kube::label(wanted, "helm.sh/chart") &&
                          kube::annotation(deployment_, "meta.helm.sh/config") == chart_.config_digest();
    if (is_there && is_rolled_out(deployment_)) return succeed();
    const auto since = kube::time_of(kube::condition(release_, "Reconciling")["lastTransitionTime"]);
    const Time deadline = since.value_or(now_) + timeout();
    if (now_ >= deadline) return fail_action();
    made_.apply = chart_;
    made_.look_again = deadline - now_;
  }

  void put_entry(std::string_view version, std::string_view state, const std::string& config_digest) {
    const ReleaseName name = release_name(release_);
    const std::int64_t revision = newest()["version"].as_int() + 1;
    std::vector<Value> history = {json::object({{"name", name.name},
                                                {"namespace", name.ns},
                                                {"version", revision},
                                                {"status", state},
                                                {"chartName", chart_.name},
                                                {"chartVersion", version},
                                                {"appVersion", version},
                                                {"configDigest", config_digest},
                                                {"digest", "sha256:" + sha256_hex(fmt::format("{} {}", version, revision))},
                                                {"firstDeployed", to_rfc3339(now_)},
                                                {"lastDeployed", to_rfc3339(now_)}})};
    if (!chart_.digest.empty() && version == chart_.version) history[0] = history[0].with("ociDigest", chart_.digest);
    for (const Value& entry : status_["history"].items()) {
      const bool is_over = state == "deployed" && entry["status"].as_string() == "deployed";
      history.push_back(is_over ? entry.with("status", "superseded") : entry);
      if (history.size() == kMostEntries) break;
    }
    set("history", json::array(history));
  }

  void settle() {
    drop_condition("Reconciling");
    set("observedGeneration", kube::generation(release_));
    stamp();
  }

  void succeed() {
    const std::string done = is_install() ? "InstallSucceeded" : "UpgradeSucceeded";
    const std::string verb = is_install() ? "install" : "upgrade";
    put_entry(chart_.version, "deployed", chart_.config_digest());
    made_.record = newest()["version"].as_int();
    const std::string text = fmt::format("Helm {} succeeded for release {}", verb, named(made_.record, chart_.version));
    drop_condition("Remediated");
    set_condition("Released", "True", done, text);
    set_condition("Ready", "True", done, text);
    settle();
  }

  void fail_action() {
    const bool was_install = is_install();
    const std::string kind = was_install ? "Install" : "Upgrade";
    const std::int64_t most = retries();
    const std::int64_t failures = status_[was_install ? "installFailures" : "upgradeFailures"].as_int() + 1;
    const Value before = deployed();
    put_entry(chart_.version, "failed", chart_.config_digest());
    const std::string text =
        fmt::format("Helm {} failed for release {}: context deadline exceeded", was_install ? "install" : "upgrade",
                    named(newest()["version"].as_int(), chart_.version));
    set("failures", status_["failures"].as_int() + 1);
    set(was_install ? "installFailures" : "upgradeFailures", failures);
    set_condition("Released", "False", kind + "Failed", text);
    set_condition("Ready", "False", kind + "Failed", text);
    if (!was_install && most != 0) roll_back(before);
    if (failures <= most || most < 0) return start_action();
    drop_condition("Reconciling");
    set_condition("Stalled", "True", most == 0 ? "MissingRollbackTarget" : "RetriesExceeded",
                  fmt::format("Failed to {} after {} attempt(s)", was_install ? "install" : "upgrade", failures));
    settle();
  }

  void roll_back(const Value& before) {
    // The entry before counts as superseded; its content comes back as a revision of its own.
    put_entry(before["chartVersion"].as_string(), "deployed", before["configDigest"].str());
    made_.roll_back = before["version"].as_int();
    made_.record = newest()["version"].as_int();
    const std::string text = fmt::format("Helm rollback to previous release {} succeeded",
                                         named(before["version"].as_int(), before["chartVersion"].as_string()));
    set_condition("Remediated", "True", "RollbackSucceeded", text);
    set_condition("Ready", "False", "RollbackSucceeded", text);
  }

  void rest() {
    const std::string_view waited = kube::condition(release_, "Ready")["reason"].as_string();
    if (waited == kSourceNotReady || waited == control::kAuthorLacksRight) {  // it had what it waited for all along
      const Value last = kube::condition(release_, kube::is_true(release_, "Released") ? "Released" : "Remediated");
      set_condition("Ready", kube::is_true(release_, "Released") ? "True" : "False", last["reason"].str(),
                    last["message"].str());
      return settle();
    }
    if (kube::is_true(release_, "Stalled") || status_["observedGeneration"].as_int() == kube::generation(release_)) return;
    // Something else of the spec changed.
    settle();
  }

  const Object& release_;
  const Chart& chart_;
  const Object& deployment_;
  Time now_;
  Value status_;
  ReleasePlan made_{};
};

}  // namespace

std::string Chart::config_digest() const { return "sha256:" + sha256_hex(name + "\n" + json::print(values)); }

ReleaseName release_name(const Object& release) {
  const Value& spec = release["spec"];
  const std::string target = spec["targetNamespace"].str();
  const std::string own = target.empty() ? std::string(kube::name(release)) : fmt::format("{}-{}", target, kube::name(release));
  return {.name = spec["releaseName"].as_string().empty() ? own : spec["releaseName"].str(),
          .ns = target.empty() ? std::string(kube::ns(release)) : target};
}

Result<void> check_release(const Object& release) {
  const Value& spec = release["spec"];
  if (spec.has("valuesFrom")) return fail(Reason::NotImplemented, "spec.valuesFrom: the simulated Flux takes spec.values");
  for (const char* field : {"dependsOn", "kubeConfig", "postRenderers"}) {
    if (!spec.has(field)) continue;
    return fail(Reason::NotImplemented, fmt::format("spec.{}: the simulated Flux does not do this: leave it out", field));
  }
  if (spec["test"]["enable"].as_bool())
    return fail(Reason::NotImplemented, "spec.test.enable: the simulated Flux runs no tests");
  if (const auto mode = spec["driftDetection"]["mode"].as_string(); !mode.empty() && mode != "disabled") {
    return fail(Reason::NotImplemented, "spec.driftDetection.mode: the simulated Flux corrects no drift");
  }
  if (const Value& ref = spec["chartRef"]; !ref.is_null()) {
    const std::string_view kind = ref["kind"].as_string();
    if (kind == "OCIRepository" || kind == "HelmChart") return {};
    return fail(Reason::NotImplemented,
                fmt::format("spec.chartRef.kind: the simulated Flux takes HelmChart and OCIRepository, not {:?}", kind));
  }
  if (spec["chart"]["spec"]["chart"].as_string().empty()) return fail(Reason::Invalid, "spec.chart.spec.chart: there is none");
  return {};
}

Chart chart_of(const Object& release, const Object& source) {
  const std::string revision = source["status"]["artifact"]["revision"].str();
  const Value& values = release["spec"]["values"];
  if (kube::kind(source) == "HelmChart") return {.name = source["spec"]["chart"].str(), .version = revision, .values = values};
  constexpr std::size_t kShown = 12;  // hexadecimal digits of the digest, as helm-controller appends them
  const std::size_t at = revision.find('@');
  const std::string digest = revision.substr(at + 1);
  return {.name = chart_of_url(source["spec"]["url"].as_string()),
          .version = fmt::format("{}+{}", revision.substr(0, at), digest.substr(digest.find(':') + 1, kShown)),
          .values = values,
          .digest = digest};
}

Object render(const Object& release, const Chart& chart) {
  const ReleaseName name = release_name(release);
  std::string label = fmt::format("{}-{}", chart.name, chart.version);
  std::ranges::replace(label, '+', '_');
  const Value& image = chart.values["image"];
  const std::string repository = image["repository"].as_string().empty() ? chart.name : image["repository"].str();
  const std::string tag =
      image["tag"].as_string().empty() ? chart.version.substr(0, chart.version.find('+')) : image["tag"].str();
  const Value selector = json::object({{"app.kubernetes.io/name", chart.name}, {"app.kubernetes.io/instance", name.name}});
  const Value labels = selector.with("app.kubernetes.io/managed-by", "Helm")
                           .with("helm.sh/chart", label)
                           .with("helm.toolkit.fluxcd.io/name", kube::name(release))
                           .with("helm.toolkit.fluxcd.io/namespace", kube::ns(release));
  Value pod = json::object({{"labels", selector}});
  if (!chart.values["podAnnotations"].empty()) pod = pod.with("annotations", chart.values["podAnnotations"]);
  const Value replicas = chart.values["replicaCount"].is_null() ? Value(1) : chart.values["replicaCount"];
  return json::object(
      {{"apiVersion", "apps/v1"},
       {"kind", "Deployment"},
       {"metadata", json::object({{"name", name.name},
                                  {"namespace", name.ns},
                                  {"labels", labels},
                                  {"annotations", json::object({{"meta.helm.sh/release-name", name.name},
                                                                {"meta.helm.sh/release-namespace", name.ns},
                                                                {"meta.helm.sh/config", chart.config_digest()}})}})},
       {"spec",
        json::object({{"replicas", replicas},
                      {"selector", json::object({{"matchLabels", selector}})},
                      {"template", json::object({{"metadata", pod},
                                                 {"spec", json::object({{"containers",
                                                                         json::array({json::object(
                                                                             {{"name", chart.name},
                                                                              {"image", repository + ":" + tag}})})}})}})}})}});
}

std::string record_name(const Object& release, std::int64_t revision) {
  return fmt::format("sh.helm.release.v1.{}.v{}", release_name(release).name, revision);
}

Object record_secret(const Object& release, const Chart& chart, std::int64_t revision) {
  const ReleaseName name = release_name(release);
  const Value content = json::object({{"chart", chart.name}, {"version", chart.version}, {"values", chart.values}});
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", json::object({{"name", record_name(release, revision)},
                                                  {"namespace", name.ns},
                                                  {"labels", json::object({{"owner", "helm"}, {"name", name.name}})}})},
                       {"type", "helm.sh/release.v1"},
                       {"data", json::object({{"release", base64_encode(json::print(content))}})}});
}

Chart chart_from_record(const Object& secret) {
  std::string text;
  base64_decode(secret["data"]["release"].as_string(), text);
  const auto content = json::parse(text);
  if (!content) return {};
  return {.name = (*content)["chart"].str(), .version = (*content)["version"].str(), .values = (*content)["values"]};
}

ReleasePlan plan(const Object& release, const Chart& chart, const Object& deployment, Time now) {
  return Look(release, chart, deployment, now).plan();
}

Value waiting_status(const Object& release, const Object& source, const std::string& id, Time now) {
  const Value& ready = kube::condition(source, "Ready");
  const bool is_seen = source["status"]["observedGeneration"].as_int() == kube::generation(source);
  const std::string why = source.is_null()                        ? "it is not there"
                          : !is_seen                              ? "latest generation of object has not been reconciled"
                          : !ready["message"].as_string().empty() ? ready["message"].str()
                                                                  : "it has no artifact";
  const Value conditions = kube::set_condition(
      release["status"]["conditions"], {"Ready", "False", kSourceNotReady, fmt::format("{} is not ready: {}", id, why)}, now);
  return release["status"].with("conditions", conditions);
}

Value lacking_status(const Object& release, const std::string& text, Time now) {
  const Value conditions = kube::set_condition(release["status"]["conditions"],
                                               {"Ready", "False", std::string(control::kAuthorLacksRight), text}, now);
  return release["status"].with("conditions", conditions);
}

Value refused_status(const Object& release, const Status& problem, Time now) {
  Value conditions =
      kube::set_condition(release["status"]["conditions"], {"Ready", "False", "ArtifactFailed", problem.message}, now);
  conditions = kube::set_condition(conditions, {"Stalled", "True", "ArtifactFailed", problem.message}, now);
  return release["status"].with("conditions", conditions).with("observedGeneration", kube::generation(release));
}

}  // namespace slipway::flux
