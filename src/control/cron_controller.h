// Starts children when their time has come, for kinds with a CronJob's fields. What to do is decided by plan_cron()
// (cron_plan.h); which kinds they are is a row of data (CronKind).
#pragma once

#include <map>
#include <string>

#include "control/controller.h"
#include "control/cron_plan.h"

namespace slipway::control {

class CronController : public Controller {
 public:
  CronController(Env& env, CronKind kind) : env_(env), kind_(std::move(kind)) {}

  std::string name() const override { return kind_.controller; }
  void watch(Watches& watches) override;
  Task<Outcome> reconcile(Reconcile& run) override;

 protected:
  /// What a run came to, for the status.
  struct Report {
    std::optional<Time> next;
    std::string reason;  // of a schedule that does not run: UnknownTimeZone, FailedCreate; empty: it runs
    std::string message;
  };

  /// Creates a child. Here: with the controller's own rights.
  virtual Task<Result<kube::Object>> create(client::Client& client, kube::Object cron, kube::Object child);
  /// The status to write. Here: as it is.
  virtual Value reported(const kube::Object& cron, Value status, const Report& report) const;

  Env& env_;
  const CronKind kind_;

 private:
  Result<Zone> zone_of(const std::string& time_zone);
  Task<Result<kube::Object>> create_or_find(client::Client& client, kube::Object cron, kube::Object child);
  Task<Result<void>> start(client::Client& client, kube::Object cron, CronPlan& plan);
  Task<Result<void>> record_events(client::Client& client, kube::Object cron, std::vector<EventText> events);

  client::Informer* crons_ = nullptr;
  client::Informer* children_ = nullptr;
  std::map<std::string, Zone> zones_;  // by name
};

}  // namespace slipway::control
