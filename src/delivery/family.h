// A family is a set of kinds that belong together, and this struct is all that the rest of Slipway knows of it. A room below
// delivery/ fills one Family and exports it as `const Family& family()`; `kFamilies` in plane/families.cc lists them. Server,
// controllers, command line, simulator, roles, snapshots, shell completion and garbage collection read that list, so that a
// family is added without naming its kinds anywhere else. Kinds are told apart by group and kind: two families may have kinds
// of the same name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/http_client.h"
#include "client/client.h"
#include "client/served.h"
#include "control/cluster_registry.h"
#include "control/controller.h"
#include "control/explain.h"
#include "delivery/family/identity.h"
#include "kube/admission.h"

namespace slipway::delivery {

/// How an object ended.
struct Verdict {
  bool is_success = false;
  std::string text;  // "Complete", "Failed (StepFailed): step b failed"
};
/// The verdict that a condition gives which ends an object: success for Complete, in the condition's own words.
Verdict ended_by(const json::Value& condition);

/// A line that a delivery prints while it runs, without the time and the object's name.
struct News {
  std::string part{};  // which part of the object it is about, e.g. a step; empty: the whole
  std::string text;
  /// Says how far it is, not what has happened: at most one a second is printed.
  bool is_progress = false;
};

/// An option of a command: `--NAME VALUE`. A flag takes no value and is given as "true"; of one that is repeated the values
/// are the lines of one text.
struct CommandOption {
  std::string name;
  std::string help;
  bool is_flag = false;
  bool is_repeated = false;
};

/// What a command prints, and how the process ends.
struct CommandAnswer {
  std::string text{};                // standard output
  std::vector<std::string> notes{};  // standard error, a line each
  int exit_code = 0;
  /// Of an action: the object is now on its way, and with a data folder the command line follows it to its end.
  bool follows = false;
};

/// What an action was asked to do.
struct ActionCall {
  Env& env;
  client::Client& client;
  kube::Resource resource;
  kube::ObjectKey key;
  std::string part;                            // KIND/NAME/PART; may be empty
  std::map<std::string, std::string> options;  // those that were given, by name
  /// Prints at once, before the answer. False: it was interrupted, and is to end. May be empty.
  std::function<bool(const std::string& text)> say{};
};

/// A verb that the command line offers for objects of a kind: `slipway VERB KIND/NAME`. Families may offer the same verb for
/// kinds of theirs.
struct Action {
  std::string verb;  // one word or two: "rerun", "workflow suspend"
  std::string help;
  std::vector<CommandOption> options{};
  /// It is found by the object's kind, so it need not check that.
  std::function<Task<Result<CommandAnswer>>(ActionCall call)> run;
  bool only_reads = false;
  /// `slipway VERB NAME` means an object of this kind, or of another one that takes bare names and has such an object.
  bool takes_bare_name = false;
};

/// An object out of a file, as it was written.
struct SourceObject {
  kube::Object object;
  std::string source;  // "release.yaml:12": where it begins
  /// "release.yaml:17" for a member of it ("spec.components[0].type"), or the nearest one around that is there. May be empty.
  std::function<std::string(const std::string& path)> place{};

  std::string at(const std::string& path) const { return place ? place(path) : source; }
};

/// A form of files, beside YAML and JSON, that objects are written in.
struct SourceForm {
  std::string extension;  // ".cue"
  std::function<Result<kube::Object>(const std::string& file, const std::string& text)> read;
};

/// What a command of a family was asked to do.
struct CommandCall {
  Env& env;
  client::Client* client = nullptr;  // null where no cluster is needed and none was named
  std::string ns;
  std::vector<std::string> words;     // beside the options
  std::vector<SourceObject> objects;  // of the files given with -f, namespaces as written
  std::map<std::string, std::string> options;
  HttpClient* http = nullptr;  // of commands that call out; null where there is none
};

/// A verb of a family that is not about one object that is there: `slipway render -f FILE`, `slipway def vet FILE`.
struct Command {
  /// Whether it works on a cluster: never, on one that was named, or always.
  enum class Cluster : std::uint8_t { Never, IfNamed, Always };
  /// What it may be given beside options.
  enum class Input : std::uint8_t { Files, Words, None };

  std::string verb;  // one word or two
  std::string help;
  Cluster cluster = Cluster::Never;
  Input input = Input::Files;
  std::string words_name{};  // of Input::Words, for the help: "FILE"
  std::string words_help{};
  std::vector<CommandOption> options{};
  std::function<Task<Result<CommandAnswer>>(CommandCall call)> run;
  bool only_reads = true;
  bool calls_out = false;  // it speaks HTTP to others than clusters
};

/// An object that another one made, in whatever cluster.
struct MadeObject {
  std::string cluster;    // empty: the object's own
  json::Value reference;  // {apiVersion, kind, namespace, name}
};

/// Why an object does not go on by itself.
struct Hold {
  std::string text;    // "step approve waits for a person"
  std::string action;  // the verb that lets it go on: "workflow resume"
};

/// How objects of one kind are judged and shown. Every function may be empty: the command line then shows the object as YAML.
/// All but actions and `why` are pure.
struct KindRow {
  std::string group;
  std::string kind;
  /// Whether the object has ended; nullopt while it is under way. Empty: objects of the kind have no end to wait for.
  std::function<std::optional<Verdict>(const kube::Object& object)> verdict{};
  /// What is to be told about a change; `before` is null for an object that appeared. The end is told by `verdict`.
  std::function<std::vector<News>(const kube::Object& before, const kube::Object& after)> news{};
  /// One line, and a table below it where that helps: what a live display redraws. Ends in a line end.
  std::function<std::string(const kube::Object& object, const control::View& view)> summary{};
  /// The whole object for a person. `events` are those about the object.
  std::function<std::string(const kube::Object& object, const control::View& view, const std::vector<kube::Object>& events)>
      describe{};
  /// Whether the object has such a part (a step), for kinds with parts that can be named: KIND/NAME/PART.
  std::function<bool(const kube::Object& object, const std::string& part)> has_part{};
  /// Whether an object that is owned by one of this kind was made for that part.
  std::function<bool(const kube::Object& owned, const std::string& part)> is_of_part{};
  /// The objects that it made and that no owner reference tells of; in the order to show.
  std::function<std::vector<MadeObject>(const kube::Object& object)> made{};
  /// What `why` prints, where a view does not have all that it takes; `call` has the cluster, `part` may be empty. Empty: the
  /// explain rows over a view.
  std::function<Task<Result<std::string>>(CommandCall call, kube::Object object, std::string part)> why{};
  /// Nullopt while it goes on by itself.
  std::function<std::optional<Hold>(const kube::Object& object)> hold{};
  std::vector<Action> actions{};
};

/// What controllers are made with. Everything outlives them.
struct ControllerContext {
  Env& env;
  /// For templates and steps that call foreign servers; null: they get an error.
  HttpClient* http = nullptr;
  /// Where clusters go that objects of the hub describe; null: such clusters stay unknown.
  control::ClusterRegistry* clusters = nullptr;
  ActsAs acts_as = ActsAs::User;
  /// Built-in definitions become objects of the cluster, and the definitions there get revisions and schemas.
  bool keeps_definitions = false;
  /// What was given of the `controller_options` of all families, by name.
  std::map<std::string, std::string> options{};
};

/// What admission does about faults of what users deliver that go beyond the schema: it refuses the object, or accepts it and
/// warns. The controller tells the same faults in conditions.
enum class OnFault : std::uint8_t { Refuse, Warn };

/// What the API server would refuse an object of a built-in kind for when it is created, whole and by itself; pure.
using CreateCheck = std::function<std::vector<Cause>(const kube::Object& object)>;
/// A plan of a rollout that an object of another kind carries for a rollout that it makes.
struct PlanEdit {
  std::string ns;
  std::string name;                // of the rollout
  bool is_of_application = false;  // it rolls out revisions of an application, else those of a component
  std::string revision;            // of an application: the one that is rolled out by it; empty: none yet
  json::Value plan;                // of a component: the fields that say something
  bool goes_on = false;            // the rollout keeps its target; else the plan is one for a new one
};
/// What a rollout refuses of such a plan by its own rules, those for what is under way included; fields are paths below the
/// plan.
using CheckPlan = std::function<std::vector<Cause>(const PlanEdit& edit, const kube::FindObject& find)>;

/// What plane offers to the rows of admission.
struct AdmissionContext {
  std::function<CreateCheck(const kube::GroupVersionKind& kind)> create_check;
  OnFault on_fault = OnFault::Refuse;
  /// As ControllerContext::options.
  std::map<std::string, std::string> options{};
  /// Of the family that rolls out; may be empty.
  CheckPlan check_plan{};
};

/// An object that the family keeps in a cluster beside the hub.
struct Holding {
  std::string owner;   // "namespace/name" of the family's object
  std::string object;  // "Deployment default/web"

  auto operator<=>(const Holding&) const = default;
};

struct Family {
  /// As its room is called: "jobflow".
  std::string name;
  /// API groups whose kinds are all the family's own: the roles admin, edit and view get rights on them.
  std::vector<std::string> groups{};
  /// API groups whose objects are a person's word or order, such as an approval: admin gets rights on them, edit and view may
  /// only read. Who else may write which of them is said by roles that people make.
  std::vector<std::string> guarded_groups{};
  /// CustomResourceDefinition objects (apiextensions.k8s.io/v1), without status. Their objects are stored by the server.
  std::vector<json::Value> definitions{};
  /// Kinds of which the server stores nothing: functions answer for them.
  std::vector<client::AnsweredKind> answered{};
  std::vector<client::UnservedVersion> unserved{};
  /// Paths beside the API, such as webhooks: made once by each process that serves them, for all of its clusters.
  std::function<std::vector<client::HttpPath>()> paths{};
  /// Kinds of others that explain rows and descriptions look at, beside those that have explain rows.
  std::vector<kube::GroupVersionKind> follows{};
  std::function<std::vector<kube::AdmissionRow>(const AdmissionContext& context)> admission{};
  /// The kinds of which admission records the author.
  std::optional<AuthoredKinds> authored{};
  /// Of the family whose kinds have plans; pure. May be empty.
  CheckPlan check_plan{};
  /// Rows for the family's own kinds; they keep nothing between walks.
  std::function<std::vector<control::ExplainRow>()> explain{};
  std::function<std::vector<std::unique_ptr<control::Controller>>(const ControllerContext& context)> controllers{};
  std::vector<KindRow> kinds{};
  /// What the family's objects on a hub keep in another cluster, in order. Empty: nothing ever.
  std::function<Task<Result<std::vector<Holding>>>(client::Client& hub, std::string cluster)> held_in{};
  /// Counts all that as gone: nothing waits for it any more. Conflict: to be called again.
  std::function<Task<Result<void>>(client::Client& hub, std::string cluster)> forget_cluster{};
  /// Own kinds whose objects others of the same files may name: the command line applies them before those.
  std::vector<kube::GroupVersionKind> named_by_others{};
  std::vector<Command> commands{};
  std::vector<SourceForm> source_forms{};
  /// Of the commands that run controllers (run, up, controller).
  std::vector<CommandOption> controller_options{};
  /// Errors: BadRequest, which names an option of its own that has a wrong value.
  std::function<Result<void>(const std::map<std::string, std::string>& options)> check_options{};
};

}  // namespace slipway::delivery
