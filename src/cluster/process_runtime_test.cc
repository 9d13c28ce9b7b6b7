#include "cluster/process_runtime.h"

#include <csignal>

#include "cluster/job_plan.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

/// Supervisors on paper: the test says what they record. They live on when Slipway is restarted.
class PaperSupervisors : public Processes {
 public:
  struct Supervisor {
    ProcessId id;
    std::string folder;
    bool is_alive = true;
    int last_signal = 0;
  };

  Result<ProcessId> start(ProcessSpec spec) override {
    const ProcessId id{static_cast<std::int64_t>(started.size()) + 1, 7};
    started.push_back({id, spec.argv.back()});
    return id;
  }
  bool is_alive(ProcessId process) override { return started[static_cast<std::size_t>(process.pid - 1)].is_alive; }
  Result<void> signal(ProcessId process, int number) override {
    started[static_cast<std::size_t>(process.pid - 1)].last_signal = number;
    return {};
  }
  Task<> wait_end(ProcessId process) override {
    while (is_alive(process)) co_await changed->wait();
  }

  std::vector<Supervisor> started;
  std::unique_ptr<Signal> changed;
};

/// Runs work inline, and knows whether it is at it.
class WatchedLane : public Lane {
 public:
  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override {
    is_working = true;
    work();
    is_working = false;
    queue->post(std::move(done));
  }

  RunQueue* queue = nullptr;
  bool is_working = false;
};

/// Files in memory; writes that are not on the lane, and would keep the logic thread waiting for the disk, are counted.
class WatchedFiles : public Files {
 public:
  explicit WatchedFiles(const WatchedLane& lane) : lane_(lane) {}
  Result<std::string> read(const std::string& path) override { return files->read(path); }
  Result<std::string> read_from(const std::string& path, std::uint64_t offset, std::size_t limit) override {
    return files->read_from(path, offset, limit);
  }
  Result<void> write(const std::string& path, std::string_view content, unsigned mode) override {
    if (!lane_.is_working) elsewhere.push_back(path);
    return files->write(path, content, mode);
  }
  Result<void> make_folders(const std::string& path) override { return files->make_folders(path); }
  Result<void> symlink(const std::string& target, const std::string& path) override { return files->symlink(target, path); }
  Result<void> remove_all(const std::string& path) override { return files->remove_all(path); }
  bool exists(const std::string& path) override { return files->exists(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return files->list(path); }

  Files* files = nullptr;
  std::vector<std::string> elsewhere;

 private:
  const WatchedLane& lane_;
};

/// Answers every call as the test says, and keeps its URL.
class PaperHttp : public HttpClient {
 public:
  Task<Result<http::Response>> send(HttpCall call) override {
    urls.push_back(std::move(call.url));
    if (status == 0) co_return fail(Reason::ServiceUnavailable, "connection refused");
    co_return http::Response{.status = status};
  }

  int status = 200;
  std::vector<std::string> urls;
};

struct Stage {
  PaperSupervisors processes;
  WatchedLane lane;
  WatchedFiles watched{lane};
};

class ProcessTest : private Stage, public ClusterTest {
 protected:
  ProcessTest() : ClusterTest(&processes, &lane, &watched) {
    lane.queue = &env_.queue();
    watched.files = &env_.files();
    processes.changed = std::make_unique<Signal>(env_.env());
    make_pods_ = [this](ClusterTest&) {
      auto runtime = std::make_unique<ProcessRuntime>(
          env_, *server_, addresses_,
          ProcessRuntime::Options{.data_folder = "/data",
                                  .supervisor = {"slipway", "pod-supervisor"},
                                  .user = user_,
                                  .http = &http_,
                                  .dial = [this](std::string, std::uint16_t port, Duration) { return dial(port); }});
      runtime_of_pods_ = runtime.get();
      return runtime;
    };
  }
  ~ProcessTest() override { stop(); }
  void SetUp() override { start(); }
  Task<Result<void>> dial(std::uint16_t port) {
    if (port == open_port_) co_return Result<void>{};
    co_return fail(Reason::ServiceUnavailable, "connection refused");
  }
  void TearDown() override { EXPECT_EQ(watched.elsewhere, std::vector<std::string>{}) << "synced on the logic thread"; }

  std::vector<PaperSupervisors::Supervisor>& started() { return processes.started; }
  PodManifest manifest(std::size_t which = 0) {
    return decode_manifest(env_.files().read(started().at(which).folder + "/manifest").value()).value();
  }
  /// The supervisor records how its containers stand.
  void record(std::size_t which, PodPhase phase, std::int32_t exit_code = 0, bool is_stopping = false,
              const std::string& reason = "") {
    auto& supervisor = started().at(which);
    PodState state;
    state.supervisor = supervisor.id;
    state.phase = phase;
    state.is_stopping = is_stopping;
    state.reason = reason;
    PodContainerState main;
    main.name = "main";
    main.process = run_;
    main.phase = is_final(phase) ? PodContainerPhase::Terminated : PodContainerPhase::Running;
    main.started_us = 1'767'225'600'000'000;
    main.exit = {exit_code, 0, main.started_us, main.started_us + 5, exit_code == 0 ? "Completed" : "Error", ""};
    state.containers.push_back(main);
    ASSERT_TRUE(env_.files().write(supervisor.folder + "/state", encode_state(state), 0600));
    if (is_final(phase)) end(which);
  }
  void end(std::size_t which) {
    started().at(which).is_alive = false;
    processes.changed->notify();
  }
  json::Value pod(std::size_t which = 0) {
    const auto pods = list(kPods);
    return which < pods.size() ? pods[which] : json::Value();
  }
  /// Another run of the container begins: a process of its own.
  std::size_t begin_run(std::size_t which) {
    run_ = processes.start({.argv = {"container"}, .env = {}, .folder = "", .output = ""}).value();
    record(which, PodPhase::Running);
    return started().size() - 1;
  }
  bool is_ready() { return kube::is_true(pod(), "Ready"); }
  std::string phase() { return pod()["status"]["phase"].str(); }
  /// "<reason>: <message>" of every Warning event.
  std::vector<std::string> warnings() {
    std::vector<std::string> texts;
    for (const json::Value& event : list({"", "v1", "events"})) {
      if (event["type"].as_string() != "Warning") continue;
      texts.push_back(fmt::format("{}: {}", event["reason"].as_string(), event["message"].as_string()));
    }
    return texts;
  }
  void make_pod(const std::string& container, const std::string& more = "") {
    make(kPods, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: default, labels: {{app: demo}}}}, "
                            "spec: {{restartPolicy: Never, {} containers: [{{name: main, image: any, {}}}]}}}}",
                            more, container));
    advance(seconds{1});
  }

  /// Slipway runs as another user from now on.
  void run_as(std::int64_t uid, std::int64_t gid) {
    user_ = {.uid = uid, .gid = gid};
    restart();
  }
  std::string refusal() {
    EXPECT_TRUE(started().empty());
    EXPECT_EQ(phase(), "Failed");
    return pod()["status"]["message"].str();
  }

  ProcessUser user_;
  PaperHttp http_;
  std::uint16_t open_port_ = 0;
  ProcessId run_{};
  PodAddresses addresses_{127};
  ProcessRuntime* runtime_of_pods_ = nullptr;
};

TEST_F(ProcessTest, runs_a_job_through_a_supervisor) {
  make(kJobs, job_yaml("work"));
  advance(seconds{1});
  ASSERT_EQ(started().size(), 1U);
  EXPECT_EQ(phase(), "Pending");
  record(0, PodPhase::Running);
  advance(seconds{1});
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(get(kJobs, "work")["status"]["ready"].as_int(), 1);
  record(0, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_EQ(phase(), "Succeeded");
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
  EXPECT_EQ(started().size(), 1U);
}

TEST_F(ProcessTest, reports_exit_codes_and_exact_times) {
  make_pod("command: [run]");
  record(0, PodPhase::Failed, 3);
  advance(seconds{1});
  EXPECT_EQ(phase(), "Failed");
  const auto ended = pod()["status"]["containerStatuses"].item(0)["state"]["terminated"];
  EXPECT_EQ(ended["exitCode"].as_int(), 3);
  EXPECT_EQ(ended["reason"].as_string(), "Error");
  EXPECT_EQ(ended["finishedAt"].as_string(), "2026-01-01T00:00:00.000005Z");
  EXPECT_FALSE(kube::is_true(pod(), kDisruptionTarget));
}

TEST_F(ProcessTest, says_once_that_images_are_ignored) {
  make_pod("command: [run]");
  advance(seconds{10});
  const auto events = list({"", "v1", "events"});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["reason"].as_string(), "ImageIgnored");
}

TEST_F(ProcessTest, builds_command_line_and_environment) {
  make(kConfigMaps,
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}, data: {COLOUR: red, SIZE: big}}");
  make(kSecrets, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}, data: {key: c2VjcmV0}}");
  make_pod(R"x(command: [run, "$(GREETING)", "$(NOBODY)", "$$(GREETING)"], args: [last], workingDir: /w,
    envFrom: [{prefix: C_, configMapRef: {name: c}}],
    env: [{name: WHO, value: world}, {name: GREETING, value: "hello $(WHO)"},
      {name: KEY, valueFrom: {secretKeyRef: {name: s, key: key}}},
      {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}},
      {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
      {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},
      {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}},
      {name: NONE, valueFrom: {configMapKeyRef: {name: absent, key: k, optional: true}}}])x");
  ASSERT_EQ(started().size(), 1U);
  const PodContainer main = manifest().containers.at(0);
  EXPECT_EQ(main.argv, (std::vector<std::string>{"run", "hello world", "$(NOBODY)", "$(GREETING)", "last"}));
  EXPECT_EQ(main.folder, "/w");
  const std::vector<std::string> tail(main.env.begin() + 3, main.env.end());
  EXPECT_EQ(tail, (std::vector<std::string>{"C_COLOUR=red", "C_SIZE=big", "WHO=world", "GREETING=hello world", "KEY=secret",
                                            "APP=demo", "NAME=p", "NODE=local", "HOST_IP=127.0.0.1"}));
}

/// The address that containers see in their environment is the one in status.podIP.
TEST_F(ProcessTest, gives_each_pod_an_address_of_its_own_that_a_restart_leaves_alone) {
  const auto told = [this](std::size_t which) { return manifest(which).containers.at(0).env.back(); };
  const std::string container =
      "{name: main, image: any, command: [run], "
      "env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]}";
  for (const char* name : {"a", "b"}) {
    make(kPods, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: default}}, "
                            "spec: {{containers: [{}]}}}}",
                            name, container));
    advance(seconds{1});
  }
  record(0, PodPhase::Running);
  record(1, PodPhase::Running);
  advance(seconds{1});
  const std::string first = get(kPods, "a")["status"]["podIP"].str();
  const std::string second = get(kPods, "b")["status"]["podIP"].str();
  EXPECT_NE(first, second);
  EXPECT_NE(first, kNodeAddress);
  EXPECT_EQ(told(0), "IP=" + first);
  EXPECT_EQ(told(1), "IP=" + second);
  EXPECT_EQ(get(kPods, "a")["status"]["podIPs"].item(0)["ip"].as_string(), first);
  EXPECT_EQ(get(kPods, "a")["status"]["hostIP"].as_string(), kNodeAddress);

  addresses_ = PodAddresses(127);  // as a new process has it
  restart();
  advance(seconds{1});
  EXPECT_EQ(addresses_.find(std::string(kube::uid(get(kPods, "a")))), first);
  EXPECT_EQ(get(kPods, "a")["status"]["podIP"].as_string(), first);
}

TEST_F(ProcessTest, makes_volumes_and_those_of_config_maps_read_only) {
  make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}, data: {a.txt: A, b.txt: B}}");
  make(kClaims, R"({apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: shared, namespace: default},
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}})");
  make_pod(R"(command: [run], volumeMounts: [{name: config, mountPath: /config},
      {name: config, mountPath: /etc/one, subPath: renamed}, {name: scratch, mountPath: /scratch},
      {name: shared, mountPath: /shared, subPath: deep/er}])",
           "volumes: [{name: config, configMap: {name: c, items: [{key: a.txt, path: renamed, mode: 256}]}}, "
           "{name: scratch, emptyDir: {}}, {name: shared, persistentVolumeClaim: {claimName: shared}}],");
  ASSERT_EQ(started().size(), 1U);
  const std::string folder = started()[0].folder;
  const auto mounts = manifest().containers.at(0).mounts;
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(mounts[0], (PodMount{folder + "/volumes/config", "/config", true}));
  EXPECT_EQ(mounts[1], (PodMount{folder + "/volumes/config/renamed", "/etc/one", true}));
  EXPECT_EQ(mounts[2], (PodMount{folder + "/volumes/scratch", "/scratch", false}));
  EXPECT_EQ(mounts[3], (PodMount{"/data/volumes/default/shared/deep/er", "/shared", false}));
  EXPECT_EQ(env_.files().read(folder + "/volumes/config/renamed").value(), "A");
  EXPECT_EQ(env_.files().mode(folder + "/volumes/config/renamed"), 0400U);
  EXPECT_TRUE(env_.files().exists(mounts[3].source));
}

TEST_F(ProcessTest, removes_the_folder_of_a_claim_once_the_pod_that_was_started_with_it_has_ended) {
  const auto make_claim = [this] {
    make(kClaims, R"({apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: shared, namespace: default},
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}})");
  };
  const std::string volume = "volumes: [{name: shared, persistentVolumeClaim: {claimName: shared}}],";
  const std::string file = "/data/volumes/default/shared/old";
  make_claim();
  make_pod("command: [run]", volume);
  ASSERT_TRUE(env_.files().write(file, "old", 0644));
  record(0, PodPhase::Running);
  remove(kClaims, "shared");
  make(kPods, "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {" + volume +
                  "containers: [{name: main, image: x, command: [run]}]}}");
  advance(seconds{10});
  EXPECT_TRUE(env_.files().exists(file));
  EXPECT_EQ(started().size(), 1U) << "nothing starts with a claim that is being deleted";
  record(0, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_TRUE(get(kClaims, "shared").is_null()) << "a pod that waits does not hold it";
  EXPECT_FALSE(env_.files().exists(file));
  make_claim();
  advance(seconds{2});
  EXPECT_EQ(started().size(), 2U);
  EXPECT_FALSE(env_.files().exists(file));
}

TEST_F(ProcessTest, waits_for_a_config_map_that_is_missing) {
  make_pod("command: [run], envFrom: [{configMapRef: {name: c}}]");
  EXPECT_TRUE(started().empty());
  EXPECT_EQ(phase(), "Pending");
  const auto waiting = pod()["status"]["containerStatuses"].item(0)["state"]["waiting"];
  EXPECT_EQ(waiting["reason"].as_string(), "CreateContainerConfigError");
  EXPECT_EQ(waiting["message"].as_string(), "configmap \"c\" not found");
  advance(seconds{10});
  EXPECT_EQ(warnings(), (std::vector<std::string>{"Failed: Error: configmap \"c\" not found"}));
  make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}, data: {A: b}}");
  advance(seconds{2});
  EXPECT_EQ(started().size(), 1U);
}

TEST_F(ProcessTest, warns_once_of_a_volume_whose_source_is_missing) {
  make_pod("command: [run]", "volumes: [{name: v, secret: {secretName: s}}],");
  advance(seconds{10});
  EXPECT_TRUE(started().empty());
  EXPECT_EQ(warnings(), (std::vector<std::string>{"FailedMount: secret \"s\" not found"}));
}

TEST_F(ProcessTest, fails_a_container_without_a_command) {
  make_pod("args: [x]");
  EXPECT_TRUE(started().empty());
  EXPECT_EQ(phase(), "Failed");
  EXPECT_NE(pod()["status"]["message"].str().find("has no command"), std::string::npos);
}

constexpr const char* kSecretVolumes =
    "volumes: [{name: v, secret: {secretName: s}}, {name: w, secret: {secretName: s, items: [{key: key, path: k, mode: "
    "256}]}}],";

TEST_F(ProcessTest, files_of_secrets_are_for_this_user_alone) {
  make(kSecrets, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}, data: {key: c2VjcmV0}}");
  make_pod("command: [run]", kSecretVolumes);
  const std::string folder = started().at(0).folder;
  EXPECT_EQ(env_.files().mode(folder + "/volumes/v/key"), 0600U);
  EXPECT_EQ(env_.files().mode(folder + "/volumes/w/k"), 0400U);
}

TEST_F(ProcessTest, files_of_secrets_can_be_read_by_the_other_user_of_a_pod) {
  make(kSecrets, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}, data: {key: c2VjcmV0}}");
  make_pod("command: [run], securityContext: {runAsUser: 7}", kSecretVolumes);
  EXPECT_EQ(env_.files().mode(started().at(0).folder + "/volumes/v/key"), 0644U);
}

TEST_F(ProcessTest, root_runs_containers_as_the_user_they_name) {
  make_pod("command: [run], securityContext: {runAsUser: 1000, runAsNonRoot: true}",
           "securityContext: {runAsUser: 5, runAsGroup: 2000}, initContainers: [{name: before, image: any, command: [run]}],");
  ASSERT_EQ(started().size(), 1U);
  const PodManifest made = manifest();
  EXPECT_EQ(made.containers.at(0).user, 1000);
  EXPECT_EQ(made.containers.at(0).group, 2000);
  EXPECT_EQ(made.init_containers.at(0).user, 5);
}

TEST_F(ProcessTest, whoever_is_not_root_refuses_another_user_and_says_what_to_do) {
  run_as(501, 20);
  make_pod("command: [run], securityContext: {runAsUser: 1000}");
  EXPECT_EQ(refusal(),
            "container \"main\": securityContext.runAsUser 1000: Slipway runs as user 501, group 20, and only root can "
            "start processes of others; leave runAsUser out, set it to 501, or run Slipway as root");
  remove(kPods, "p");
  advance(seconds{1});
  make_pod("command: [run]", "securityContext: {runAsGroup: 7},");
  EXPECT_NE(refusal().find("securityContext.runAsGroup 7: "), std::string::npos);
}

TEST_F(ProcessTest, whoever_is_not_root_runs_containers_that_name_its_own_user) {
  run_as(501, 20);
  make_pod("command: [run], securityContext: {runAsUser: 501, runAsGroup: 20, runAsNonRoot: true}");
  ASSERT_EQ(started().size(), 1U);
  EXPECT_EQ(manifest().containers.at(0).user, std::nullopt) << "nothing to change";
}

TEST_F(ProcessTest, root_refuses_to_run_as_root_what_is_not_to) {
  make_pod("command: [run]", "securityContext: {runAsNonRoot: true},");
  EXPECT_EQ(refusal(),
            "container \"main\": securityContext.runAsNonRoot: it would run as root, as Slipway does; set runAsUser to "
            "another user than 0, or run Slipway as one");
}

TEST_F(ProcessTest, the_size_limit_of_a_volume_is_handed_on_and_an_eviction_fails_the_pod) {
  make_pod(
      "command: [run], volumeMounts: [{name: scratch, mountPath: /scratch}]",
      "volumes: [{name: scratch, emptyDir: {sizeLimit: 1Mi}}, {name: free, emptyDir: {}}, {name: zero, emptyDir: {sizeLimit: "
      "0}}],");
  ASSERT_EQ(started().size(), 1U);
  const auto limits = manifest().limits;
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0],
            (PodVolumeLimit{.name = "scratch", .folder = started()[0].folder + "/volumes/scratch", .bytes = 1 << 20}));
  record(0, PodPhase::Failed, 143, true, "Evicted");
  advance(seconds{1});
  EXPECT_EQ(phase(), "Failed");
  EXPECT_EQ(pod()["status"]["reason"].as_string(), "Evicted");
  EXPECT_FALSE(kube::is_true(pod(), kDisruptionTarget)) << "its own fault";
}

TEST_F(ProcessTest, a_pod_that_runs_always_waits_when_it_cannot_be_started_and_does_not_fail) {
  make(kPods,
       "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, "
       "spec: {restartPolicy: Always, containers: [{name: main, image: nginx}]}}");
  advance(seconds{5});
  EXPECT_EQ(phase(), "Pending");
  const json::Value& waiting = pod()["status"]["containerStatuses"].item(0)["state"]["waiting"];
  EXPECT_EQ(waiting["reason"].as_string(), "CreateContainerError");
  EXPECT_NE(waiting["message"].as_string(), "");
  EXPECT_EQ(warnings().size(), 1U);
}

TEST_F(ProcessTest, finds_its_supervisors_again_after_a_restart) {
  make(kJobs, job_yaml("work"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  restart();
  advance(seconds{5});
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(started().size(), 1U);
  env_.drop_all();
  runtime_.reset();
  record(0, PodPhase::Succeeded);  // while Slipway is not running
  restart();
  advance(seconds{1});
  EXPECT_EQ(phase(), "Succeeded");
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, a_job_without_retries_fails_when_the_supervisor_of_its_pod_was_killed) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  end(0);
  advance(seconds{1});
  ASSERT_EQ(started().size(), 2U) << "started once more, to end what is left";
  EXPECT_EQ(started()[1].folder, started()[0].folder);
  record(1, PodPhase::Lost, 137);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(pod(), kDisruptionTarget));
  const auto job = get(kJobs, "work");
  EXPECT_TRUE(kube::is_true(job, "Failed"));
  EXPECT_EQ(job["status"]["failed"].as_int(), 1);
  advance(std::chrono::hours{1});
  EXPECT_EQ(started().size(), 2U);
}

TEST_F(ProcessTest, a_job_with_retries_replaces_a_pod_whose_supervisor_was_killed_after_a_back_off) {
  make(kJobs, job_yaml("work", "  backoffLimit: 1\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  end(0);
  advance(seconds{1});
  record(1, PodPhase::Lost, 137);
  advance(seconds{5});
  EXPECT_EQ(started().size(), 2U);
  advance(seconds{6});
  ASSERT_EQ(started().size(), 3U);
  EXPECT_NE(started()[2].folder, started()[0].folder);
  record(2, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, stops_a_deleted_pod_with_its_grace_and_cleans_up) {
  make_pod("command: [run]", "terminationGracePeriodSeconds: 7,");
  record(0, PodPhase::Running);
  advance(seconds{1});
  remove(kPods, "p");
  advance(seconds{1});
  EXPECT_EQ(started()[0].last_signal, SIGTERM);
  const std::string folder = started()[0].folder;
  EXPECT_EQ(env_.files().read(folder + "/grace").value(), "7");
  EXPECT_EQ(phase(), "Running");
  record(0, PodPhase::Failed, 143, true);
  advance(seconds{1});
  EXPECT_TRUE(pod().is_null());
  EXPECT_FALSE(env_.files().exists(folder));
}

TEST_F(ProcessTest, keeps_logs_while_the_pod_exists) {
  make_pod("command: [run]");
  const std::string log = manifest().containers.at(0).log;
  ASSERT_TRUE(env_.files().write(log, "hello\nworld\n", 0640));
  record(0, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_EQ(env_.run(pods_->logs(pod(), {.container = "", .offset = 6})).value(), "world\n");
  remove(kPods, "p");
  advance(seconds{1});
  EXPECT_FALSE(env_.files().exists(log));
}

TEST_F(ProcessTest, forgets_pods_that_went_while_it_was_away) {
  make_pod("command: [run]");
  record(0, PodPhase::Succeeded);
  env_.drop_all();
  runtime_.reset();
  const std::string folder = started()[0].folder;
  client::DeleteQuery now;
  now.grace_seconds = 0;
  ASSERT_TRUE(env_.run(client::remove(*server_, kPods, {"default", "p"}, now)));
  restart();
  make(kPods,
       "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {containers: [{name: main, image: x}]}}");
  advance(seconds{1});
  EXPECT_FALSE(env_.files().exists(folder));
}

TEST_F(ProcessTest, goes_on_after_a_shutdown_that_stopped_its_pods) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  env_.spawn(runtime_of_pods_->stop_all(seconds{3}));
  settle();
  EXPECT_EQ(started()[0].last_signal, SIGTERM);
  record(0, PodPhase::Failed, 143, true);
  advance(seconds{1});
  EXPECT_EQ(started().size(), 1U) << "nothing new starts during a shutdown";
  restart();
  advance(seconds{1});
  ASSERT_EQ(started().size(), 2U);
  record(1, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, a_pod_that_ends_well_when_a_shutdown_stops_it_has_failed_and_does_not_look_completed) {
  make_pod("command: [run]");
  record(0, PodPhase::Running);
  advance(seconds{1});
  env_.spawn(runtime_of_pods_->stop_all(seconds{3}));
  settle();
  record(0, PodPhase::Succeeded, 0, true);
  restart();
  EXPECT_EQ(phase(), "Failed");
  EXPECT_TRUE(kube::is_true(pod(), kDisruptionTarget));
  const auto ended = pod()["status"]["containerStatuses"].item(0)["state"]["terminated"];
  EXPECT_EQ(ended["exitCode"].as_int(), 0);
  EXPECT_EQ(ended["reason"].as_string(), "Terminated");
}

TEST_F(ProcessTest, is_ready_as_long_as_its_http_probe_succeeds) {
  http_.status = 503;
  make_pod(
      "command: [run], ports: [{name: web, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready, port: web}, "
      "initialDelaySeconds: 3, periodSeconds: 2, failureThreshold: 2}");
  begin_run(0);
  advance(seconds{1});
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(http_.urls.size(), 0u) << "not before the initial delay";
  advance(seconds{4});
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(http_.urls.at(0), fmt::format("http://{}:8080/ready", pod()["status"]["podIP"].as_string()));
  EXPECT_EQ(warnings(), std::vector<std::string>{"Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503"});
  http_.status = 302;
  advance(seconds{3});
  EXPECT_TRUE(is_ready());
  restart();
  EXPECT_TRUE(is_ready()) << "a restart of Slipway does not take readiness away";
  http_.status = 0;
  advance(seconds{2});
  EXPECT_TRUE(is_ready()) << "one failure of two";
  advance(seconds{3});
  EXPECT_FALSE(is_ready());
}

TEST_F(ProcessTest, restarts_a_container_whose_liveness_probe_fails) {
  open_port_ = 9090;
  make_pod("command: [run], livenessProbe: {tcpSocket: {port: 9090}, periodSeconds: 1, failureThreshold: 3}",
           "terminationGracePeriodSeconds: 5,");
  const std::size_t first = begin_run(0);
  advance(seconds{5});
  EXPECT_TRUE(is_ready());
  open_port_ = 0;
  advance(seconds{2});
  EXPECT_EQ(started()[first].last_signal, 0);
  advance(seconds{2});
  EXPECT_EQ(started()[first].last_signal, SIGTERM);
  advance(seconds{6});
  EXPECT_EQ(started()[first].last_signal, SIGKILL) << "after the grace";
  open_port_ = 9090;
  const std::size_t second = begin_run(0);
  advance(seconds{9});
  EXPECT_EQ(started()[second].last_signal, 0);
  EXPECT_TRUE(is_ready());
}

TEST_F(ProcessTest, runs_the_command_of_an_exec_probe_in_the_container) {
  make_pod("command: [run], readinessProbe: {exec: {command: [test, -f, ok]}, periodSeconds: 1, timeoutSeconds: 2}");
  begin_run(0);
  advance(std::chrono::milliseconds{300});
  const std::size_t probe = started().size() - 1;
  EXPECT_EQ(manifest(probe).containers.at(0).argv, (std::vector<std::string>{"test", "-f", "ok"}));
  EXPECT_FALSE(is_ready());
  run_ = {};
  record(probe, PodPhase::Succeeded, 0);
  advance(std::chrono::milliseconds{500});
  EXPECT_TRUE(is_ready());
  advance(seconds{3});
  EXPECT_EQ(started()[probe + 1].last_signal, SIGTERM) << "a command that takes too long is ended";
}

}  // namespace
}  // namespace slipway::cluster
