#include "server/builtin/eviction.h"

#include <fmt/format.h>

#include "kube/selector.h"
#include "kube/well_known.h"
#include "server/context.h"

namespace slipway::server {

namespace {

constexpr int kTries = 5;  // of the budget's update
constexpr int kRetrySeconds = 10;
constexpr std::size_t kMostDisrupted = 2000;  // evictions of a budget that its controller has not seen yet
constexpr std::string_view kEvictionManager = "slipway-server";
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

std::unexpected<Status> over_budget(std::string message) {
  Status status;
  status.reason = Reason::TooManyRequests;
  status.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  status.causes = {{.reason = "DisruptionBudget", .message = std::move(message), .field = ""}};
  return fail(std::move(status));
}

std::unexpected<Status> being_processed(std::string_view budget) {
  Status status = over_budget(fmt::format("The disruption budget {} is still being processed by the server.", budget)).error();
  status.retry_after_seconds = kRetrySeconds;
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
    return being_processed(name);
  }
  if (status["disruptedPods"].size() > kMostDisrupted) {
    return fail(
        Reason::Forbidden,
        fmt::format("poddisruptionbudget.policy \"{}\" is forbidden: DisruptedPods map too big - too many evictions not "
                    "confirmed by PDB controller",
                    name));
  }
  const std::int64_t allowed = status["disruptionsAllowed"].as_int();
  if (allowed <= 0) {
    const Value& condition = kube::condition(budget, "DisruptionAllowed");
    if (condition["reason"].as_string() == "SyncFailed") {
      return over_budget(
          fmt::format("The disruption budget {} does not allow evicting pods currently because it failed sync: {}", name,
                      condition["message"].as_string()));
    }
    return over_budget(fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                                   status["desiredHealthy"].as_int(), status["currentHealthy"].as_int()));
  }
  return budget.with_path({"status", "disruptionsAllowed"}, allowed - 1)
      .with_path({"status", "disruptedPods", pod}, to_rfc3339(now));
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

/// How a pod may go.
struct Leave {
  std::string budget{};            // that was asked; empty: none
  bool must_be_unhealthy = false;  // only as it is now: it was let go because it is not ready
};

/// Takes one disruption from the only budget of the pod. Conflicts are tried again with the newest budget.
Task<Result<Leave>> take_disruption(ServerContext& context, Value pod, bool dry_run) {
  for (int i = 0;; ++i) {
    SLIPWAY_CO_TRY(budgets, co_await budgets_of(context, pod));
    if (budgets.empty()) co_return Leave{};
    if (budgets.size() > 1) {
      co_return fail(Reason::InternalError,
                     "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    }
    const Value budget = budgets.front();
    Leave leave{std::string(kube::name(budget)), may_go_unhealthy(budget, pod)};
    if (leave.must_be_unhealthy) co_return leave;
    SLIPWAY_CO_TRY(next, charged(budget, kube::name(pod), context.env.clock.now()));
    if (dry_run) co_return leave;
    auto written = co_await client::update_status(context.server, kBudgets, next, std::string(kEvictionManager));
    if (written) co_return leave;
    if (written.error().reason != Reason::Conflict) co_return fail(std::move(written).error());
    if (i + 1 == kTries) {
      Status late;
      late.reason = Reason::Timeout;
      late.message = fmt::format("Timeout: couldn't update PodDisruptionBudget \"{}\" due to conflicts", leave.budget);
      late.retry_after_seconds = kRetrySeconds;
      co_return fail(std::move(late));
    }
  }
}

Result<void> check_preconditions(const Value& pod, const Value& wanted) {
  struct Row {
    const char* key;
    const char* name;
    const char* fate;
  };
  for (const auto& [key, name, fate] :
       {Row{"uid", "UID", "deleted and then recreated"}, Row{"resourceVersion", "ResourceVersion", "modified"}}) {
    if (wanted[key].as_string().empty() || wanted[key] == pod["metadata"][key]) continue;
    const std::string text =
        fmt::format("the {0} in the precondition ({1}) does not match the {0} in record ({2}). The object might have been {3}",
                    name, wanted[key].as_string(), pod["metadata"][key].as_string(), fate);
    return fail(kube::conflict(kPods, kube::name(pod), text));
  }
  return {};
}

/// Says on the pod why it goes, so that its Job need not count it as a failure.
Task<Result<Value>> mark_evicted(ServerContext& context, Value pod, bool is_exact) {
  const Value& present = kube::condition(pod, "DisruptionTarget");
  if (present["status"].as_string() == "True" && present["reason"].as_string() == "EvictionByEvictionAPI") co_return pod;
  Value metadata = json::object({{"uid", pod["metadata"]["uid"]}});
  if (is_exact) metadata = metadata.with("resourceVersion", pod["metadata"]["resourceVersion"]);
  Request patch;
  patch.verb = client::Verb::Patch;
  patch.resource = kPods;
  patch.ns = kube::ns(pod);
  patch.name = kube::name(pod);
  patch.subresource = "status";
  patch.patch_type = client::PatchType::StrategicMerge;
  patch.field_manager = kEvictionManager;
  const Value condition = json::object({{"type", "DisruptionTarget"},
                                        {"status", "True"},
                                        {"reason", "EvictionByEvictionAPI"},
                                        {"message", "Eviction API: evicting"},
                                        {"lastTransitionTime", to_rfc3339(context.env.clock.now())}});
  patch.body = json::object({{"metadata", metadata}, {"status", json::object({{"conditions", json::array({condition})}})}});
  SLIPWAY_CO_TRY(marked, co_await context.server.call(std::move(patch)));
  co_return marked.object;
}

/// Marks and deletes the pod. `is_exact`: only as it is.
Task<Result<void>> remove_pod(ServerContext& context, Request request, Value pod, bool is_exact) {
  Value options = request.body["deleteOptions"];
  is_exact |= options["preconditions"].has("resourceVersion");
  if (!request.dry_run) {
    SLIPWAY_CO_TRY_VOID(check_preconditions(pod, options["preconditions"]));
    SLIPWAY_CO_TRY(marked, co_await mark_evicted(context, pod, is_exact));
    pod = marked;
  }
  if (is_exact) options = options.with_path({"preconditions", "resourceVersion"}, pod["metadata"]["resourceVersion"]);
  Request removal = std::move(request);
  removal.verb = client::Verb::Delete;
  removal.subresource.clear();
  removal.user = nullptr;  // who may evict need not be allowed to delete
  removal.body = std::move(options);
  SLIPWAY_CO_TRY_VOID(co_await context.server.call(std::move(removal)));
  co_return Result<void>{};
}

std::string first_of(const Value& dry_run) { return dry_run.is_array() ? dry_run.item(0).str() : dry_run.str(); }

}  // namespace

Task<Result<Reply>> evict_pod(ServerContext& context, Request request) {
  const Value& body = request.body;
  if (const std::string_view name = kube::name(body); !name.empty() && name != request.name) {
    co_return fail(Reason::BadRequest, "name in URL does not match name in Eviction object");
  }
  request.dry_run = request.dry_run || first_of(body["deleteOptions"]["dryRun"]) == "All";
  SLIPWAY_CO_TRY(pod, co_await client::get(context.server, kPods, {request.ns, request.name}));
  Leave leave;
  if (!is_free(pod)) {
    SLIPWAY_CO_TRY(granted, co_await take_disruption(context, pod, request.dry_run));
    leave = granted;
  }
  const bool names_revision = body["deleteOptions"]["preconditions"].has("resourceVersion");
  auto removed = co_await remove_pod(context, request, pod, leave.must_be_unhealthy);
  if (removed) co_return created();
  if (removed.error().reason == Reason::Conflict && leave.must_be_unhealthy && !names_revision) {
    co_return being_processed(leave.budget);  // it may have become healthy meanwhile
  }
  co_return fail(std::move(removed).error());
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
