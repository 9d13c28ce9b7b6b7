// What users write of a pipeline, as described structs: Pipeline as the last definition of pipelines.weave.works/v1alpha1 has
// it, with our own fields (suspend, dependsOn, gates) all optional, and GitopsCluster of gitops.weave.works/v1alpha1. What is
// mandatory there is mandatory here, but for appRef.apiVersion, which the RFC does not know. check.h says what a schema cannot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"
#include "json/codec.h"

namespace slipway::delivery::pipeline {

struct AppRef {
  std::string api_version{};
  std::string kind{};
  std::string name{};

  static void describe(auto& d) {
    d.doc("The application, by the object that deploys it; it is looked for in the namespace of each target.");
    d.field("apiVersion", &AppRef::api_version, "Its API version; absent: the one that the target's cluster prefers.");
    d.field("kind", &AppRef::kind, "Its kind.").required().min_length(1);
    d.field("name", &AppRef::name, "Its name.").required().min_length(1);
  }
};

struct ClusterRef {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::string ns{};

  static void describe(auto& d) {
    d.doc("A cluster.");
    d.field("apiVersion", &ClusterRef::api_version, "Its API version.");
    d.field("kind", &ClusterRef::kind, "Its kind.").required().one_of({"GitopsCluster"});
    d.field("name", &ClusterRef::name, "Its name.").required().min_length(1);
    d.field("namespace", &ClusterRef::ns, "Its namespace; absent: the pipeline's.");
  }
  bool operator==(const ClusterRef&) const = default;
};

struct Target {
  std::string ns{};
  std::optional<ClusterRef> cluster{};

  static void describe(auto& d) {
    d.doc("A namespace of a cluster.");
    d.field("namespace", &Target::ns, "Where the application is.").required().min_length(1);
    d.field("clusterRef", &Target::cluster, "The cluster; absent: the pipeline's own.");
  }
};

struct SecretRef {
  std::string name{};

  static void describe(auto& d) {
    d.doc("A Secret of the pipeline's namespace.");
    d.field("name", &SecretRef::name, "Its name.").required().min_length(1);
  }
};

struct PullRequest {
  std::string type{};
  std::string url{};
  std::string base_branch{};
  std::string api_url{};
  std::optional<SecretRef> secret{};

  static void describe(auto& d) {
    d.doc("The change is proposed to a repository.");
    d.field("type", &PullRequest::type, "Whose API serves it.")
        .one_of({"github", "gitlab", "bitbucket-server", "azure-devops"});
    d.field("url", &PullRequest::url, "The repository, over HTTPS.").required().min_length(1);
    d.field("baseBranch", &PullRequest::base_branch, "The branch to change.").required().min_length(1);
    d.field("apiUrl", &PullRequest::api_url, "Where the API is, if not where that provider has it below the URL's host.");
    d.field("secretRef", &PullRequest::secret, "username and password for git, token for the API.");
  }
};

struct Notification {
  static void describe(auto& d) { d.doc("An event says what is to be promoted; somebody else does it."); }
};

/// Ours: Weave knows the other two.
struct CommitStrategy {
  std::string url{};
  std::string base_branch{};
  std::optional<SecretRef> secret{};

  static void describe(auto& d) {
    d.doc("The change is committed to a branch and pushed.");
    d.field("url", &CommitStrategy::url, "The repository: https, http, ssh, or a path where local repositories are allowed.")
        .required()
        .min_length(1);
    d.field("baseBranch", &CommitStrategy::base_branch, "The branch to change.").required().min_length(1);
    d.field("secretRef", &CommitStrategy::secret, "username and password, or identity and known_hosts.");
  }
};

struct Strategy {
  std::optional<PullRequest> pull_request{};
  std::optional<Notification> notification{};
  std::optional<CommitStrategy> commit{};
  std::optional<SecretRef> secret{};

  static void describe(auto& d) {
    d.doc("How a version gets into the next environment. One of the three.");
    d.field("pull-request", &Strategy::pull_request, "By pull request.");
    d.field("notification", &Strategy::notification, "By an event.");
    d.field("commit", &Strategy::commit, "By a commit to the branch itself.");
    d.field("secretRef", &Strategy::secret, "hmac-key, with which calls that promote are signed.");
  }
};

struct Promotion {
  bool is_manual = false;
  std::optional<Strategy> strategy{};
  std::optional<PullRequest> pull_request{};
  std::optional<Notification> notification{};

  static void describe(auto& d) {
    d.doc("How versions get into an environment.");
    d.field("manual", &Promotion::is_manual, "Somebody has to approve it.");
    d.field("strategy", &Promotion::strategy, "How.");
    d.field("pull-request", &Promotion::pull_request, "An older place of strategy.pull-request.");
    d.field("notification", &Promotion::notification, "An older place of strategy.notification.");
  }
};

struct Environment {
  std::string name{};
  std::vector<Target> targets{};
  std::optional<Promotion> promotion{};
  std::optional<std::vector<std::string>> depends_on{};
  std::vector<gate::GateSpec> gates{};
  std::optional<Duration> soak{};

  static void describe(auto& d) {
    d.doc("Targets that get a version together.");
    d.field("name", &Environment::name, "Tells it apart.").required().min_length(1);
    d.field("targets", &Environment::targets, "Where it is.").required().min_items(1).list_type("atomic");
    d.field("promotion", &Environment::promotion, "In place of the pipeline's, as a whole.");
    d.field("dependsOn", &Environment::depends_on, "Environments that come before; absent: the one above.").list_type("set");
    d.field("gates", &Environment::gates, "What must pass before a version gets in (`at: before`) or leaves (`at: after`).")
        .list_type("map", {"name"});
    d.field("soak", &Environment::soak, "How long all targets must be ready at a version before it leaves.");
  }
};

struct PipelineSpec {
  AppRef app{};
  std::vector<Environment> environments{};
  std::optional<Promotion> promotion{};
  bool is_suspended = false;

  static void describe(auto& d) {
    d.doc("One application on its way through environments.");
    d.field("appRef", &PipelineSpec::app, "The application.").required();
    d.field("environments", &PipelineSpec::environments, "In the order in which versions go.")
        .required()
        .min_items(1)
        .list_type("map", {"name"});
    d.field("promotion", &PipelineSpec::promotion, "How versions get from one environment to the next.");
    d.field("suspend", &PipelineSpec::is_suspended, "Nothing is promoted; the view goes on.");
  }
};

struct GitopsClusterSpec {
  std::optional<SecretRef> capi_cluster{};
  std::optional<SecretRef> secret{};

  static void describe(auto& d) {
    d.doc("A cluster and where its kubeconfig is. One of the two.");
    d.field("capiClusterRef", &GitopsClusterSpec::capi_cluster, "A Cluster of Cluster API: the Secret NAME-kubeconfig.");
    d.field("secretRef", &GitopsClusterSpec::secret, "A Secret with the key value, value.yaml or kubeconfig.");
  }
};

}  // namespace slipway::delivery::pipeline
