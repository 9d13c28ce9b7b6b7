// What a template may ask for: a struct with `#do` (and `#provider`) names a row here. A row is one function from the call's
// parameters to an answer; the engine (and rendering) evaluates the template, runs the first call that has not run, fills the
// answer in at the call's place and evaluates again. No value of an evaluation is held while a provider runs.
//
// Two styles of one function: `vela/op` has parameters and results side by side in the struct, `vela/<package>` under
// `$params` and `$returns`. A provider sees the same `params` and gives the same `returns` either way.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/http_client.h"
#include "base/wall_steps.h"
#include "client/client.h"
#include "control/controller.h"
#include "delivery/workflow/run_status.h"
#include "delivery/workflow/step.h"

namespace slipway::delivery::workflow {

/// What an evaluation belongs to. Outlives the call.
struct CallSetting {
  Env& env;
  HttpClient* http = nullptr;  // null: calls of foreign servers fail
  /// The clusters as the identity of the run: "" and "local" are the hub.
  std::function<Result<client::Client*>(const std::string& cluster)> on;
  /// The clusters as who may learn which kinds they serve; empty: `on`.
  std::function<Result<client::Client*>(const std::string& cluster)> discover{};
  /// Called with an object of a namespace before what it holds is carried out: another user than the run's author may have
  /// written it. Empty: no one asks.
  std::function<void(const Value& object)> uses{};
  std::string manager;        // field manager of writes: "slipway-workflow"
  Value owner;                // the Application or WorkflowRun
  Value labels;               // to put on every object that is applied
  Value context;              // `context` of the evaluation
  WallSteps* wall = nullptr;  // null: the wall clock is never set

  Now now() const { return wall != nullptr ? wall->now() : Now(env.clock.now()); }
};

/// What the engine keeps for a run besides its status, in the ConfigMap of its context. The host loads it before a pass and
/// writes it, when it has changed, before the status. What was made from a Secret is named in `secret_…`: it must not stand in
/// the ConfigMap, nor anywhere else where not only those may read it who may read Secrets.
struct RunStore {
  Value vars = json::object({});             // outputs of steps and exports, by name
  std::map<std::string, std::string> notes;  // journal, resume times: "<step id>.<path>" → text
  std::set<std::string> secret_vars;         // names in `vars`
  std::set<std::string> secret_notes;        // keys of `notes`
  bool has_changed = false;

  /// Whether the variable that a path begins with was made from a Secret.
  bool is_secret(std::string_view path) const;
  void mark(const std::string& path, bool is_secret);
  /// Without what was made from Secrets.
  Value open_vars() const;
};

/// Notes "component-patch.<component>": JSON that steps want merged into what a component renders.
inline constexpr std::string_view kComponentPatch = "component-patch.";

struct ProviderCall {
  const CallSetting& setting;
  Value params;      // what is concrete of the parameters
  std::string path;  // of the call within the step's value: with the step id it identifies the call for ever
  // Within a step; null for component and trait templates.
  const Step* step = nullptr;
  const SubStepStatus* status = nullptr;  // as it stood before this pass
  std::string step_id{};
  RunStore* store = nullptr;
  /// The step has read a Secret, or what was made from one: so is what it keeps.
  bool is_secret = false;
  /// `base` with the call's `patch` applied, by the comments in the template. Null where there are no steps.
  std::function<Task<Result<Value>>(Value base)> patched{};
};

/// How a call ended.
struct Answer {
  enum class Kind : std::uint8_t {
    Done,     // `returns` is filled in, evaluation goes on
    Wait,     // running/Wait with `message`
    Suspend,  // suspending with `message`, until resumed or `until`
    Fail,     // failed/Action, the run terminates
    Break,    // succeeded/Terminate, the run terminates
    Error,    // failed/Execute, to be retried
  };
  Kind kind = Kind::Done;
  Value returns{};
  std::string message{};
  std::optional<Time> since{};  // with `until`: when the time began
  std::optional<Time> until{};
  std::optional<ResourceRef> resource{};  // the object it made or watches
  /// Objects whose change wakes a waiting step at once.
  std::vector<ResourceRef> watched{};
  /// It holds what was read from a Secret.
  bool is_secret = false;
  /// Where not all of `returns` is secret, what is: its texts are not shown. Null: all of it.
  Value secret_part{};

  static Answer done(Value returns = {}) { return {.kind = Kind::Done, .returns = std::move(returns)}; }
  static Answer wait(std::string message) { return {.kind = Kind::Wait, .message = std::move(message)}; }
  static Answer error(std::string message) { return {.kind = Kind::Error, .message = std::move(message)}; }
  /// What an API server answered. One that cannot be reached, or has no time, says nothing about the step: that is waited out
  /// and uses up no retries.
  static Answer error(const Status& status) { return is_passing(status) ? wait(status.message) : error(status.message); }
  static bool is_passing(const Status& status);
};

using ProviderFunction = std::function<Task<Answer>(ProviderCall call)>;

/// One row. `params` are the names that belong to the parameters in flat style; everything else there is result.
struct Provider {
  std::string package;   // `#provider`: "kube"; flat style knows functions only
  std::string function;  // `#do`: "apply"
  std::vector<std::string> params;
  ProviderFunction run;
  /// The function's name in flat style where it differs: "read-config"; "-" when there is none.
  std::string flat_function{};
  /// Parameters without a value yet are left out; otherwise they fail the step.
  bool takes_incomplete = false;
  /// In flat style every field is a parameter.
  bool takes_all = false;
  /// It has a parameter `patch` that it applies through ProviderCall::patched: only whether it is there is told.
  bool patches = false;
  /// The effect cannot be repeated harmlessly: once done, the answer is kept and given again until the step has finished.
  std::function<bool(const Value& params)> is_once{};
};

class Providers {
 public:
  /// `more` holds the rows that are looked at after the own ones; outlives this.
  explicit Providers(const Providers* more = nullptr) : more_(more) {}
  void add(std::vector<Provider> rows);
  /// Flat calls have no provider, or "op", or "ql" for "query". Null when there is no such function.
  const Provider* find(std::string_view package, std::string_view function) const;
  static bool is_flat(std::string_view package) { return package.empty() || package == "op" || package == "ql"; }

 private:
  std::vector<Provider> rows_;
  const Providers* more_;
};

/// kube, http, builtin, util, time, config, metrics, email, helm: what every run has. The application family adds its own.
std::vector<Provider> standard_providers();
std::vector<Provider> kube_providers();
std::vector<Provider> http_providers();
std::vector<Provider> control_providers();  // builtin: wait, suspend, break, fail, message, var
std::vector<Provider> util_providers();     // util, base64, cue, time
std::vector<Provider> config_providers();
std::vector<Provider> config_check_providers();  // config: whether registries take credentials
std::vector<Provider> email_providers();
std::vector<Provider> helm_providers();
std::vector<Provider> metrics_providers();

}  // namespace slipway::delivery::workflow
