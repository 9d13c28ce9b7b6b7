// What the view controller tells in the clusters of targets: events on workloads whose annotations lead nowhere, and
// annotations.
#include <fmt/format.h>

#include "control/events.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr const char* kManager = "slipway-pipeline";
constexpr const char* kAnnotationManager = "slipway-pipeline-annotations";
constexpr std::size_t kMostTold = 10'000;

}  // namespace

/// Once per fault and process; the events themselves are told apart by name, so that a restart repeats nothing.
Task<> ViewController::tell_faults(control::Reconcile& run, std::vector<AnnotationFault> faults) {
  for (AnnotationFault& fault : faults) {
    const std::string mark = fmt::format("{} {} {}", fault.claim.uid, fault.reason, fault.text);
    if (told_.size() >= kMostTold) told_.clear();
    if (!told_.insert(mark).second) continue;
    const bool is_home = fault.claim.cluster == watches_->home();
    const Result<client::Client*> client = is_home ? Result<client::Client*>(&run.client) : run.on(fault.claim.cluster);
    Result<void> recorded;
    if (client) {
      recorded = co_await control::record_event(
          env_, **client, fault.claim.reference(),
          {.type = "Warning", .reason = fault.reason, .message = fault.text, .instance = fault.text}, kManager);
    }
    const bool is_refused = !recorded && recorded.error().reason == Reason::Forbidden;
    if (!client || (!recorded && !is_refused)) told_.erase(mark);
  }
}

/// Only what no other manager has claimed: an agent that manages the annotation keeps it.
Task<> ViewController::annotate(control::Reconcile& run, std::vector<Annotation> wanted) {
  for (Annotation& one : wanted) {
    const bool is_home = one.cluster == watches_->home();
    const Result<client::Client*> client = is_home ? Result<client::Client*>(&run.client) : run.on(one.cluster);
    if (!client) continue;
    // Caches keep no uid of what nobody has annotated; with it, what is gone meanwhile is not made again.
    const auto there = co_await client::get(**client, one.resource, kube::key_of(one.object));
    if (!there) continue;
    const json::Value body = json::object(
        {{"apiVersion", one.object["apiVersion"]},
         {"kind", one.object["kind"]},
         {"metadata",
          json::object({{"name", one.object["metadata"]["name"]},
                        {"namespace", one.object["metadata"]["namespace"]},
                        {"uid", (*there)["metadata"]["uid"]},
                        {"annotations", json::object({{std::string(kPipelineAnnotation), run.key.to_string()},
                                                      {std::string(kEnvironmentAnnotation), one.environment}})}})}});
    const auto applied = co_await client::apply(**client, one.resource, body, kAnnotationManager, "", false);
    if (applied) continue;
    env_.log.info("annotations of a target are not written",
                  {{"pipeline", run.key.to_string()}, {"cluster", one.cluster}, {"error", applied.error().message}});
  }
}

}  // namespace slipway::delivery::pipeline
