// What the view controller says of connected clusters: their releases, in pipelines or not, and annotations that name a
// Pipeline which does not exist, or another one than the target's.
#include <fmt/format.h>

#include <algorithm>

#include "control/object_writes.h"
#include "delivery/pipeline/inventory.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/view_entries.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;
using kube::ObjectKey;

constexpr Duration kWriteClusterEvery = std::chrono::seconds{10};

ObjectKey key_in(const std::string& text) {
  const auto slash = text.find('/');
  return {text.substr(0, slash), text.substr(slash + 1)};
}

template <class Row>
Value encoded(const std::vector<Row>& rows) {
  json::ArrayBuilder out;
  for (const Row& one : rows) out.add(json::encode(one));
  return out.build();
}

Value with_list(const Value& status, std::string_view name, const Value& list) {
  return list.empty() ? status.without(name) : status.with(name, list);
}

}  // namespace

void ViewController::add_claim_problems(const ObjectKey& pipeline, const Viewing& viewing, const std::vector<TargetView>& views,
                                        std::vector<Problem>& problems) {
  const std::string own = pipeline.to_string();
  for (const TargetView& view : views) {
    if (view.claim.empty() || view.claim == own) continue;
    const ObjectKey named = key_in(view.claim);
    named_[named].insert(pipeline);
    std::string subject = target_object(viewing.spec, view);
    problems.push_back(pipelines_->get(named).is_null() ? dangling_problem(std::move(subject), named)
                                                        : other_pipeline_problem(std::move(subject), named));
  }
}

void ViewController::claims_changed(const ObjectKey& pipeline) {
  if (const auto found = named_.find(pipeline); found != named_.end()) {
    const std::set<ObjectKey> told = std::move(found->second);
    named_.erase(found);
    for (const ObjectKey& one : told) add_news(one);
  }
  std::set<std::string> clusters;
  for (const Claim& claim : annotations_.of(pipeline)) clusters.insert(claim.cluster);
  for (const auto& [key, one] : connected_) {
    if (clusters.contains(one->cluster())) enqueue_(key);
  }
}

void ViewController::drop_cluster(const ObjectKey& queue_key) {
  const auto found = connected_.find(queue_key);
  if (found == connected_.end()) return;
  cache_.remove(*found->second);
  connected_.erase(found);
}

Task<Outcome> ViewController::reconcile_cluster(control::Reconcile& run) {
  const ObjectKey key = key_in(run.key.name);
  const Object object = clusters_->get(key);
  if (object.is_null()) {
    drop_cluster(run.key);
    co_return Outcome::settled();
  }
  auto& known = connected_[run.key];
  if (known == nullptr) {
    known = std::make_unique<ConnectedCluster>();
    known->key = run.key;
    known->object = key;
    known->pipeline = &known->key;
    cache_.add(*known, cluster_name(watches_->home(), key.ns, key.name));
  }
  const Steady now = env_.clock.steady();
  if (now < known->next_write) co_return Outcome::retries_after(known->next_write - now);
  known->is_dirty = false;
  const auto releases = cache_.releases(*known);
  if (!releases) co_return Outcome::settled();  // it is woken when they can be known
  std::vector<ReleaseStatus> rows;
  for (const Object& one : *releases) rows.push_back(release_status(one));
  std::ranges::sort(rows, {}, [](const ReleaseStatus& one) { return std::pair(one.ns, one.name); });
  const auto left_out = static_cast<std::int64_t>(rows.size() - std::min(rows.size(), kMaxReleases));
  if (left_out > 0) rows.resize(kMaxReleases);
  std::vector<Problem> problems;
  const auto exists = [this](const ObjectKey& pipeline) { return !pipelines_->get(pipeline).is_null(); };
  for (const auto& [pipeline, claim] : annotations_.dangling_in(known->cluster(), exists)) {
    if (problems.size() >= kMaxClusterProblems) break;
    problems.push_back(dangling_problem(fmt::format("{} {}", claim.kind, claim.key.to_string()), pipeline));
  }
  Value status = with_list(object["status"], "releases", encoded(rows));
  status = with_list(status, "problems", encoded(problems));
  status = left_out > 0 ? status.with("releasesLeftOut", left_out) : status.without("releasesLeftOut");
  known->next_write = now + kWriteClusterEvery;
  const auto written = co_await control::write_status(run.client, kGitopsClusters, object, std::move(status), kViewManager);
  if (!written && written.error().reason == Reason::NotFound) co_return Outcome::settled();
  co_return written ? Outcome::settled() : Outcome::failed(written.error());
}

}  // namespace slipway::delivery::pipeline
