#include "cluster/process_runtime.h"

#include <algorithm>
#include <csignal>

#include "cluster/names.h"
#include "cluster/process_exec.h"
#include "cluster/process_report.h"

namespace slipway::cluster {

namespace {

constexpr Duration kFirstRunPause = std::chrono::milliseconds{20};
constexpr Duration kMaxPause = std::chrono::milliseconds{200};
/// How often what a pod waits for (a ConfigMap) is looked for.
constexpr Duration kConfigPause = std::chrono::seconds{1};
constexpr std::size_t kMaxStateBytes = std::size_t{1} << 20;

bool is_set(const ProcessId& process) { return process.pid != 0; }

}  // namespace

ProcessRuntime::ProcessRuntime(Env& env, client::Client& client, PodAddresses& addresses, Options options)
    : env_(env),
      client_(client),
      addresses_(addresses),
      options_(std::move(options)),
      paths_{options_.data_folder},
      tasks_(env),
      probes_(env,
              {options_.http, options_.dial,
               [this](kube::Object pod, server::ExecQuery query) { return exec(std::move(pod), std::move(query)); }},
              [this](const kube::ObjectKey& pod) {
                if (changed_) changed_(pod);
              }) {
  note_addresses();
}

void ProcessRuntime::note_addresses() {
  const auto uids = env_.files.exists(paths_.pods()) ? env_.files.list(paths_.pods()) : std::vector<std::string>{};
  if (!uids) return;
  for (const std::string& uid : *uids) {
    const std::string path = paths_.address(uid);
    const auto address = env_.files.exists(path) ? env_.files.read(path) : std::string();
    if (address) addresses_.keep(uid, *address);
  }
}

std::string ProcessRuntime::address_of(const std::string& uid) const {
  const std::string own = addresses_.find(uid);
  return own.empty() ? kNodeAddress : own;
}

Task<Result<PodReport>> ProcessRuntime::advance(kube::Object pod) {
  const std::string uid(kube::uid(pod));
  const Look seen = look(uid);
  if (seen.fate == PodFate::Finished || (seen.state && seen.state->phase == PodPhase::Lost))
    co_return report_of(pod, *seen.state, address_of(uid));
  if (seen.fate == PodFate::Supervised) co_return keep_watching(pod, seen);
  if (is_stopping_) co_return waiting_report(pod, "NodeShutdown");
  if (seen.fate == PodFate::NotStarted && !env_.files.exists(file_in(paths_.pod(uid), kPodManifestFile))) {
    entries_[uid].is_preparing = true;
    auto problem = co_await prepare(pod);
    entries_[uid].is_preparing = false;
    if (!problem) co_return fail(problem.error());
    if (*problem) co_return std::move(**problem);
    if (is_stopping_) co_return waiting_report(pod, "NodeShutdown");
  }
  SLIPWAY_CO_TRY_VOID(start_supervisor(uid, seen.fate));
  co_return keep_watching(pod, seen);
}

Task<Result<PodReport>> ProcessRuntime::stop(kube::Object pod, Duration grace) {
  const std::string uid(kube::uid(pod));
  const Look seen = look(uid);
  if (seen.fate == PodFate::Finished || (seen.state && seen.state->phase == PodPhase::Lost))
    co_return report_of(pod, *seen.state, address_of(uid));
  if (seen.fate == PodFate::NotStarted && !env_.files.exists(file_in(paths_.pod(uid), kPodManifestFile))) {
    co_return failed_report(pod, "Terminated", "the pod was deleted before it was started");
  }
  if (seen.fate == PodFate::Supervised) {
    SLIPWAY_CO_TRY_VOID(co_await terminate(uid, seen.state->supervisor, grace));
  } else {
    // It may just be starting: a supervisor that is started now tells how the pod stands, and ends what is left.
    SLIPWAY_CO_TRY_VOID(start_supervisor(uid, seen.fate));
  }
  co_return keep_watching(pod, seen);
}

/// Liveness is asked first: a supervisor writes its last state before it ends.
ProcessRuntime::Look ProcessRuntime::look(const std::string& uid) {
  Entry& entry = entries_[uid];
  auto before = read_state(uid, entry);
  const bool is_alive = before && *before && env_.processes.is_alive((*before)->supervisor);
  auto after = is_alive || !before ? std::move(before) : read_state(uid, entry);
  if (!after) return {PodFate::Lost, std::nullopt};  // torn, or not ours
  return {pod_fate(*after, is_alive), std::move(*after)};
}

Result<std::optional<PodState>> ProcessRuntime::read_state(const std::string& uid, Entry& entry) {
  const std::string path = file_in(paths_.pod(uid), kPodStateFile);
  if (!env_.files.exists(path)) return std::nullopt;
  SLIPWAY_TRY(text, env_.files.read_from(path, 0, kMaxStateBytes));
  if (text != entry.state) {
    entry.state = text;
    entry.pause = kFirstRunPause;
  }
  SLIPWAY_TRY(state, decode_state(text));
  return state;
}

/// Makes the folder. Gives a report when the pod cannot be started (yet).
Task<Result<std::optional<PodReport>>> ProcessRuntime::prepare(kube::Object pod) {
  SLIPWAY_CO_TRY(inputs, co_await fetch_inputs(pod));
  const std::string uid(kube::uid(pod));
  pod = pod.with_path({"status", "podIP"}, addresses_.take(uid));
  auto plan = plan_pod_folder(pod, inputs, paths_, options_.user);
  if (plan) {
    plan->manifest.wants_namespace = options_.wants_namespace;
    SLIPWAY_CO_TRY_VOID(co_await make_folder(uid, std::move(*plan)));
    co_return std::nullopt;
  }
  const PodProblem& problem = plan.error();
  // A pod that is to run always does not fail, as upstream: whoever keeps it would make the next one at once, without end.
  const bool may_fail = pod["spec"]["restartPolicy"].as_string() != "Always";
  if (problem.is_final && may_fail) co_return failed_report(pod, problem.reason, problem.message);
  PodReport report =
      waiting_report(pod, problem.is_final ? "CreateContainerError" : problem.reason, problem.message, problem.container);
  report.warning = problem.container.empty() ? PodWarning{"FailedMount", problem.message}
                                             : PodWarning{"Failed", "Error: " + problem.message};
  if (!problem.is_final) report.look_again = kConfigPause;
  co_return report;
}

Task<Result<PodInputs>> ProcessRuntime::fetch_inputs(kube::Object pod) {
  const PodReferences names = references_of(pod);
  PodInputs inputs;
  struct Wanted {
    const kube::Resource& resource;
    const std::vector<std::string>& names;
    std::map<std::string, kube::Object>& into;
  };
  const Wanted wanted[] = {{kConfigMaps, names.config_maps, inputs.config_maps},
                           {kSecrets, names.secrets, inputs.secrets},
                           {kClaims, names.claims, inputs.claims}};
  for (const Wanted& kind : wanted) {
    for (const std::string& name : kind.names) {
      auto found = co_await client::get(client_, kind.resource, {std::string(kube::ns(pod)), name});
      if (!found && found.error().reason != Reason::NotFound) co_return fail(found.error());
      if (found) kind.into.emplace(name, std::move(*found));
    }
  }
  co_return inputs;
}

/// The manifest comes last: a folder that has one is complete.
Task<Result<void>> ProcessRuntime::make_folder(std::string uid, PodFolderPlan plan) {
  std::string manifest = file_in(paths_.pod(uid), kPodManifestFile);
  co_return co_await on_disk([&files = env_.files, path = std::move(manifest), made = std::move(plan)]() -> Result<void> {
    for (const std::string& folder : made.folders) SLIPWAY_TRY_VOID(files.make_folders(folder));
    for (const PlannedFile& file : made.files) SLIPWAY_TRY_VOID(files.write(file.path, file.content, file.mode));
    return files.write(path, encode_manifest(made.manifest), 0600);
  });
}

Task<Result<void>> ProcessRuntime::on_disk(std::function<Result<void>()> work) {
  const auto outcome = std::make_shared<Result<void>>();
  co_await run_on(env_, env_.commits, [work = std::move(work), outcome] { *outcome = work(); });
  co_return *outcome;
}

Result<void> ProcessRuntime::start_supervisor(const std::string& uid, PodFate fate) {
  Entry& entry = entries_[uid];
  const std::string folder = paths_.pod(uid);
  if (is_set(entry.started)) {
    if (env_.processes.is_alive(entry.started)) return {};
    entry.started = {};
    if (fate == PodFate::NotStarted) {  // tried again after a back-off
      return fail(Reason::InternalError, "the pod supervisor ended at once; see " + folder + "/supervisor.log");
    }
  }
  ProcessSpec spec;
  spec.argv = options_.supervisor;
  spec.argv.push_back(folder);
  spec.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  spec.folder = folder;
  spec.output = folder + "/supervisor.log";
  SLIPWAY_TRY(process, env_.processes.start(std::move(spec)));
  entry.started = process;
  entry.pause = kFirstRunPause;
  return {};
}

Task<Result<void>> ProcessRuntime::terminate(std::string uid, ProcessId supervisor, Duration grace) {
  if (const Duration known = entries_[uid].grace; known >= Duration{0} && grace >= known) co_return Result<void>{};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(grace).count();
  SLIPWAY_CO_TRY_VOID(co_await on_disk([&files = env_.files, path = file_in(paths_.pod(uid), kPodGraceFile),
                                        text = std::to_string(seconds)] { return files.write(path, text, 0600); }));
  SLIPWAY_CO_TRY_VOID(env_.processes.signal(supervisor, SIGTERM));
  Entry& entry = entries_[uid];
  entry.grace = grace;
  entry.pause = kFirstRunPause;
  co_return Result<void>{};
}

/// The pod as its supervisor shows it, with the time of the next look: soon after a change, then ever later.
PodReport ProcessRuntime::keep_watching(const kube::Object& pod, const Look& seen) {
  const std::string uid(kube::uid(pod));
  Entry& entry = entries_[uid];
  const ProcessId supervisor = seen.fate == PodFate::Supervised ? seen.state->supervisor : entry.started;
  if (is_set(supervisor) && entry.watched != supervisor) {
    entry.watched = supervisor;
    tasks_.spawn(tell_end(kube::key_of(pod), supervisor));
  }
  PodReport report = seen.state ? report_of(pod, *seen.state, address_of(uid)) : waiting_report(pod, "ContainerCreating");
  entry.pause = std::clamp(entry.pause * 3 / 2, kFirstRunPause, kMaxPause);
  report.look_again = entry.pause;
  if (seen.state) probes_.judge(pod, *seen.state, address_of(uid), report);
  return report;
}

Task<> ProcessRuntime::tell_end(kube::ObjectKey key, ProcessId supervisor) {
  co_await env_.processes.wait_end(supervisor);
  if (changed_) changed_(key);
}

Task<Result<void>> ProcessRuntime::forget(std::string uid) {
  const Look seen = look(uid);
  if (seen.fate == PodFate::Supervised) SLIPWAY_CO_TRY_VOID(co_await terminate(uid, seen.state->supervisor, Duration{0}));
  const bool is_recorded = seen.state && is_final(seen.state->phase);
  // What may be left of it is not watched: a supervisor started now ends that.
  if (seen.fate == PodFate::Lost && !is_recorded) SLIPWAY_CO_TRY_VOID(start_supervisor(uid, seen.fate));
  const ProcessId supervisor = seen.fate == PodFate::Supervised ? seen.state->supervisor : entries_[uid].started;
  if (is_set(supervisor) && env_.processes.is_alive(supervisor)) {
    if (seen.fate == PodFate::NotStarted) SLIPWAY_CO_TRY_VOID(co_await terminate(uid, supervisor, Duration{0}));
    co_await env_.processes.wait_end(supervisor);
  }
  SLIPWAY_CO_TRY_VOID(env_.files.remove_all(paths_.pod(uid)));
  addresses_.release(uid);
  probes_.forget(uid);
  entries_.erase(uid);
  co_return Result<void>{};
}

Task<Result<void>> ProcessRuntime::forget_all_but(std::set<std::string> uids) {
  if (!env_.files.exists(paths_.pods())) co_return Result<void>{};
  SLIPWAY_CO_TRY(folders, env_.files.list(paths_.pods()));
  const std::vector<std::string> found = folders;
  for (const std::string& uid : found) {
    if (!uids.contains(uid)) SLIPWAY_CO_TRY_VOID(co_await forget(uid));
  }
  co_return Result<void>{};
}

Task<Result<std::string>> ProcessRuntime::logs(kube::Object pod, server::LogQuery query) {
  const json::Value& containers = pod["spec"]["containers"];
  std::string container = query.container;
  if (container.empty() && containers.size() != 1) {
    co_return fail(Reason::BadRequest, fmt::format("a container name must be specified for pod {}", kube::name(pod)));
  }
  if (container.empty()) container = containers.item(0)["name"].str();
  co_return env_.files.read_from(paths_.log(kube::uid(pod), container), query.offset, query.limit);
}

Task<Result<std::string>> ProcessRuntime::log_times(kube::Object pod, server::LogQuery query) {
  const std::string path = paths_.log_times(kube::uid(pod), query.container);
  if (!env_.files.exists(path)) co_return std::string();
  co_return env_.files.read_from(path, query.offset, query.limit);
}

Task<Result<std::unique_ptr<server::PodExec>>> ProcessRuntime::exec(kube::Object pod, server::ExecQuery query) {
  const std::string folder = paths_.pod(kube::uid(pod));
  const std::string own = fmt::format("{}/exec/{}", folder, uuid(env_.random));
  co_return co_await start_exec(
      env_, {.pod_folder = folder, .folder = own, .supervisor = options_.supervisor, .query = std::move(query)});
}

Task<Result<std::unique_ptr<server::PodExec>>> ProcessRuntime::attach(kube::Object pod, server::ExecQuery query) {
  const std::string_view uid = kube::uid(pod);
  AttachPlan plan{.pod_folder = paths_.pod(uid), .log = paths_.log(uid, query.container), .input = "", .query = query};
  for (const json::Value& container : pod["spec"]["containers"].items()) {
    if (container["name"].as_string() != query.container || !query.has_input || !container["stdin"].as_bool()) continue;
    plan.input = paths_.input(uid, query.container);
    plan.ends_input = container["stdinOnce"].as_bool();
  }
  co_return start_attach(env_, std::move(plan));
}

Task<> ProcessRuntime::stop_all(Duration grace) {
  is_stopping_ = true;
  std::vector<std::string> uids;
  for (const auto& [uid, entry] : entries_) uids.push_back(uid);
  std::vector<ProcessId> ending;
  for (const std::string& uid : uids) {
    const Look seen = look(uid);
    if (seen.fate != PodFate::Supervised) continue;
    if (const auto told = co_await terminate(uid, seen.state->supervisor, grace); !told) {
      env_.log.warn("a pod could not be stopped", {{"pod", uid}, {"error", told.error().message}});
      continue;
    }
    ending.push_back(seen.state->supervisor);
  }
  for (const ProcessId supervisor : ending) co_await env_.processes.wait_end(supervisor);
}

bool ProcessRuntime::uses_claims(const kube::Object& pod) const {
  const std::string uid(kube::uid(pod));
  const auto entry = entries_.find(uid);
  const bool is_preparing = entry != entries_.end() && entry->second.is_preparing;
  return is_preparing || env_.files.exists(file_in(paths_.pod(uid), kPodManifestFile));
}

Result<void> ProcessRuntime::release_claim(const kube::ObjectKey& claim) {
  return env_.files.remove_all(paths_.claim(claim.ns, claim.name));
}

}  // namespace slipway::cluster
