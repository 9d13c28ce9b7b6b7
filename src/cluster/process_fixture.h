// Pods of processes in virtual time: their supervisors, files and probes are played by the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/process_runtime.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {

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
class ProbeHttp : public HttpClient {
 public:
  Task<Result<http::Response>> send(HttpCall call) override {
    urls.push_back(std::move(call.url));
    if (status == 0) co_return fail(Reason::ServiceUnavailable, "connection refused");
    co_return http::Response{.status = status};
  }

  int status = 200;
  std::vector<std::string> urls;
};

/// What a ProcessTest runs in; made before the test's Env and gone after it.
struct ProcessStage {
  PaperSupervisors processes;
  WatchedLane lane;
  WatchedFiles watched{lane};
};

class ProcessTest : private ProcessStage, public ClusterTest {
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
    return decode_manifest(env_.files().read(started()[which].folder + "/manifest").value()).value();
  }
  /// The supervisor records how its containers stand.
  void record(std::size_t which, PodPhase phase, std::int32_t exit_code = 0, bool is_stopping = false,
              const std::string& reason = "") {
    auto& supervisor = started()[which];
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
    started()[which].is_alive = false;
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
    advance(std::chrono::seconds{1});
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
  ProbeHttp http_;
  std::uint16_t open_port_ = 0;
  ProcessId run_{};
  PodAddresses addresses_{127};
  ProcessRuntime* runtime_of_pods_ = nullptr;
};

}  // namespace slipway::cluster
