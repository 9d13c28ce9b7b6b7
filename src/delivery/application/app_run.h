// One reconcile of an Application, as the steps of its workflow and its upkeep see it: renders components, applies their
// objects stage by stage and tells their health. Every object is recorded in a tracker before it is applied. Steps that overlap
// share one AppRun; nothing in it is held across a reconcile but Memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "delivery/application/acting.h"
#include "delivery/application/drift.h"
#include "delivery/application/faults.h"
#include "delivery/application/live.h"
#include "delivery/application/parsed.h"
#include "delivery/application/progress.h"
#include "delivery/application/render.h"
#include "delivery/application/revision.h"
#include "delivery/application/run_context.h"
#include "delivery/application/settings.h"
#include "delivery/application/status.h"
#include "delivery/application/tracker.h"
#include "delivery/application/verdicts.h"
#include "delivery/family.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

/// What stands in the Secret of a revision (secret_manifests.h).
struct KeptSecrets {
  std::string revision, salt;
  std::map<ObjectId, std::string> digests;
};

/// What the controller remembers of an application between reconciles. Lost at a restart; all of it can be learnt again.
struct Memory {
  struct Render {
    std::string key;  // digest of everything it was made from
    std::shared_ptr<const RenderedComponent> made;
  };
  std::string uid;
  std::uint64_t look = 0;  // number of the last reconcile
  std::string parsed_key;
  std::string frozen_key;  // of the revision that follows: name, uid and generation
  std::shared_ptr<const Frozen> frozen;
  std::shared_ptr<const Parsed> parsed;
  std::map<ObjectId, std::string> applied;  // digest of the manifest that this process applied last
  KeptSecrets kept_secrets;
  std::map<ObjectId, std::string> settled;       // digests of (manifest, live object) that differ and cannot be made equal
  std::map<std::string, std::string> completed;  // component → revision whose rendered resources tell of it
  RepairLog repairs;
  KnownFaults faults;
  std::string told_fault;  // of a deletion that is held up
  std::string plans;       // of rollouts, as they were written last (plan_writes.h)
  Progress progress;
  /// Components that a step of a user's own type delivered otherwise than the spec says, by component and place. They are kept
  /// in the notes of the run, too.
  std::map<std::string, Value> delivered;
  bool has_notes = false;  // `delivered` is what the notes say
  /// Of the run, as it was stored last; nullopt: to be read, as always when a Secret belongs to it. Another writer's change of
  /// it makes the next write a Conflict.
  std::optional<LoadedContext> context;
  std::map<std::string, Render> renders;  // by component and placement
  std::optional<Steady> last_pass;
  std::optional<Steady> due;            // when the last reconcile wanted the next one
  kube::Revision written = 0;           // the application as the last reconcile left it
  bool is_woken = false;                // something but its own write has happened since
  std::string identity;                 // as whom it last acted
  std::map<ObjectId, Steady> readable;  // when that identity read or wrote the object itself
};

/// What every AppRun of a controller works with. Outlives it.
struct AppTools {
  Env& env;
  HttpClient* http = nullptr;
  LiveObjects& live;
  Verdicts& verdicts;
  const workflow::Providers& providers;  // for calls of component and trait templates
  ActsAs acts_as = ActsAs::User;
  ApplyMode apply_mode = ApplyMode::ServerSide;
};

/// Why most components wait.
inline constexpr const char* kWaitHealthy = "wait healthy";
inline constexpr const char* kWaitPreviousStage = "waiting for previous stage healthy";
/// One component at one place, after an attempt to deliver it.
struct Delivered {
  bool is_healthy = false;
  std::string message;  // why it waits
  Value output;         // the live workload
  Value outputs;        // live objects beside it, by name
  std::optional<workflow::ResourceRef> workload;
  bool is_secret = false;  // what was delivered holds what was read from a Secret
};

/// A manifest on its way to a cluster.
struct Manifest {
  Value object;
  std::string cluster;  // kHub for the application's own
  std::string component;
  std::string trait;
  std::string creator = "workflow";
  bool is_name_made_up = false;
  bool is_secret = false;  // it holds what was read from a Secret
  bool is_repair = false;  // of drift, which policy apply-once tells from an update
  /// It is recorded only once the server would take it.
  bool is_tried_first = false;

  ObjectId id() const;
};

class AppRun {
 public:
  AppRun(AppTools tools, control::Reconcile& reconcile, kube::Object application, std::shared_ptr<const Parsed> parsed,
         Lookup lookup, Memory& memory);

  const kube::Object& application() const { return application_; }
  const Parsed& parsed() const { return *parsed_; }
  const Lookup& lookup() const { return lookup_; }
  AppTools& tools() { return tools_; }
  /// As Acting's.
  Result<client::Client*> on(const std::string& cluster) { return acting_.on(cluster); }
  Result<client::Client*> own(const std::string& cluster) { return acting_.own(cluster); }
  Acting& acting() { return acting_; }
  const Acting& acting() const { return acting_; }
  /// From here on the application reaches nothing outside its namespace if another user than its author wrote the object.
  void confine_to_author_of(const Value& object);
  /// What an earlier author wrote is delivered with the rights of both.
  void narrow_to_author_of(const Value& application);
  /// Every cluster that a topology may choose.
  std::vector<ClusterEntry> clusters() const;

  void set_revision(std::string name, std::int64_t number);
  const std::string& revision() const { return revision_; }
  /// `context.custom` of templates and steps; null: there is none.
  void set_custom(Value custom) { custom_ = std::move(custom); }
  RenderContext render_context(const Placement& placement) const;

  /// Renders; runs the calls that templates make. `patch` is a step's {workload, traits, exported} or null. Errors: Invalid
  /// with the place and what to do.
  Task<Result<std::shared_ptr<const RenderedComponent>>> render(ComponentSpec component, Placement placement, Value patch,
                                                                Value live);
  /// Renders and applies, stage by stage; each stage must be healthy before the next. Records the service.
  Task<Result<Delivered>> deliver(ComponentSpec component, Placement placement, Value patch);
  /// Records and applies manifests: all or, when one of them would be refused, none. The live objects in their order.
  Task<Result<std::vector<Value>>> apply(std::vector<Manifest> manifests);
  /// Of an object that a tracker holds, as it is now; null when it is not there. From a cache only when the identity has been
  /// let at the object itself lately.
  Task<Result<Value>> live_object(ManagedResource resource);

  /// As the cluster has it now, asked as the application's identity, and by no cache; null when it is not there. `of_kind` is
  /// any object of its kind.
  Task<Result<Value>> newest_object(ObjectId id, Value of_kind);

  /// The trackers; load before anything is applied.
  void load_trackers(std::vector<Tracker> trackers);
  /// The run goes on: without a tracker for this generation that of the same revision is the current one. Not for a new run.
  void continue_run();
  Tracker& current() { return current_; }
  Tracker& root() { return root_; }
  std::vector<Tracker>& outdated() { return outdated_; }
  const std::vector<Tracker>& outdated() const { return outdated_; }
  const Tracker& current() const { return current_; }
  /// Those that rollouts keep (delivery/family/handover.h).
  std::vector<Tracker>& rolled_out() { return rolled_out_; }
  const std::vector<Tracker>& rolled_out() const { return rolled_out_; }
  /// Takes an object out of the current tracker.
  Task<Result<void>> strike(ObjectId id);
  /// Collected with the application.
  const std::vector<Tracker>& component_revisions() const { return component_revisions_; }
  /// The objects are gone: neither the tracker of this generation nor the status has them any more.
  void forget(const std::set<ObjectId>& gone);
  /// Writes a tracker that has changed. Calls that come while one writes are written together after it.
  Task<Result<void>> write_tracker(TrackerType type);

  /// Judges one component at one place by its live objects. `objects` are those of the tracker, with their live state. Nothing
  /// is evaluated that a verdict is known of.
  ServiceStatus judge_service(const ComponentSpec& component, const Placement& placement,
                              const std::vector<std::pair<ManagedResource, Value>>& objects) const;
  /// The component as it was delivered to a place.
  Task<std::optional<ComponentSpec>> delivered_component(std::string component, Placement at);
  /// From now on delivered_component() returns this one there.
  Task<> remember_delivered(ComponentSpec component, Placement placement);
  /// Replaces the service of that component and place, or adds it. Services are in the order of the components.
  void put_service(ServiceStatus service);
  /// Tells of a place whose cluster does not answer; another place, or one that answers, is left as it is told.
  void put_if_unreachable(const std::string& component, const Placement& placement, const std::string& why);
  /// Components with inputs, as they were delivered: now their rendered resources can be told.
  std::map<std::string, ComponentSpec>& fed() { return fed_; }
  std::vector<ServiceStatus>& services() { return services_; }
  std::vector<AppliedResource>& applied() { return applied_; }
  Memory& memory() { return memory_; }

 private:
  struct Placed;
  void stay_inside();
  HealthVerdict judged(const Definition& definition, const std::string& component, const Value& context, const Value& parameter,
                       const Value& output, const Value& outputs) const;
  std::string service_namespace(const Placement& placement) const;
  Task<Result<Value>> run_call(TemplateCall call, Placement placement, bool& is_secret);
  Task<Result<std::string>> missing_kinds(ComponentSpec component, Placement placement,
                                          std::shared_ptr<const RenderedComponent> rendered);
  Task<Result<bool>> deliver_stage(std::shared_ptr<const RenderedComponent> rendered, Stage stage, ComponentSpec component,
                                   Placement placement, std::vector<std::pair<ManagedResource, Value>>& placed);
  std::vector<Manifest> manifests_of(const RenderedComponent& rendered, Stage stage, const Placement& placement) const;
  Result<void> check_owner(const Manifest& manifest, const Value& live) const;
  Task<Result<Value>> write_checked(Manifest manifest, Value live, bool is_dry_run);
  Task<Result<Value>> find_live(ObjectId id, MappedKind kind);
  Task<Result<Value>> write(Manifest manifest, Value live, bool is_dry_run);
  ManagedResource record_of(const Manifest& manifest) const;
  /// Objects whose names are made up keep those that they have.
  void keep_names(std::vector<Manifest>& manifests) const;
  Task<Result<Value>> replace_left_over(Value wanted);
  Task<Result<Value>> write_three_way(client::Client* client, MappedKind kind, Value object, Value live, bool is_exact,
                                      bool is_dry_run);
  Task<Result<Value>> claim_fields(client::Client* client, MappedKind kind, Value live);
  void record(const std::vector<Manifest>& manifests);
  Value recorded_manifest(const ObjectId& id) const;
  void note_applied(const Manifest& manifest);

  AppTools tools_;
  control::Reconcile& reconcile_;
  kube::Object application_;
  std::shared_ptr<const Parsed> parsed_;
  Lookup lookup_;
  Memory& memory_;
  std::string revision_;
  Value custom_;
  std::int64_t revision_number_ = 0;
  Tracker current_, root_;
  std::vector<Tracker> outdated_, component_revisions_, rolled_out_;
  bool is_current_dirty_ = false, is_root_dirty_ = false, is_writing_ = false;
  std::shared_ptr<Signal> written_;
  std::vector<ServiceStatus> services_;
  std::vector<AppliedResource> applied_;
  std::map<std::string, ComponentSpec> fed_;
  Acting acting_;
};

/// A live object as steps and templates see it: without managedFields.
inline Value shown(const Value& live) { return live.without_path({"metadata", "managedFields"}); }

}  // namespace slipway::delivery::application
