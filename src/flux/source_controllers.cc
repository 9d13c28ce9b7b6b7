#include "flux/source_controllers.h"

#include "control/object_writes.h"
#include "flux/charts.h"
#include "flux/git_repository.h"
#include "flux/kinds.h"

namespace slipway::flux {
namespace {

using control::Outcome;
using kube::Object;

bool is_at_rest(const Object& object) {
  return object.is_null() || kube::is_deleting(object) || object["spec"]["suspend"].as_bool();
}

Task<Outcome> tell(client::Client& client, kube::Resource resource, Object object, json::Value status) {
  const auto told = co_await control::write_status(client, resource, object, std::move(status), kSourceManager);
  co_return told ? Outcome::retries_after(interval_of(object)) : Outcome::failed(told.error());
}

}  // namespace

void HelmChartController::watch(control::Watches& watches) {
  charts_ = &watches.primary(kHelmCharts);
  repositories_ = &watches.cache(kHelmRepositories);
}

Task<Outcome> HelmChartController::reconcile(control::Reconcile& run) {
  const Object chart = charts_->get(run.key);
  if (is_at_rest(chart)) co_return Outcome::settled();
  const Object source = repositories_->get({run.key.ns, chart["spec"]["sourceRef"]["name"].str()});
  co_return co_await tell(run.client, kHelmCharts, chart, chart_status(chart, source, env_.clock.now()));
}

void OciRepositoryController::watch(control::Watches& watches) { repositories_ = &watches.primary(kOciRepositories); }

Task<Outcome> OciRepositoryController::reconcile(control::Reconcile& run) {
  const Object repository = repositories_->get(run.key);
  if (is_at_rest(repository)) co_return Outcome::settled();
  co_return co_await tell(run.client, kOciRepositories, repository, oci_status(repository, env_.clock.now()));
}

}  // namespace slipway::flux
