#include "plane/plane.h"

#include "cluster/admission.h"
#include "cluster/cluster.h"
#include "cluster/explain.h"
#include "cluster/simulated_runtime.h"
#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/controller.h"
#include "delivery/jobflow/explain.h"
#include "delivery/jobflow/kinds.h"
#include "delivery/jobflow/workflow.h"
#include "kube/well_known.h"

namespace slipway::plane {
namespace {

constexpr const char* kManager = "slipway-bootstrap";
using kube::kDefinitions;

template <class Row>
void append(std::vector<Row>& to, std::vector<Row> rows) {
  to.insert(to.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

/// By the ordinary path of custom resources; an apply that changes nothing writes nothing.
Task<Result<void>> apply_definitions(server::Server& server) {
  for (json::Value& definition : custom_resource_definitions()) {
    const auto applied = co_await client::apply(server, kDefinitions, std::move(definition), kManager);
    if (!applied) co_return fail(applied.error());
  }
  co_return Result<void>{};
}

}  // namespace

std::vector<kube::AdmissionRow> admission_rows() {
  std::vector<kube::AdmissionRow> rows;
  append(rows, cluster::admission_rows());
  append(rows, delivery::jobflow::admission_rows());
  return rows;
}

std::vector<control::ExplainRow> explain_rows() {
  std::vector<control::ExplainRow> rows;
  append(rows, cluster::explain_rows());
  append(rows, delivery::jobflow::explain_rows());
  return rows;
}

std::vector<json::Value> custom_resource_definitions() {
  std::vector<json::Value> definitions;
  append(definitions, delivery::jobflow::custom_resource_definitions());
  return definitions;
}

Task<Result<void>> install_definitions(Env& env, client::Client& client) {
  for (json::Value& definition : custom_resource_definitions()) {
    const kube::ObjectKey key{"", std::string(kube::name(definition))};
    SLIPWAY_CO_TRY(applied, co_await client::apply(client, kDefinitions, std::move(definition), kManager));
    json::Value seen = std::move(applied);
    while (!kube::is_true(seen, "Established")) {
      co_await sleep_for(env, std::chrono::milliseconds{100});
      SLIPWAY_CO_TRY(again, co_await client::get(client, kDefinitions, key));
      seen = std::move(again);
    }
  }
  co_return Result<void>{};
}

Task<Result<std::unique_ptr<ApiServer>>> ApiServer::open(Env& env, Options options) {
  SLIPWAY_CO_TRY(opened, store::Store::open(env, options.store));
  std::unique_ptr<ApiServer> api(new ApiServer);
  api->store_ = std::move(opened);
  options.server.admission = admission_rows();
  options.server.writes_bootstrap = options.writes_bootstrap;
  api->server_ = std::make_unique<server::Server>(env, *api->store_, std::move(options.server));
  SLIPWAY_CO_TRY_VOID(co_await api->server_->start());
  if (options.writes_bootstrap) SLIPWAY_CO_TRY_VOID(co_await apply_definitions(*api->server_));
  co_return api;
}

Task<> ApiServer::close() { co_await store_->close(); }

Controllers::Controllers(Env& env, client::Client& client, Options options) : runtime_(env, client) {
  cluster::ClusterOptions cluster;
  if (options.pods == PodRuntimeKind::Simulated) {
    simulated_ = std::make_unique<cluster::SimulatedRuntime>(env);
    cluster.pods = simulated_.get();
  }
  if (options.pods == PodRuntimeKind::Process) {
    cluster::ProcessRuntime::Options process;
    process.data_folder = options.data_dir;
    process.supervisor = options.supervisor;
    processes_ = std::make_unique<cluster::ProcessRuntime>(env, client, std::move(process));
    cluster.pods = processes_.get();
  }
  cluster.custom_kinds = {{delivery::jobflow::kWorkflows, "Workflow"}, {delivery::jobflow::kStepSets, "WorkflowStepSet"}};
  if (options.makes_cluster) cluster::add_cluster_controllers(env, runtime_, std::move(cluster));
  runtime_.add(std::make_unique<delivery::jobflow::WorkflowController>(env));
}

server::PodBackend* Controllers::logs() { return processes_.get(); }

server::PodBackend* Controllers::pods() {
  if (processes_) return processes_.get();
  return simulated_.get();
}

Task<> Controllers::stop_pods(Duration grace) {
  if (processes_) co_await processes_->stop_all(grace);
}

}  // namespace slipway::plane
