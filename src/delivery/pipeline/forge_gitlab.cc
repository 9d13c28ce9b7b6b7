// GitLab, hosted or one's own. Documented forms (docs.gitlab.com, "Merge requests API", "Merge request approvals API", "Commits
// API: commit status"):
//   base       https://HOST/api/v4; {id} is the project's whole path, percent-encoded ("group%2Fsub%2Fproject")
//   headers    PRIVATE-TOKEN: TOKEN
//   list       GET  /projects/{id}/merge_requests?source_branch=&state=opened|closed|locked|merged|all&order_by=created_at&
//              sort=desc&per_page&page   200
//   open       POST /projects/{id}/merge_requests {source_branch, target_branch, title, description}   201; 409 when there is
//              one for the source branch
//   read       GET  /projects/{id}/merge_requests/{iid}   200: iid, web_url, state (opened, closed, locked, merged), title,
//              description, source_branch, target_branch, sha, merge_commit_sha, squash_commit_sha (null where there is none: a
//              fast-forward merge has neither, then sha is the commit), source_project_id, target_project_id (differ: a fork)
//   change     PUT  /projects/{id}/merge_requests/{iid} {title, description, state_event: close}   200
//   status     POST /projects/{id}/statuses/{sha} {state: pending|running|success|failed|canceled, name, description,
//              target_url}   201; older servers answer 400 "Cannot transition status" when it is so already
//   approvals  GET  /projects/{id}/merge_requests/{iid}/approvals   200: approved_by [{user {username}}]
//   limits     429 with Retry-After
#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/forge_rest.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMaxGitlabText = 255;

PullRequestView gitlab_view(const json::Value& from) {
  PullRequestView view;
  view.id = std::to_string(from["iid"].as_int());
  view.url = from["web_url"].str();
  const std::string_view state = from["state"].as_string();
  // "locked" is a merge under way.
  view.state = state == "merged" ? PullState::Merged : state == "closed" ? PullState::Closed : PullState::Open;
  view.title = from["title"].str();
  view.description = from["description"].str();
  view.source = from["source_branch"].str();
  view.target = from["target_branch"].str();
  view.head = from["sha"].str();
  if (view.state == PullState::Merged) {
    for (const char* name : {"merge_commit_sha", "squash_commit_sha", "sha"}) {
      if (!view.merged && from[name].is_string()) view.merged = from[name].str();
    }
  }
  view.raw = from;
  return view;
}

std::string project_of(const ForgePlace& place) {
  std::string path;
  for (const std::string& part : place.path) path += (path.empty() ? "" : "/") + part;
  return percent_escaped(path);
}

ForgeWords gitlab_words(const ForgePlace& place) {
  const std::string root = fmt::format("/projects/{}", project_of(place));
  return {.pulls = root + "/merge_requests",
          .statuses = root + "/statuses",
          .change = "PUT",
          .source = "source_branch",
          .target = "target_branch",
          .description = "description",
          .closed = {"state_event", "close"},
          .context = "name",
          .failure = "failed",
          .max_status_text = kMaxGitlabText,
          .to_view = gitlab_view};
}

class Gitlab : public RestForge {
 public:
  Gitlab(ForgeApi api, const ForgePlace& place) : RestForge(std::move(api), gitlab_words(place)) {}

  Task<Result<std::optional<PullRequestView>>> find(std::string source, std::string key) override {
    ForgeApi::Query query{
        {"source_branch", source}, {"state", key.empty() ? "opened" : "all"}, {"order_by", "created_at"}, {"sort", "desc"}};
    // Any user may open one from a fork, with any branch and any text.
    const auto is_ours = [](const json::Value& from) { return from["source_project_id"] == from["target_project_id"]; };
    return first_of(std::move(query), std::move(source), std::move(key), is_ours);
  }

  Task<Result<void>> set_check(CommitCheck check) override {
    const std::string state = word_of(check.state);
    auto set = co_await RestForge::set_check(std::move(check));
    const bool is_so_already = !set && set.error().reason == Reason::Invalid && says_same(set.error().message, state);
    if (is_so_already) co_return Result<void>{};
    co_return set;
  }

  Task<Result<std::vector<ForgeApproval>>> approvals(PullRequestView known) override {
    SLIPWAY_CO_TRY(found, co_await api_.get(fmt::format("{}/{}/approvals", words_.pulls, known.id)));
    std::vector<ForgeApproval> result;
    for (const json::Value& one : found["approved_by"].items()) result.push_back({one["user"]["username"].str(), ""});
    std::ranges::sort(result, {}, &ForgeApproval::user);
    co_return result;
  }

 private:
  /// "Cannot transition status via :enqueue from :pending …"
  static bool says_same(std::string_view message, std::string_view state) {
    return message.contains("Cannot transition status") && message.contains(fmt::format("from :{}", state));
  }
};

}  // namespace

std::unique_ptr<Forge> make_gitlab(HttpClient& http, ForgeRepository repository, ForgePlace place) {
  http::Headers headers{{"Accept", "application/json"}};
  if (!repository.token.empty()) headers.set("PRIVATE-TOKEN", repository.token);
  const std::string base = repository.api_url.empty() ? fmt::format("{}/api/v4", place.origin()) : repository.api_url;
  return std::make_unique<Gitlab>(ForgeApi(http, "gitlab", base, std::move(headers)), place);
}

}  // namespace slipway::delivery::pipeline
