// What the view controller tells in the clusters of targets: events on workloads whose annotations lead nowhere, and
// annotations.
#include <fmt/format.h>

#include "control/author_right.h"
#include "control/events.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

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
          {.type = "Warning", .reason = fault.reason, .message = fault.text, .instance = fault.text}, kViewManager);
    }
    const bool is_refused = !recorded && recorded.error().reason == Reason::Forbidden;
    if (!client || (!recorded && !is_refused)) told_.erase(mark);
  }
}

/// Only what no other manager has claimed: an agent that manages the annotation keeps it. In another cluster nothing is known
/// of the author's rights: there the right to change the GitopsCluster is asked for.
Task<Result<void>> ViewController::annotate_one(control::Reconcile& run, const Viewing& viewing, Annotation one) {
  const bool is_home = one.cluster == watches_->home();
  SLIPWAY_CO_TRY(may, co_await access_.may(run.client, viewing.author, ReaderAccess::Right::Change, run.key, viewing.spec.app,
                                           *one.target));
  if (!may) {
    Status status;
    status.reason = Reason::Forbidden;
    status.kind = one.resource.plural;
    status.message = fmt::format("{} may not {}", viewing.author->name,
                                 ReaderAccess::needed(ReaderAccess::Right::Change, run.key, viewing.spec.app, *one.target));
    co_return fail(std::move(status));
  }
  client::Client* client = &run.as(viewing.author);
  if (!is_home) {
    SLIPWAY_CO_TRY(other, run.on(one.cluster));
    client = other;
  }
  // The caches drop uids of objects without annotations. With the uid an object deleted meanwhile is not created again.
  SLIPWAY_CO_TRY(there, co_await client::get(*client, one.resource, kube::key_of(one.object)));
  const json::Value body = json::object(
      {{"apiVersion", one.object["apiVersion"]},
       {"kind", one.object["kind"]},
       {"metadata", json::object({{"name", one.object["metadata"]["name"]},
                                  {"namespace", one.object["metadata"]["namespace"]},
                                  {"uid", there["metadata"]["uid"]},
                                  {"annotations", json::object({{std::string(kPipelineAnnotation), run.key.to_string()},
                                                                {std::string(kEnvironmentAnnotation), one.environment}})}})}});
  SLIPWAY_CO_TRY_VOID(co_await client::apply(*client, one.resource, body, kAnnotationManager, "", false));
  co_return Result<void>{};
}

Task<bool> ViewController::annotate(control::Reconcile& run, const Viewing& viewing, std::vector<Annotation> wanted) {
  bool has_rights = true;
  for (Annotation& one : wanted) {
    const std::string cluster = one.cluster;
    const auto done = co_await annotate_one(run, viewing, std::move(one));
    if (done) continue;
    env_.log.info("annotations of a target are not written",
                  {{"pipeline", run.key.to_string()}, {"cluster", cluster}, {"error", done.error().message}});
    if (!control::lacks_right(done.error(), viewing.author.get())) continue;
    has_rights = false;
    for (Entry& entry : viewing.pipeline.targets) entry.is_dirty |= entry.cluster() == cluster;
    const kube::Object pipeline = pipelines_->get(run.key);
    const std::string text =
        fmt::format("targets are not annotated: {}", control::lacks_right_text(done.error(), *viewing.author));
    (void)co_await control::record_event(
        env_, run.client, pipeline,
        {.type = "Warning", .reason = control::lacks_right_cause(*viewing.author), .message = text, .instance = text},
        kViewManager);
  }
  co_return has_rights;
}

}  // namespace slipway::delivery::pipeline
