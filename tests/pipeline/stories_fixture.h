// What the stories of the RFC share: the application podinfo on members, pipelines over them, repositories that Flux follows,
// and the words in which a status is compared.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "commands_fixture.h"
#include "delivery/pipeline/family.h"
#include "delivery/pipeline/kind.h"
#include "landscape.h"

namespace slipway::pipeline_test {

/// The HelmRelease podinfo/NAME of chart NAME; `more` are lines of its spec.
std::string release(const std::string& version, const std::string& name = "podinfo", const std::string& more = "");
/// The same as a file of a repository whose version a promotion into `environment` of Pipeline default/podinfo changes.
std::string marked_release(const std::string& environment, const std::string& version, const std::string& more = "");
/// "staging" → the marker's comment.
std::string marker(const std::string& key);

/// Environment and the members that it is in; `more` are lines of the environment.
struct EnvironmentText {
  std::string name;
  std::vector<std::string> clusters;
  std::string more{};
};
/// Pipeline default/NAME, without appRef.apiVersion as the RFC has it; `more` are lines of its spec.
std::string pipeline_over(const std::vector<EnvironmentText>& environments, const std::string& more = "",
                          const std::string& name = "podinfo", const std::string& kind = "HelmRelease");
/// Line of a spec: by commits to branch main of the repository. Webhooks are signed with the key of Secret default/hooks.
std::string by_commit(const std::string& url);

class Stories : public Landscape {
 protected:
  /// In place of dev, staging and prod.
  void have(const std::vector<std::string>& members);
  void join_all();
  /// The cluster's Flux applies a folder of the repository, as Kustomization podinfo/apps (on the hub default/apps).
  void follow(const std::string& cluster, const std::string& url, const std::string& folder);
  /// Every member follows its folder, which holds podinfo 1.0.0 with the marker of the environment of that name; and these
  /// files on top. Pipeline podinfo goes through all three.
  void deliver(Repository& repository, const std::string& more_of_prod = "",
               const std::map<std::string, std::string>& files = {});

  Value status(const std::string& name = "podinfo") { return get(kHub, delivery::pipeline::kPipelines, name)["status"]; }
  Value environment(const std::string& name, const std::string& pipeline = "podinfo") {
    return status(pipeline)["environments"][name];
  }
  Value target(const std::string& name, std::size_t index = 0) { return environment(name)["targets"].item(index); }
  /// "6.1.6": what all targets run, ready; "" while they differ.
  std::string version(const std::string& name, const std::string& pipeline = "podinfo") {
    return environment(name, pipeline)["version"]["version"].str();
  }
  std::string line() { return status()["line"].str(); }
  /// "1.1.0 Waiting Held" of the newest promotion into the environment, as the Pipeline's status shows it.
  std::string promotion(const std::string& name);
  std::string condition(const std::string& type);
  /// The code with which the hub answers a Flux event about podinfo in an environment, sent as Flux's generic-hmac does.
  int tell(const std::string& name, const std::string& revision, const std::string& key);
  /// On the hub, in namespace default; without a user as the process itself.
  std::string command(const std::string& user, const std::string& verb, const std::vector<std::string>& words,
                      const std::map<std::string, std::string>& options = {});

 private:
  const std::vector<client::HttpPath> paths_ = delivery::pipeline::family().paths();
};

}  // namespace slipway::pipeline_test
