#include <fmt/format.h>

#include <algorithm>

#include "delivery/rollout/kind.h"
#include "delivery/rollout/pass.h"
#include "delivery/rollout/services.h"
#include "delivery/rollout/traffic_claim.h"

namespace slipway::delivery::rollout {

using json::Value;
using kube::Object;

namespace {

/// Of a workload's pods: what its selector says, and their revision.
Labels labels_of(const Workload& workload, const std::string& revision) {
  Labels labels;
  if (workload.row == nullptr || workload.object.is_null()) return labels;
  const bool is_one_object = workload.row->alone != wave::Shape::Scale;
  if (!is_one_object) {
    const Value selector = match_labels(workload);
    for (const auto& [key, value] : selector.members()) labels[std::string(key)] = value.str();
  }
  if (!revision.empty()) labels[revision_label(*workload.row)] = revision;
  return labels;
}

/// Which objects are written on; how long a weight takes is no part of it.
Value written_on(Traffic traffic) {
  traffic.settle_seconds = traffic.drain_seconds = 0;
  return json::encode(traffic);
}

}  // namespace

const Traffic* Pass::traffic() const {
  const bool is_held = status_.held_traffic.has_value();
  if (is_held && drops_traffic()) return &status_.held_traffic->traffic;
  return wanted_.plan.traffic ? &*wanted_.plan.traffic : nullptr;
}

bool Pass::drops_traffic() const {
  if (!status_.held_traffic) return false;
  return !wanted_.plan.traffic || written_on(*wanted_.plan.traffic) != written_on(status_.held_traffic->traffic);
}

Route Pass::route() const {
  const Traffic& traffic = *this->traffic();
  Route made;
  made.provider = traffic.provider;
  made.ns = run_.key.ns;
  if (traffic.ingress_ref) made.ingress = (*traffic.ingress_ref)["name"].str();
  made.service = traffic.service;
  made.source_service = source_service(traffic);
  made.target_service = target_service(traffic);
  made.source_labels = source_labels();
  made.target_labels = target_labels();
  const auto service = traffic_objects_.find("Service/" + traffic.service);
  if (service != traffic_objects_.end()) {
    const Value& port = service->second["spec"]["ports"].item(0)["port"];
    if (port.is_int()) made.port = port.as_int();
  }
  return made;
}

/// The newest source's that has ready pods: a Service cannot select two revisions, and the older ones are drained first.
Labels Pass::source_labels() const {
  if (shape_named(status_.shape) != wave::Shape::Pair) {
    const auto snapshot = std::ranges::find(status_.snapshots, target_->id, &Snapshot::id);
    return labels_of(*target_, snapshot == status_.snapshots.end() ? old_pods_label(*target_) : snapshot->old_label);
  }
  if (sources_.empty()) return {};
  const auto has_ready = [](const Workload& source) { return view_of(source, "").ready > 0; };
  const auto found = std::find_if(sources_.rbegin(), sources_.rend(), has_ready);
  const Workload& source = found == sources_.rend() ? sources_.back() : *found;
  return labels_of(source, new_pods_label(source));
}

Labels Pass::target_labels() const { return labels_of(*target_, new_pods_label(*target_)); }

Task<Result<void>> Pass::look_at_traffic() {
  traffic_objects_.clear();
  if (traffic() == nullptr) co_return Result<void>{};
  std::vector<Need> all;
  for (const std::string& name : service_names(*traffic())) all.push_back({kServiceKind, name, false});
  SLIPWAY_CO_TRY(needed, needs(route()));
  all.insert(all.end(), needed.begin(), needed.end());
  for (const Need& need : all) {
    auto found = co_await tools_.workloads.find_object(run_.client, need.kind, {run_.key.ns, need.name});
    if (!found && found.error().reason != Reason::NotFound) co_return fail(std::move(found).error());
    if (found && !found->is_null()) traffic_objects_[fmt::format("{}/{}", need.kind.kind, need.name)] = *found;
    if (const auto resource = tools_.workloads.known_resource(need.kind)) {
      traffic_followed_.insert({*resource, {run_.key.ns, need.name}, ""});
    }
  }
  co_return co_await drop_void_marks();
}

/// The mark of a rollout that is gone counts for nothing.
Task<Result<void>> Pass::drop_void_marks() {
  for (auto& [key, object] : traffic_objects_) {
    const auto other = other_traffic_owner(object, rollout_);
    if (!other) continue;
    bool is_there = false;
    for (const kube::GroupVersionKind& kind : {kTraitKind, kRolloutKind, kAppRolloutKind}) {
      if (kind.kind != other->kind) continue;
      auto found = co_await tools_.workloads.find_object(run_.client, kind, {run_.key.ns, other->name});
      if (!found && found.error().reason != Reason::NotFound) co_return fail(std::move(found).error());
      is_there = found && kube::uid(*found) == other->uid;
      const auto resource = tools_.workloads.known_resource(kind);
      if (resource) traffic_followed_.insert({*resource, {run_.key.ns, other->name}, ""});
    }
    if (!is_there) object = object.without_path({"metadata", "annotations", kTrafficOwner});
  }
  co_return Result<void>{};
}

Split Pass::split_of(std::int64_t weight, std::int64_t batch) const {
  Split split{.weight = weight};
  if (batch < 0 || static_cast<std::size_t>(batch) >= wanted_.plan.batches.size()) return split;
  const auto& traffic = wanted_.plan.batches[static_cast<std::size_t>(batch)].traffic;
  if (!traffic) return split;
  split.matches = traffic->matches;
  split.mirror_percent = traffic->mirror_percent.value_or(0);
  return split;
}

wave::TrafficView Pass::traffic_view() {
  wave::TrafficView view;
  if (traffic() == nullptr) return view;
  const Traffic& traffic = *this->traffic();
  if (status_.held_traffic) view.held_weight = status_.held_traffic->weight;
  const auto claims = claim_traffic(traffic_objects_, rollout_);
  const bool is_unmarked = release_traffic(traffic_objects_, rollout_).empty();
  if (!claims) {
    view.text = claims.error().message;
    view.is_restored = is_unmarked;  // what another rollout wrote is its own
    return view;
  }
  const Route way = route();
  const auto observed = observe(way, traffic_objects_);
  if (!observed) {
    view.text = observed.error().message;
    return view;
  }
  view.weight = observed->weight;
  view.text = observed->text;
  view.is_unconfirmed = !observed->has_report;
  if (status_.weight) {
    const auto services = prepare_services(traffic, traffic_objects_, source_labels(), target_labels(), rollout_);
    const auto changes = shift(way, traffic_objects_, split_of(*status_.weight, status_.shifted_batch));
    if (!changes) view.text = changes.error().message;
    if (!services) view.text = services.error().message;
    const bool is_written = changes && services && changes->empty() && services->empty() && claims->empty();
    if (!is_written) view.weight = std::nullopt;
  }
  const Steady now = tools_.env.clock.steady();
  if (memory_.weight != view.weight) {
    memory_.weight = view.weight;
    memory_.weight_since = now;
  }
  const Steady settled = memory_.weight_since + seconds_saturating(traffic.settle_seconds);
  if (view.is_unconfirmed) {
    view.is_accepted = view.weight && now >= settled;
    if (!view.is_accepted && view.weight) {
      settles_ = settled;
      if (view.text.empty()) view.text = fmt::format("it takes effect within {} s", traffic.settle_seconds);
    }
  } else {
    view.is_accepted = observed->is_accepted;
  }
  const auto routes = restore(way, traffic_objects_, (status_.weight ? status_.weight : view.held_weight) == 100);
  if (memory_.restored) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(given_back_after()).count();
    view.text = fmt::format("the Services that were made for it go after {} s, in which open connections may end", seconds);
  }
  view.is_restored = is_unmarked && routes && routes->empty() && restore_selectors(traffic, traffic_objects_).empty() &&
                     remove_services(traffic, traffic_objects_).empty();
  return view;
}

Task<Result<void>> Pass::shift_traffic(wave::Effect effect) {
  if (traffic() == nullptr) co_return Result<void>{};
  auto claims = claim_traffic(traffic_objects_, rollout_);
  // What cannot be written is told by traffic_view(): the roll waits.
  if (!claims) co_return Result<void>{};
  if (!claims->empty()) co_return co_await write_all(std::move(*claims));
  auto services = prepare_services(*traffic(), traffic_objects_, source_labels(), target_labels(), rollout_);
  if (!services) co_return Result<void>{};
  if (!services->empty()) co_return co_await write_all(std::move(*services));
  auto changes = shift(route(), traffic_objects_, split_of(effect.number, effect.batch));
  if (!changes) co_return Result<void>{};
  co_return co_await write_all(std::move(*changes));
}

/// How long the Services that were made stay when no route names them any more. Of a first revision, which took no pod's
/// place, no connection is older than the route.
Duration Pass::given_back_after() const {
  const Traffic& traffic = *this->traffic();
  return seconds_saturating(status_.sources.empty() ? traffic.settle_seconds : traffic.drain_seconds);
}

/// Selectors, then routes; the Services that were made go once no route names them any more, and the marks with them.
Task<Result<void>> Pass::restore_traffic(std::int64_t weight) {
  if (traffic() == nullptr) co_return Result<void>{};
  const Traffic traffic = *this->traffic();
  std::vector<Change> marks = release_traffic(traffic_objects_, rollout_);
  if (!claim_traffic(traffic_objects_, rollout_)) co_return co_await write_all(std::move(marks));
  std::vector<Change> changes = restore_selectors(traffic, traffic_objects_);
  auto routes = restore(route(), traffic_objects_, weight == 100);
  if (!routes) co_return fail(std::move(routes).error());
  changes.insert(changes.end(), std::make_move_iterator(routes->begin()), std::make_move_iterator(routes->end()));
  const Steady now = tools_.env.clock.steady();
  if (!changes.empty() || !memory_.restored) memory_.restored = now;
  if (!changes.empty()) co_return co_await write_all(std::move(changes));
  const Steady end = *memory_.restored + given_back_after();
  if (now < end) {
    settles_ = end;
    co_return Result<void>{};
  }
  changes = remove_services(traffic, traffic_objects_);
  changes.insert(changes.end(), std::make_move_iterator(marks.begin()), std::make_move_iterator(marks.end()));
  co_return co_await write_all(std::move(changes));
}

Task<Result<void>> Pass::write_all(std::vector<Change> changes) {
  for (const Change& change : changes) {
    const auto resource = tools_.workloads.known_resource(change.object_kind);
    if (!resource) co_return fail(Reason::NotFound, fmt::format("{} is not served", change.object_kind.kind));
    Result<Value> written;
    const std::string manager(kFieldManager);
    switch (change.kind) {
      case Change::Kind::Create:
        written = co_await client::create(author_, *resource, change.body, manager);
        break;
      case Change::Kind::Patch: {
        client::Request request;
        request.verb = client::Verb::Patch;
        request.resource = *resource;
        request.ns = run_.key.ns;
        request.name = change.name;
        request.body = change.body;
        request.patch_type = client::PatchType::Json;
        request.field_manager = manager;
        auto reply = co_await author_.call(std::move(request));
        if (!reply) written = fail(std::move(reply).error());
        break;
      }
      case Change::Kind::Delete:
        written = co_await client::remove(author_, *resource, {run_.key.ns, change.name});
        break;
    }
    const bool is_done = written || written.error().reason == Reason::AlreadyExists ||
                         (change.kind == Change::Kind::Delete && written.error().reason == Reason::NotFound);
    if (!is_done) co_return fail(std::move(written).error());
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::rollout
