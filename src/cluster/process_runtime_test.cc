#include "cluster/process_runtime.h"

#include "cluster/process_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

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

}  // namespace
}  // namespace slipway::cluster
