// Kustomization. Its versions are commits, and nothing in the cluster names the commit an object was rendered from: which one
// runs is learnt by watching. Content that appears while the agent is at work on a revision is that revision's; content that
// appears while it rests was put there by hand. lastAppliedRevision alone does not tell: it stays behind when the health check
// fails, though the new objects are there.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/health.h"
#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

/// Ready reasons with which nothing of the attempted revision got into the cluster.
bool is_before_apply(std::string_view reason) {
  return reason == "BuildFailed" || reason == "ReconciliationFailed" || reason == "ArtifactFailed" ||
         reason == "DependencyNotReady";
}

class Kustomization {
 public:
  Kustomization(const Look& look, Memory& memory)
      : look_(look),
        memory_(memory),
        object_(look.object),
        status_(object_["status"]),
        applied_(status_["lastAppliedRevision"].str()),
        reason_(kube::condition(object_, "Ready")["reason"].str()) {
    for (const Object& one : look.others) {
      const bool is_its = kube::label(one, "kustomize.toolkit.fluxcd.io/name") == kube::name(object_) &&
                          kube::label(one, "kustomize.toolkit.fluxcd.io/namespace") == kube::ns(object_);
      if (is_its && kube::controller_of(one).is_null()) made_.push_back(one);
    }
    readiness_ = readiness_of(made_);
  }

  Values values() {
    const Value& ref = object_["spec"]["sourceRef"];
    const std::string_view ns = ref["namespace"].as_string().empty() ? kube::ns(object_) : ref["namespace"].as_string();
    source_ = source_of(look_, ref["kind"].as_string(), ns, ref["name"].as_string());
    values_.specified = {.text = source_.wanted, .digest = source_.digest};
    values_.attempted.text = status_["lastAttemptedRevision"].str();
    values_.attempted.digest = digest_in(values_.attempted.text);
    values_.running.text = look_.has_workloads ? running() : applied_;
    values_.running.digest = digest_in(values_.running.text);
    values_.images = images_of(made_, look_.others);
    const bool is_ready = look_.has_workloads ? readiness_.is_ready : kube::is_true(object_, "Ready") && is_observed(object_);
    if (is_ready) values_.ready_at = values_.running.text;
    judge();
    return std::move(values_);
  }

 private:
  /// The revision whose content is in the cluster; empty when nothing is, or none fits.
  std::string running() {
    const std::string before = std::exchange(memory_.content, content_of(made_));
    const std::string& content = memory_.content;
    if (made_.empty()) return "";
    const std::string& attempted = values_.attempted.text;
    const bool is_resting = !is_at_work(object_) || kube::condition(object_, "Ready")["status"].as_string() == "False";
    const bool is_applied = is_resting && kube::is_true(object_, "Ready") && applied_ == attempted;
    std::string assumed = is_resting && is_before_apply(reason_) ? applied_ : attempted;
    const Rendering* known = find_rendering(memory_, assumed);
    // Variables and patches from elsewhere change what a revision renders.
    const bool is_new = !is_resting && content != before;
    const bool is_open = known == nullptr || !known->is_complete || is_new;
    const bool is_another = known == nullptr && !is_applied && !is_new && fits_another(content);
    if (!assumed.empty() && is_open && !is_another) {
      learn(memory_, {.release = assumed, .content = content, .is_complete = is_resting});
      return assumed;
    }
    if (known != nullptr && known->content == content) return assumed;
    if (const Rendering* last = find_rendering(memory_, applied_); last != nullptr && last->content == content) return applied_;
    for (const Rendering& one : memory_.renderings) {
      if (one.content == content) return one.release;
    }
    values_.is_drifted = known != nullptr;
    return "";
  }

  /// Content of a revision that was seen whole: the one under way has not changed it yet.
  bool fits_another(const std::string& content) const {
    return std::ranges::any_of(memory_.renderings,
                               [&](const Rendering& one) { return one.is_complete && one.content == content; });
  }

  void set(State state, std::string text = "") {
    values_.state = state;
    values_.text = std::move(text);
  }

  void judge() {
    const Value& ready = kube::condition(object_, "Ready");
    const std::string says = fmt::format("{}: {}", reason_, ready["message"].as_string());
    const bool is_waiting = reason_ == "DependencyNotReady" || (reason_ == "ArtifactFailed" && !source_.is_failed);
    if (source_.is_failed) return set(State::Failed, source_.text);
    if (ready.is_null()) return set(State::Progressing, "its agent has not seen it");
    if (ready["status"].as_string() == "False") return set(is_waiting ? State::Progressing : State::Failed, says);
    if (values_.is_drifted) return set(State::Mixed, "its objects are of no revision");
    const bool is_as_specified = source_.revision.empty() || source_.revision == values_.running.text ||
                                 is_same_digest(source_.digest, values_.running.digest);
    // An agent that looks again, with nothing to do, does not unsettle it.
    const bool is_there = !values_.ready_at.empty() && is_as_specified;
    if (!is_observed(object_) || (is_at_work(object_) && !is_there)) return set(State::Progressing, says);
    if (!is_as_specified) {
      return set(State::Progressing, fmt::format("{} is to replace {}", source_.revision, values_.running.text));
    }
    if (!is_there) return set(readiness_.is_broken ? State::Failed : State::Progressing, readiness_.text);
    set(State::Settled);
  }

  const Look& look_;
  Memory& memory_;
  const Object& object_;
  const Value& status_;
  const std::string applied_;
  const std::string reason_;
  std::vector<Object> made_{};
  Readiness readiness_{};
  Source source_{};
  Values values_{};
};

Needs needs_of_kustomization(const Object& object) {
  const Value& ref = object["spec"]["sourceRef"];
  const std::string_view ns = ref["namespace"].as_string().empty() ? kube::ns(object) : ref["namespace"].as_string();
  return {.sources = {{ref["kind"].str(), std::string(ns), ref["name"].str()}},
          .makers = {fmt::format("kustomize {}/{}", kube::ns(object), kube::name(object))},
          .made = made_kinds()};
}

}  // namespace

const KindRow kKustomization{.group = "kustomize.toolkit.fluxcd.io",
                             .kind = "Kustomization",
                             .needs = needs_of_kustomization,
                             .read = [](const Look& look, Memory& memory) { return Kustomization(look, memory).values(); }};

}  // namespace slipway::delivery::pipeline
