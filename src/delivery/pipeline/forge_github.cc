// GitHub and GitHub Enterprise Server. Documented forms (docs.github.com, "REST API endpoints for pull requests", "… for commit
// statuses", "… for pull request reviews", API version 2022-11-28):
//   base       https://api.HOST for the public service, https://HOST/api/v3 for Enterprise Server
//   headers    Accept: application/vnd.github+json, X-GitHub-Api-Version, Authorization: Bearer TOKEN; User-Agent is required
//   list       GET  /repos/{owner}/{repo}/pulls?head=USER:BRANCH&state=open|closed|all&sort&direction&per_page&page   200
//   open       POST /repos/{owner}/{repo}/pulls {title, head, base, body}   201; 422 when one is open for head and base
//   read       GET  /repos/{owner}/{repo}/pulls/{number}   200: number, html_url, state (open, closed), merged, merged_at,
//              merge_commit_sha (before a merge: a trial merge), head {ref, sha}, base {ref}, title, body (may be null)
//   change     PATCH /repos/{owner}/{repo}/pulls/{number} {title, body, state: closed}   200
//   status     POST /repos/{owner}/{repo}/statuses/{sha} {state: pending|success|failure|error, context, description (140
//              characters), target_url}   201
//   reviews    GET  /repos/{owner}/{repo}/pulls/{number}/reviews?per_page&page   200: user {login}, state APPROVED,
//              CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING; commit_id; in order of time
//   limits     403 or 429 with Retry-After, or x-ratelimit-remaining: 0
#include <fmt/format.h>

#include <map>

#include "delivery/pipeline/forge_rest.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMaxGithubText = 140;

PullRequestView github_view(const json::Value& from) {
  PullRequestView view;
  view.id = std::to_string(from["number"].as_int());
  view.url = from["html_url"].str();
  const bool is_merged = from["merged"].as_bool() || from["merged_at"].is_string();
  view.state = is_merged ? PullState::Merged : from["state"].as_string() == "open" ? PullState::Open : PullState::Closed;
  view.title = from["title"].str();
  view.description = from["body"].str();
  view.source = from["head"]["ref"].str();
  view.target = from["base"]["ref"].str();
  view.head = from["head"]["sha"].str();
  if (is_merged && from["merge_commit_sha"].is_string()) view.merged = from["merge_commit_sha"].str();
  view.raw = from;
  return view;
}

ForgeWords github_words(const ForgePlace& place) {
  const std::string root =
      fmt::format("/repos/{}/{}", percent_escaped(place.path[place.path.size() - 2]), percent_escaped(place.path.back()));
  return {.pulls = root + "/pulls",
          .statuses = root + "/statuses",
          .change = "PATCH",
          .source = "head",
          .target = "base",
          .description = "body",
          .closed = {"state", "closed"},
          .context = "context",
          .failure = "failure",
          .max_status_text = kMaxGithubText,
          .to_view = github_view};
}

class Github : public RestForge {
 public:
  Github(ForgeApi api, const ForgePlace& place)
      : RestForge(std::move(api), github_words(place)), owner_(place.path[place.path.size() - 2]) {}

  Task<Result<std::optional<PullRequestView>>> find(std::string source, std::string key) override {
    ForgeApi::Query query{{"head", fmt::format("{}:{}", owner_, source)},
                          {"state", key.empty() ? "open" : "all"},
                          {"sort", "created"},
                          {"direction", "desc"}};
    return first_of(std::move(query), std::move(source), std::move(key), [](const json::Value&) { return true; });
  }

  /// The last word of each reviewer counts; a comment takes nothing back.
  Task<Result<std::vector<ForgeApproval>>> approvals(PullRequestView known) override {
    std::map<std::string, std::optional<ForgeApproval>> last;
    for (int page = 1; page <= kMaxForgePages; ++page) {
      const ForgeApi::Query query{{"per_page", std::to_string(kForgePageSize)}, {"page", std::to_string(page)}};
      SLIPWAY_CO_TRY(list, co_await api_.get(fmt::format("{}/{}/reviews", words_.pulls, known.id), query));
      for (const json::Value& one : list.items()) {
        const std::string user = one["user"]["login"].str();
        const std::string_view state = one["state"].as_string();
        if (state == "APPROVED") last[user] = ForgeApproval{user, one["commit_id"].str()};
        if (state == "CHANGES_REQUESTED" || state == "DISMISSED") last[user] = std::nullopt;
      }
      if (list.size() < static_cast<std::size_t>(kForgePageSize)) break;
    }
    std::vector<ForgeApproval> result;
    for (auto& [user, approval] : last) {
      if (approval) result.push_back(std::move(*approval));
    }
    co_return result;
  }

 private:
  std::string owner_;
};

std::string base_of(const ForgeRepository& repository, const ForgePlace& place) {
  if (!repository.api_url.empty()) return repository.api_url;
  return place.host == "github.com" ? fmt::format("https://api.{}", place.host) : fmt::format("{}/api/v3", place.origin());
}

}  // namespace

std::unique_ptr<Forge> make_github(HttpClient& http, ForgeRepository repository, ForgePlace place) {
  http::Headers headers{
      {"Accept", "application/vnd.github+json"}, {"X-GitHub-Api-Version", "2022-11-28"}, {"User-Agent", "slipway"}};
  if (!repository.token.empty()) headers.set("Authorization", fmt::format("Bearer {}", repository.token));
  return std::make_unique<Github>(ForgeApi(http, "github", base_of(repository, place), std::move(headers)), place);
}

}  // namespace slipway::delivery::pipeline
