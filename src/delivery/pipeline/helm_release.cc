// HelmRelease v2beta1, v2beta2 and v2. Helm's record is status.history (newest first; v2beta1 has lastAppliedRevision only):
// what it calls deployed is what Helm vouches for, and while an upgrade runs, or after it failed, that is still the release
// before. What is in the cluster is told by the label helm.sh/chart of the workloads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "delivery/pipeline/health.h"
#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

constexpr std::string_view kHelmGroup = "helm.toolkit.fluxcd.io";

/// The release that Helm's record names, else the one that the spec asks for: named after the object, with the namespace it
/// goes to in front where that is another.
bool is_of_release(const Object& object, const Value& recorded, const Object& workload) {
  const Value& spec = object["spec"];
  const std::string_view target = spec["targetNamespace"].as_string();
  const std::string ns(target.empty() ? kube::ns(object) : target);
  const std::string own = target.empty() ? std::string(kube::name(object)) : fmt::format("{}-{}", target, kube::name(object));
  const std::string asked = spec["releaseName"].as_string().empty() ? own : spec["releaseName"].str();
  const Value name = recorded.is_null() ? Value(asked) : recorded["name"];
  return kube::annotation(workload, "meta.helm.sh/release-name") == name.as_string() &&
         kube::annotation(workload, "meta.helm.sh/release-namespace") ==
             (recorded.is_null() ? std::string_view(ns) : recorded["namespace"].as_string());
}

bool has_agent_label(const Object& object, const Object& workload) {
  return kube::label(workload, "helm.toolkit.fluxcd.io/name") == kube::name(object) &&
         kube::label(workload, "helm.toolkit.fluxcd.io/namespace") == kube::ns(object);
}

/// The version in "NAME-VERSION" as charts label their objects ("_" stands for "+"); NAME may itself contain "-1".
std::string chart_version(const Object& workload) {
  std::string label(kube::label(workload, "helm.sh/chart"));
  std::ranges::replace(label, '_', '+');
  for (auto dash = label.find('-'); dash != std::string::npos; dash = label.find('-', dash + 1)) {
    const std::string rest = label.substr(dash + 1);
    if (const auto version = Semver::parse(rest); version && version->precision == 3) return rest;
  }
  return "";
}

/// The name in a path of a source: "./charts/podinfo" is podinfo.
std::string chart_name(std::string_view chart) {
  while (chart.ends_with('/')) chart.remove_suffix(1);
  const auto slash = chart.rfind('/');
  return std::string(slash == std::string_view::npos ? chart : chart.substr(slash + 1));
}

class HelmRelease {
 public:
  HelmRelease(const Look& look, Memory& memory)
      : look_(look), memory_(memory), object_(look.object), status_(object_["status"]), newest_(status_["history"].item(0)) {
    for (const Value& entry : status_["history"].items()) {
      if (deployed_.is_null() && entry["status"].as_string() == "deployed") deployed_ = entry;
    }
    for (const Object& one : look.others) {
      const bool is_its = has_agent_label(object_, one) || is_of_release(object_, deployed_, one);
      if (is_its && is_rolled(one)) workloads_.push_back(one);
    }
    for (const Object& one : workloads_) {
      if (std::string version = chart_version(one); !version.empty()) versions_.insert(std::move(version));
    }
    readiness_ = readiness_of(workloads_);
  }

  Values values() {
    find_source();
    values_.attempted.text = status_["lastAttemptedRevision"].str();
    values_.attempted.digest = status_["lastAttemptedRevisionDigest"].str();
    if (values_.attempted.digest.empty()) values_.attempted.digest = digest_in(values_.attempted.text);
    find_running();
    find_chart();
    values_.images = images_of(workloads_, look_.others);
    find_drift();
    find_ready();
    judge();
    return std::move(values_);
  }

 private:
  void find_source() {
    const Value& spec = object_["spec"];
    const auto in = [&](const Value& ref) {
      return ref["namespace"].as_string().empty() ? kube::ns(object_) : ref["namespace"].as_string();
    };
    if (const Value& ref = spec["chartRef"]; !ref.is_null()) {
      source_ = source_of(look_, ref["kind"].as_string(), in(ref), ref["name"].as_string());
      values_.specified = {.text = source_.wanted, .digest = source_.digest};
      return;
    }
    const std::string chart = status_["helmChart"].str();
    if (const auto slash = chart.find('/'); slash != std::string::npos) {
      source_ = source_of(look_, "HelmChart", chart.substr(0, slash), chart.substr(slash + 1));
    }
    const std::string wanted = spec["chart"]["spec"]["version"].str();
    values_.specified = {.text = wanted.empty() ? "*" : wanted, .digest = source_.digest};
  }

  void find_running() {
    recorded_ = (status_.has("history") ? deployed_["chartVersion"] : status_["lastAppliedRevision"]).str();
    const bool is_said = !look_.has_workloads || (versions_.empty() && !workloads_.empty());
    if (is_said && !recorded_.empty()) versions_ = {recorded_};
    if (versions_.size() != 1) return;
    values_.running.text = *versions_.begin();
    values_.running.digest = digest_in(values_.running.text);
    if (values_.running.text != recorded_) return;
    if (const std::string digest = deployed_["ociDigest"].str(); !digest.empty()) values_.running.digest = digest;
    values_.running.time = kube::time_of(deployed_["lastDeployed"]);
  }

  /// Helm's record names the chart that it has deployed; before it has, the chart that is asked for.
  void find_chart() {
    const Value& spec = object_["spec"];
    values_.chart = deployed_["chartName"].str();
    if (values_.chart.empty()) values_.chart = chart_name(spec["chart"]["spec"]["chart"].as_string());
    if (values_.chart.empty()) values_.chart = chart_name(source_.object["spec"]["chart"].as_string());
    if (values_.chart.empty()) values_.chart = spec["chartRef"]["name"].str();
  }

  /// A release's content is what it was when Helm's record first named it; the agent may not have told yet when it changes.
  void find_drift() {
    if (workloads_.empty() || deployed_.is_null() || values_.running.text != recorded_) return;
    const std::string release = fmt::format("{} {}", deployed_["version"].as_int(), deployed_["digest"].as_string());
    const std::string content = content_of(workloads_);
    const Rendering* known = find_rendering(memory_, release);
    if (known == nullptr) return learn(memory_, {.release = release, .content = content, .is_complete = true});
    is_changed_ = known->content != content;
    values_.is_drifted = is_changed_ && !is_at_work(object_);
  }

  /// A rollback does not run tests again: those of the same chart and values count.
  bool have_tests_passed() const {
    const Value& test = object_["spec"]["test"];
    if (!test["enable"].as_bool() || test["ignoreFailures"].as_bool()) return true;
    const auto is_passed = [](const json::MemberView& hook) { return hook.value["phase"].as_string() == "Succeeded"; };
    return std::ranges::any_of(status_["history"].items(), [&](const Value& entry) {
      const bool is_same =
          entry["chartVersion"] == deployed_["chartVersion"] && entry["configDigest"] == deployed_["configDigest"];
      const json::Members hooks = entry["testHooks"].members();
      return is_same && entry.has("testHooks") && std::all_of(hooks.begin(), hooks.end(), is_passed);
    });
  }

  /// The agent says that it has released the version it tried, for this generation; Helm's record follows a moment later.
  bool is_just_released() const {
    const Value& released = kube::condition(object_, "Released");
    return kube::is_true(object_, "Ready") && kube::is_true(object_, "Released") &&
           released["observedGeneration"].as_int() == kube::generation(object_) &&
           values_.attempted.text == values_.running.text && kube::is_true(object_, "Reconciling");
  }

  void find_ready() {
    if (values_.running.text.empty()) return;
    const bool is_recorded = values_.running.text == recorded_ && !is_changed_;
    if (!is_just_released() && !(is_recorded && have_tests_passed())) return;
    const bool is_its_release =
        std::ranges::all_of(workloads_, [&](const Object& one) { return is_of_release(object_, deployed_, one); });
    const bool is_ready =
        look_.has_workloads ? readiness_.is_ready && is_its_release : kube::is_true(object_, "Ready") && is_observed(object_);
    if (is_ready) values_.ready_at = values_.running.text;
  }

  void set(State state, std::string text = "") {
    values_.state = state;
    values_.text = std::move(text);
  }

  bool is_as_specified() const {
    if (!source_.revision.empty())
      return order(source_.revision, values_.running.text, source_.digest, values_.running.digest) == Order::Same;
    return is_satisfied(values_.specified.text, values_.running.text);
  }

  void judge() {
    const Value& ready = kube::condition(object_, "Ready");
    const std::string says = fmt::format("{}: {}", ready["reason"].as_string(), ready["message"].as_string());
    const bool is_resting = !is_at_work(object_);
    const bool has_failed = newest_["status"].as_string() == "failed";
    if (versions_.size() > 1) return set(State::Mixed, fmt::format("workloads of {} are there", fmt::join(versions_, " and ")));
    if (source_.is_failed) return set(State::Failed, source_.text);
    if (is_resting && has_failed && newest_["chartVersion"] == Value(values_.running.text)) {
      return set(State::Mixed, fmt::format("{} failed and is what runs", values_.running.text));
    }
    const bool is_recorded = !recorded_.empty() && values_.running.text == recorded_ && deployed_ == newest_;
    const bool has_remediated = status_["upgradeFailures"].as_int() > 0 || kube::is_true(object_, "Remediated");
    const bool has_given_up = is_recorded && has_remediated && recorded_ != values_.attempted.text;
    if (is_resting && has_given_up) return set(State::RolledBack, fmt::format("{} failed", values_.attempted.text));
    if (kube::is_true(object_, "Stalled")) {
      const Value& stalled = kube::condition(object_, "Stalled");
      return set(State::Failed, fmt::format("{}: {}", stalled["reason"].as_string(), stalled["message"].as_string()));
    }
    const std::string_view reason = ready["reason"].as_string();
    const bool is_waiting = reason == "SourceNotReady" || reason == "DependencyNotReady";
    if (ready["status"].as_string() == "False" && is_waiting) return set(State::Progressing, says);
    if (is_resting && (ready["status"].as_string() == "False" || has_failed)) return set(State::Failed, says);
    if (values_.is_drifted) return set(State::Mixed, "its objects are not as they were released");
    if (ready.is_null()) return set(State::Progressing, "its agent has not seen it");
    // An agent that looks again, with nothing to do, does not unsettle it.
    const bool is_there = !values_.ready_at.empty() && is_as_specified();
    if (!is_observed(object_) || (!is_resting && !is_there)) return set(State::Progressing, says);
    if (!is_as_specified()) {
      return set(State::Progressing, fmt::format("{} is to replace {}", values_.specified.text, values_.running.text));
    }
    if (!is_there) return set(readiness_.is_broken ? State::Failed : State::Progressing, readiness_.text);
    set(State::Settled);
  }

  const Look& look_;
  Memory& memory_;
  const Object& object_;
  const Value& status_;
  const Value newest_;
  Value deployed_{};
  std::string recorded_{};  // the version of the deployed entry; before there were entries, lastAppliedRevision
  std::vector<Object> workloads_{};
  std::set<std::string> versions_{};
  Readiness readiness_{};
  Source source_{};
  Values values_{};
  bool is_changed_ = false;
};

/// What is asked for and what Helm's record names may be two releases.
Needs needs_of_release(const Object& object) {
  Needs needs{.made = rolled_kinds()};
  const Value& spec = object["spec"];
  if (const Value& ref = spec["chartRef"]; !ref.is_null()) {
    const std::string_view ns = ref["namespace"].as_string().empty() ? kube::ns(object) : ref["namespace"].as_string();
    needs.sources.push_back({ref["kind"].str(), std::string(ns), ref["name"].str()});
  }
  const std::string chart = object["status"]["helmChart"].str();
  if (const auto slash = chart.find('/'); slash != std::string::npos && spec["chartRef"].is_null()) {
    needs.sources.push_back({"HelmChart", chart.substr(0, slash), chart.substr(slash + 1)});
  }
  std::set<std::string> makers = {fmt::format("helm {}/{}", kube::ns(object), kube::name(object))};
  const std::string_view target = spec["targetNamespace"].as_string();
  const std::string own = target.empty() ? std::string(kube::name(object)) : fmt::format("{}-{}", target, kube::name(object));
  makers.insert(fmt::format("release {}/{}", target.empty() ? kube::ns(object) : target,
                            spec["releaseName"].as_string().empty() ? own : spec["releaseName"].str()));
  for (const Value& entry : object["status"]["history"].items()) {
    makers.insert(fmt::format("release {}/{}", entry["namespace"].as_string(), entry["name"].as_string()));
  }
  needs.makers.assign(makers.begin(), makers.end());
  return needs;
}

}  // namespace

const KindRow kHelmRelease{
    .group = kHelmGroup, .kind = "HelmRelease", .needs = needs_of_release, .read = [](const Look& look, Memory& memory) {
      return HelmRelease(look, memory).values();
    }};

}  // namespace slipway::delivery::pipeline
