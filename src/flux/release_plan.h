// What the simulated helm-controller does next for one HelmRelease: pure. Helm's record is status.history (newest first); an
// action is under way while the condition Reconciling is True, and takes as long as its Deployment needs to become ready, at
// most spec.timeout (default 5m). A failed upgrade is rolled back and tried again spec.upgrade.remediation.retries times; then
// it rests, Stalled, until the spec changes.
#pragma once

#include <optional>
#include <string>

#include "base/env.h"
#include "kube/object.h"

namespace slipway::flux {

/// What a release installs, as its spec says.
struct Chart {
  std::string name;
  std::string version;
  json::Value values;
  std::string digest{};  // of an OCI artifact; `version` has its beginning as build metadata then

  std::string config_digest() const;
};

/// Where a release goes: its name, and the namespace that its objects are in.
struct ReleaseName {
  std::string name;
  std::string ns;
};
ReleaseName release_name(const kube::Object& release);

/// NotImplemented for what the simulation does not do, naming the field.
Result<void> check_release(const kube::Object& release);
/// What `source`, the HelmChart or OCIRepository of a release, holds: it is ready.
Chart chart_of(const kube::Object& release, const kube::Object& source);
/// The Deployment that a chart renders.
kube::Object render(const kube::Object& release, const Chart& chart);
/// Helm's record of a release as a Secret, with what a rollback needs; `revision` from 1.
kube::Object record_secret(const kube::Object& release, const Chart& chart, std::int64_t revision);
Chart chart_from_record(const kube::Object& secret);
/// "sh.helm.release.v1.NAME.vN".
std::string record_name(const kube::Object& release, std::int64_t revision);

struct ReleasePlan {
  json::Value status;
  std::optional<Chart> apply{};             // what is to be in the cluster, after the status is written
  std::optional<std::int64_t> roll_back{};  // to what this revision's record holds, in place of apply
  std::int64_t record = 0;                  // the revision whose record is to be written first; 0: none
  std::optional<Duration> look_again{};
};
/// `deployment` is null when there is none.
ReleasePlan plan(const kube::Object& release, const Chart& chart, const kube::Object& deployment, Time now);
/// The status of a release whose source has nothing for it yet; `id` is "HelmChart 'ns/name'".
json::Value waiting_status(const kube::Object& release, const kube::Object& source, const std::string& id, Time now);
/// The status of a release that waits for a right of who it acts as.
json::Value lacking_status(const kube::Object& release, const std::string& text, Time now);
/// A status that says why nothing can be done.
json::Value refused_status(const kube::Object& release, const Status& problem, Time now);

}  // namespace slipway::flux
