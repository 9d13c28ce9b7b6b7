// Forges whose pull requests are one REST resource and differ in words only: GitHub and GitLab. For the forge_*.cc files.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "delivery/pipeline/forge_call.h"

namespace slipway::delivery::pipeline {

/// How a provider spells what all of them have; each provider's file cites where that is documented.
struct ForgeWords {
  std::string pulls;                           // path of the pull requests: "/repos/a/b/pulls"
  std::string statuses;                        // path of the commits' statuses
  std::string change;                          // the method that changes a pull request
  std::string source;                          // members of a pull request
  std::string target;                          //
  std::string description;                     //
  std::pair<std::string, std::string> closed;  // the member and value that close one
  std::string context;                         // member of a status: what it is about
  std::string failure;                         // state of a status
  std::size_t max_status_text;                 // bytes of a status's description
  PullRequestView (*to_view)(const json::Value& from);
};

class RestForge : public Forge {
 public:
  RestForge(ForgeApi api, ForgeWords words) : api_(std::move(api)), words_(std::move(words)) {}

  Task<Result<PullRequestView>> read(std::string id) override;
  Task<Result<PullRequestView>> open(NewPullRequest wanted) override;
  Task<Result<PullRequestView>> update(PullRequestView known, std::string title, std::string description) override;
  Task<Result<PullRequestView>> close(PullRequestView known) override;
  Task<Result<void>> set_check(CommitCheck check) override;

 protected:
  /// The first page that has one from the branch `source` with that key (any, when it is empty) which `is_ours` accepts.
  Task<Result<std::optional<PullRequestView>>> first_of(ForgeApi::Query query, std::string source, std::string key,
                                                        std::function<bool(const json::Value& from)> is_ours);
  std::string word_of(CheckState state) const;

  ForgeApi api_;
  ForgeWords words_;

 private:
  std::string path_of(const std::string& id) const { return words_.pulls + "/" + id; }
  Task<Result<PullRequestView>> change(PullRequestView known, json::Value body);
};

}  // namespace slipway::delivery::pipeline
