// A forge is where pull requests live: GitHub, GitLab, Bitbucket Server (also their self-hosted forms). One interface, one row
// per provider; each provider's file cites the documented form of what it sends. A promotion's pull request is found by the key
// in the trailers of its description (commit.h), never by title or text, so opening one twice finds the first.
//
// Errors by reason: Unauthorized 401, Forbidden 403, NotFound 404, Conflict 409, Invalid 422 (and 400), TooManyRequests 429 or
// a spent rate limit, with retry_after_seconds; NotImplemented what a provider has no call for; ServiceUnavailable 5xx; those
// of HttpClient. Messages name provider, method and path, never the token. The effect of a call that failed may have happened:
// find() tells.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_client.h"
#include "delivery/pipeline/commit.h"
#include "json/value.h"

namespace slipway::delivery::pipeline {

enum class PullState : std::uint8_t { Open, Merged, Closed };

struct PullRequestView {
  std::string id;   // the number in the provider's paths
  std::string url;  // for people
  PullState state = PullState::Open;
  std::string title;
  std::string description;
  std::string source;                 // branch, without refs/heads/
  std::string target;                 // branch
  std::string head;                   // commit of the source branch, as the forge knows it
  std::optional<std::string> merged;  // the commit that the merge made, where the forge says so
  json::Value raw{};                  // the provider's object, for its next call
};

struct NewPullRequest {
  std::string source;    // branch
  std::string target;    // branch
  PromotionText text{};  // of a promotion; without a key it is about something else
  std::string body{};    // for people; the trailers of a promotion follow it
  std::string title{};   // empty: the promotion's
};

enum class CheckState : std::uint8_t { Pending, Success, Failure };

/// A commit status. Branch protection of a forge can require it by its context.
struct CommitCheck {
  std::string commit;
  CheckState state = CheckState::Pending;
  std::string context = "slipway/freeze";
  std::string description;  // cut to what the provider takes
  std::string url{};        // where people read more; Bitbucket needs one
};

struct ForgeApproval {
  std::string user;    // the forge's login
  std::string commit;  // that was approved; empty where the forge does not say

  bool operator==(const ForgeApproval&) const = default;
};

/// Where a repository is, and who asks.
struct ForgeRepository {
  std::string provider;   // "github", "gitlab", "bitbucket-server"
  std::string url;        // of the repository, as git is given it
  std::string api_url{};  // of the API; empty: by `url`
  std::string token{};
};

class Forge {
 public:
  virtual ~Forge() = default;
  /// The newest pull request from the branch `source` whose description has the key, whatever its state; nothing when there is
  /// none. With an empty key: the newest open one of that branch.
  virtual Task<Result<std::optional<PullRequestView>>> find(std::string source, std::string key) = 0;
  virtual Task<Result<PullRequestView>> read(std::string id) = 0;
  /// Conflict (GitHub: Invalid) when the branch has an open one already.
  virtual Task<Result<PullRequestView>> open(NewPullRequest wanted) = 0;
  /// Replaces title and description.
  virtual Task<Result<PullRequestView>> update(PullRequestView known, std::string title, std::string description) = 0;
  /// Closes without merging (declines).
  virtual Task<Result<PullRequestView>> close(PullRequestView known) = 0;
  virtual Task<Result<void>> set_check(CommitCheck check) = 0;
  /// Who approves of it now, each once, in order of name.
  virtual Task<Result<std::vector<ForgeApproval>>> approvals(PullRequestView known) = 0;
};

/// `http` outlives the forge. BadRequest for a URL that names no repository, NotImplemented for azure-devops, Invalid for
/// unknown providers.
Result<std::unique_ptr<Forge>> make_forge(HttpClient& http, ForgeRepository repository);

/// Title and description of a new pull request.
std::string title_of(const NewPullRequest& wanted);
std::string description_of(const NewPullRequest& wanted);

/// Opens the promotion's pull request, or finds the one with its key; one that is open for another promotion on the same branch
/// gets this one's title and description (a newer candidate supersedes an older).
Task<Result<PullRequestView>> ensure_open(Forge& forge, NewPullRequest wanted);

}  // namespace slipway::delivery::pipeline
