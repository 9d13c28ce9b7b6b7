#include "server/builtin/eviction.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/selector.h"
#include "kube/well_known.h"
#include "server/context.h"

namespace slipway::server {

namespace {

constexpr int kTries = 5;  // of the budget's update
constexpr std::string_view kManager = "slipway-server";
using kube::kBudgets;
using kube::kPods;

Reply created() {
  return {json::object({{"kind", "Status"},
                        {"apiVersion", "v1"},
                        {"metadata", Value::empty_object()},
                        {"status", "Success"},
                        {"code", 201}}),
          {},
          201};
}

std::unexpected<Status> refused(std::string message) {
  Status status;
  status.reason = Reason::TooManyRequests;
  status.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  status.causes = {{.reason = "DisruptionBudget", .message = std::move(message), .field = ""}};
  return fail(std::move(status));
}

/// A pod that has ended or not begun needs no budget.
bool is_free(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" || kube::is_deleting(pod);
}

/// An unhealthy pod may go when the budget's policy says so.
bool may_go_unhealthy(const Value& budget, const Value& pod) {
  if (kube::is_true(pod, "Ready")) return false;
  if (budget["spec"]["unhealthyPodEvictionPolicy"].as_string() == "AlwaysAllow") return true;
  const std::int64_t desired = budget["status"]["desiredHealthy"].as_int();
  return desired > 0 && budget["status"]["currentHealthy"].as_int() >= desired;
}

/// The budget's status after one more disruption, or why there may be none.
Result<Value> charged(const Value& budget, std::string_view pod, Time now) {
  const Value& status = budget["status"];
  const std::string_view name = kube::name(budget);
  if (status["observedGeneration"].as_int() < kube::generation(budget)) {
    return refused(fmt::format("The disruption budget {} is still being processed by the server.", name));
  }
  const std::int64_t allowed = status["disruptionsAllowed"].as_int();
  if (allowed <= 0) {
    return refused(fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                               status["desiredHealthy"].as_int(), status["currentHealthy"].as_int()));
  }
  return budget.with_path({"status", "disruptionsAllowed"}, allowed - 1)
      .with_path({"status", "disruptedPods", pod}, to_rfc3339(now));
}

/// A number of `whole`, or a share of it rounded up.
std::int64_t amount_of(const Value& amount, std::int64_t whole) {
  if (!amount.is_string()) return amount.as_int();
  return (std::atol(amount.str().c_str()) * whole + 99) / 100;
}

/// The budget with the status its pods give it, as the disruption controller would write it.
/// DIVERGES: a share and maxUnavailable count the pods there are, not the replicas their owners want.
Value counted(const Value& budget, const Value& pods) {
  const auto selector = kube::LabelSelector::from_object(budget["spec"]["selector"]);
  std::int64_t expected = 0;
  std::int64_t healthy = 0;
  for (const Value& pod : pods["items"].items()) {
    if (!selector || !selector->matches(pod["metadata"]["labels"])) continue;
    const std::string_view phase = pod["status"]["phase"].as_string();
    if (phase == "Succeeded" || phase == "Failed") continue;
    ++expected;
    healthy += kube::is_true(pod, "Ready") && !kube::is_deleting(pod) ? 1 : 0;
  }
  const Value& most = budget["spec"]["maxUnavailable"];
  const std::int64_t desired = most.is_null() ? amount_of(budget["spec"]["minAvailable"], expected)
                                              : std::max<std::int64_t>(0, expected - amount_of(most, expected));
  return budget.with("status", json::object({{"observedGeneration", kube::generation(budget)},
                                             {"disruptionsAllowed", std::max<std::int64_t>(0, healthy - desired)},
                                             {"currentHealthy", healthy},
                                             {"desiredHealthy", desired},
                                             {"expectedPods", expected}}));
}

/// A budget that no controller has looked at yet (the embedded cluster has none) is counted now.
Task<Result<Value>> current(ServerContext& context, Value budget) {
  if (budget["status"]["observedGeneration"].as_int() != 0) co_return budget;
  Request request;
  request.verb = client::Verb::List;
  request.resource = kPods;
  request.ns = kube::ns(budget);
  SLIPWAY_CO_TRY(pods, co_await context.server.call(std::move(request)));
  co_return counted(budget, pods.object);
}

Task<Result<std::vector<Value>>> budgets_of(ServerContext& context, Value pod) {
  Request request;
  request.verb = client::Verb::List;
  request.resource = kBudgets;
  request.ns = kube::ns(pod);
  SLIPWAY_CO_TRY(all, co_await context.server.call(std::move(request)));
  std::vector<Value> out;
  for (const Value& budget : all.object["items"].items()) {
    const auto selector = kube::LabelSelector::from_object(budget["spec"]["selector"]);
    if (selector && selector->matches(pod["metadata"]["labels"])) out.push_back(budget);
  }
  co_return out;
}

/// Takes one disruption from the only budget of the pod. Conflicts are tried again with the newest budget.
Task<Result<void>> take_disruption(ServerContext& context, Value pod, bool dry_run) {
  for (int i = 0;; ++i) {
    SLIPWAY_CO_TRY(budgets, co_await budgets_of(context, pod));
    if (budgets.empty()) co_return Result<void>{};
    if (budgets.size() > 1) {
      co_return fail(Reason::InternalError,
                     "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    }
    const bool is_kept_up = budgets.front()["status"]["observedGeneration"].as_int() != 0;
    SLIPWAY_CO_TRY(budget, co_await current(context, budgets.front()));
    if (may_go_unhealthy(budget, pod)) co_return Result<void>{};
    SLIPWAY_CO_TRY(next, charged(budget, kube::name(pod), context.env.clock.now()));
    if (dry_run || !is_kept_up) co_return Result<void>{};
    auto written = co_await client::update_status(context.server, kBudgets, next, std::string(kManager));
    if (written) co_return Result<void>{};
    if (written.error().reason != Reason::Conflict || i + 1 == kTries) co_return fail(std::move(written).error());
  }
}

std::string first_of(const Value& dry_run) { return dry_run.is_array() ? dry_run.item(0).str() : dry_run.str(); }

}  // namespace

Task<Result<Reply>> evict_pod(ServerContext& context, Request request) {
  const Value& body = request.body;
  if (const std::string_view name = kube::name(body); !name.empty() && name != request.name) {
    co_return fail(Reason::BadRequest, "name in URL does not match name in Eviction object");
  }
  const bool dry_run = request.dry_run || first_of(body["deleteOptions"]["dryRun"]) == "All";
  SLIPWAY_CO_TRY(pod, co_await client::get(context.server, kPods, {request.ns, request.name}));
  if (!is_free(pod)) SLIPWAY_CO_TRY_VOID(co_await take_disruption(context, pod, dry_run));
  Request removal = request;
  removal.verb = client::Verb::Delete;
  removal.subresource.clear();
  removal.dry_run = dry_run;
  removal.user = nullptr;  // who may evict need not be allowed to delete
  removal.body = body["deleteOptions"];
  SLIPWAY_CO_TRY_VOID(co_await context.server.call(std::move(removal)));
  co_return created();
}

Task<Result<Reply>> bind_pod(ServerContext& context, Request request) {
  const Value& body = request.body;
  const std::string name = request.name.empty() ? std::string(kube::name(body)) : request.name;
  const std::string node = body["target"]["name"].str();
  std::vector<Cause> causes;
  if (const std::string_view kind = body["target"]["kind"].as_string(); !kind.empty() && kind != "Node") {
    causes.push_back(field::not_supported("target.kind", fmt::format("\"{}\"", kind), {"Node", "<empty>"}));
  }
  if (node.empty()) causes.push_back(field::required("target.name"));
  if (!causes.empty()) co_return fail(kube::invalid({"", "v1", "Binding"}, name, std::move(causes)));
  SLIPWAY_CO_TRY(pod, co_await client::get(context.server, kPods, {request.ns, name}));
  if (const std::string_view has = pod["spec"]["nodeName"].as_string(); !has.empty()) {
    co_return fail(kube::conflict(kPods, name, fmt::format("pod {} is already assigned to node \"{}\"", name, has)));
  }
  Request patch = request;
  patch.verb = client::Verb::Patch;
  patch.resource = kPods;
  patch.subresource.clear();
  patch.name = name;
  patch.user = nullptr;
  patch.patch_type = client::PatchType::Merge;
  patch.body = json::object({{"metadata", json::object({{"resourceVersion", pod["metadata"]["resourceVersion"]}})},
                             {"spec", json::object({{"nodeName", node}})}});
  SLIPWAY_CO_TRY_VOID(co_await context.server.call(std::move(patch)));
  co_return created();
}

}  // namespace slipway::server
