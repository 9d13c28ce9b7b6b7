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

#include "delivery/pipeline/forge_call.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMaxStatusText = 255;

PullRequestView to_view(const json::Value& from) {
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

std::string_view word_of(CheckState state) {
  switch (state) {
    case CheckState::Pending:
      return "pending";
    case CheckState::Success:
      return "success";
    case CheckState::Failure:
      break;
  }
  return "failed";
}

std::string project_of(const ForgePlace& place) {
  std::string path;
  for (const std::string& part : place.path) path += (path.empty() ? "" : "/") + part;
  return percent_escaped(path);
}

class Gitlab : public Forge {
 public:
  Gitlab(ForgeApi api, const ForgePlace& place) : api_(std::move(api)), root_(fmt::format("/projects/{}", project_of(place))) {}

  Task<Result<std::optional<PullRequestView>>> find(std::string source, std::string key) override {
    for (int page = 1; page <= kMaxForgePages; ++page) {
      const ForgeApi::Query query{
          {"source_branch", source}, {"state", key.empty() ? "opened" : "all"},    {"order_by", "created_at"},
          {"sort", "desc"},          {"per_page", std::to_string(kForgePageSize)}, {"page", std::to_string(page)}};
      SLIPWAY_CO_TRY(list, co_await api_.get(root_ + "/merge_requests", query));
      for (const json::Value& one : list.items()) {
        PullRequestView view = to_view(one);
        const bool is_wanted = key.empty() || trailer_of(view.description, kPromotionTrailer) == key;
        // Anybody may open one from a fork, with any branch and any text.
        const bool is_of_fork = one["source_project_id"] != one["target_project_id"];
        if (is_wanted && !is_of_fork && view.source == source) co_return view;
      }
      if (list.size() < static_cast<std::size_t>(kForgePageSize)) break;
    }
    co_return std::nullopt;
  }

  Task<Result<PullRequestView>> read(std::string id) override {
    SLIPWAY_CO_TRY(found, co_await api_.get(fmt::format("{}/merge_requests/{}", root_, id)));
    co_return to_view(found);
  }

  Task<Result<PullRequestView>> open(NewPullRequest wanted) override {
    json::ObjectBuilder body;
    body.set("source_branch", wanted.source);
    body.set("target_branch", wanted.target);
    body.set("title", title_of(wanted));
    body.set("description", description_of(wanted));
    SLIPWAY_CO_TRY(made, co_await api_.call("POST", root_ + "/merge_requests", body.build()));
    co_return to_view(made);
  }

  Task<Result<PullRequestView>> update(PullRequestView known, std::string title, std::string description) override {
    json::ObjectBuilder body;
    body.set("title", title);
    body.set("description", description);
    return change(std::move(known), body.build());
  }

  Task<Result<PullRequestView>> close(PullRequestView known) override {
    json::ObjectBuilder body;
    body.set("state_event", "close");
    return change(std::move(known), body.build());
  }

  Task<Result<void>> set_check(CommitCheck check) override {
    json::ObjectBuilder body;
    body.set("state", word_of(check.state));
    body.set("name", check.context);
    body.set("description", cut(check.description, kMaxStatusText));
    if (!check.url.empty()) body.set("target_url", check.url);
    const auto set = co_await api_.call("POST", fmt::format("{}/statuses/{}", root_, check.commit), body.build());
    const bool is_so_already =
        !set && set.error().reason == Reason::Invalid && says_same(set.error().message, word_of(check.state));
    if (is_so_already) co_return Result<void>{};
    SLIPWAY_CO_TRY_VOID(set);
    co_return Result<void>{};
  }

  Task<Result<std::vector<ForgeApproval>>> approvals(PullRequestView known) override {
    SLIPWAY_CO_TRY(found, co_await api_.get(fmt::format("{}/merge_requests/{}/approvals", root_, known.id)));
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

  Task<Result<PullRequestView>> change(PullRequestView known, json::Value body) {
    SLIPWAY_CO_TRY(made, co_await api_.call("PUT", fmt::format("{}/merge_requests/{}", root_, known.id), std::move(body)));
    co_return to_view(made);
  }

  ForgeApi api_;
  std::string root_;
};

}  // namespace

std::unique_ptr<Forge> make_gitlab(HttpClient& http, ForgeRepository repository, ForgePlace place) {
  http::Headers headers{{"Accept", "application/json"}};
  if (!repository.token.empty()) headers.set("PRIVATE-TOKEN", repository.token);
  const std::string base = repository.api_url.empty() ? fmt::format("{}/api/v4", place.origin()) : repository.api_url;
  return std::make_unique<Gitlab>(ForgeApi(http, "gitlab", base, std::move(headers)), place);
}

}  // namespace slipway::delivery::pipeline
