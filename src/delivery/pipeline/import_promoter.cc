// gitops-promoter: a Pipeline per PromotionStrategy, an environment per branch, moved on by pull requests that people merge.
#include <fmt/format.h>

#include "delivery/pipeline/import.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr std::string_view kPromoterGroup = "promoter.argoproj.io";

/// Where its changes go. Refused where the files do not say, or say what no Pipeline has.
class Repository {
 public:
  Repository(Importer& importer, const SourceObject& strategy) : importer_(importer), strategy_(strategy) {}

  PullRequest read() {
    const std::string name = strategy_.object["spec"]["gitRepositoryRef"]["name"].str();
    const SourceObject* found = importer_.find(kPromoterGroup, "GitRepository", kube::ns(strategy_.object), name);
    if (found == nullptr) {
      importer_.refuse(strategy_, "spec.gitRepositoryRef.name", fmt::format("the files have no GitRepository {}", name));
      return {};
    }
    const Value& spec = found->object["spec"];
    for (const char* type : {"github", "gitlab"}) {
      if (spec.has(type)) return of(*found, type, spec[type]);
    }
    importer_.refuse(*found, "spec", "only repositories of github and gitlab can be taken over");
    return {};
  }

 private:
  PullRequest of(const SourceObject& repository, const std::string& type, const Value& place) {
    const Value& reference = repository.object["spec"]["scmProviderRef"];
    const std::string kind = reference.has("kind") ? reference["kind"].str() : "ScmProvider";
    const SourceObject* provider = importer_.find(
        kPromoterGroup, kind, kind == "ScmProvider" ? kube::ns(repository.object) : "", reference["name"].as_string());
    const std::string domain = provider == nullptr ? "" : provider->object["spec"][type]["domain"].str();
    if (provider == nullptr) {
      importer_.refuse(repository, "spec.scmProviderRef.name",
                       fmt::format("the files have no {} {}", kind, reference["name"].as_string()));
    }
    const Value& owner = place.has("owner") ? place["owner"] : place["namespace"];
    return {.type = type,
            .url = fmt::format("https://{}/{}/{}", domain.empty() ? type + ".com" : domain, owner.as_string(),
                               place["name"].as_string()),
            .base_branch = ""};
  }

  Importer& importer_;
  const SourceObject& strategy_;
};

void refuse_statuses(Importer& importer, const SourceObject& source, const std::string& field, const Value& holder) {
  for (const char* list : {"activeCommitStatuses", "proposedCommitStatuses"}) {
    for (std::size_t i = 0; i < holder[list].size(); ++i) {
      importer.refuse(source, fmt::format("{}.{}[{}].key", field, list, i),
                      fmt::format("a commit status cannot be taken over: make a gate of {} (environments[].gates), or a soak",
                                  holder[list].item(i)["key"].as_string()));
    }
  }
}

void import_strategy(Importer& importer, const SourceObject& source) {
  const Value& spec = source.object["spec"];
  importer.refuse_unknown(source, "spec", spec,
                          {"gitRepositoryRef", "environments", "activeCommitStatuses", "proposedCommitStatuses"});
  refuse_statuses(importer, source, "spec", spec);
  const PullRequest repository = Repository(importer, source).read();
  PipelineSpec made;
  for (std::size_t i = 0; i < spec["environments"].size(); ++i) {
    const Value& one = spec["environments"].item(i);
    const std::string field = fmt::format("spec.environments[{}]", i);
    importer.refuse_unknown(source, field, one, {"branch", "autoMerge", "activeCommitStatuses", "proposedCommitStatuses"});
    refuse_statuses(importer, source, field, one);
    const std::string branch = one["branch"].str();
    Environment environment{.name = branch.substr(branch.rfind('/') + 1)};
    environment.targets = {importer.target(std::string(kube::ns(source.object)), environment.name)};
    PullRequest change = repository;
    change.base_branch = branch;
    // The first environment gets its versions from whoever writes to git.
    if (i > 0) environment.promotion = Promotion{.strategy = Strategy{.pull_request = change}};
    if (i > 0 && one["autoMerge"].as_bool(true)) {
      importer.refuse(source, field + ".autoMerge",
                      "pull requests of a Pipeline are merged by people: say false here, or take the strategy commit by hand");
    }
    made.environments.push_back(std::move(environment));
  }
  const std::string ns(kube::ns(source.object));
  const std::string name(kube::name(source.object));
  importer.add(ns, name, std::move(made));
  importer.note(
      fmt::format("Pipeline {}{}{}: it sets versions in marked fields where gitops-promoter moves commits: mark them with a "
                  "comment # {{\"$promotion\": \"NAMESPACE:{}:ENVIRONMENT\"}}",
                  ns, ns.empty() ? "" : "/", name, name));
}

}  // namespace

void Importer::promoter() {
  for (const SourceObject* source : all(kPromoterGroup, "PromotionStrategy")) import_strategy(*this, *source);
}

}  // namespace slipway::delivery::pipeline
