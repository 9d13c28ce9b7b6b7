// Bitbucket Server and Data Center. Documented forms (developer.atlassian.com, "Bitbucket Data Center REST API": Pull Requests,
// Builds and Deployments):
//   base       https://HOST/rest; repositories are cloned from https://HOST/scm/KEY/SLUG.git or
//   ssh://git@HOST:7999/KEY/SLUG.git headers    Authorization: Bearer TOKEN list       GET
//   /api/1.0/projects/{key}/repos/{slug}/pull-requests?at=refs/heads/BRANCH&direction=OUTGOING&state=OPEN|MERGED|
//              DECLINED|ALL&order=NEWEST&limit&start   200: values, isLastPage, nextPageStart
//   open       POST …/pull-requests {title, description, fromRef {id, repository {slug, project {key}}}, toRef {…}}   201; 409
//              when one is open between the two
//   read       GET  …/pull-requests/{id}   200: id, version, title, description, state, fromRef {id, displayId, latestCommit},
//              toRef, links {self [{href}]}, reviewers [{user {name}, approved, status, lastReviewedCommit}],
//              properties {mergeCommit {id}} once merged
//   change     PUT  …/pull-requests/{id} {version, title, description, reviewers}   200; 409 when version is not the newest;
//              reviewers that are left out are removed
//   decline    POST …/pull-requests/{id}/decline?version=N   200; 409
//   activities GET  …/pull-requests/{id}/activities?limit&start   200: values [{action MERGED, commit {id}}]
//   status     POST /build-status/1.0/commits/{sha} {state: INPROGRESS|SUCCESSFUL|FAILED, key, name, url (required),
//              description}   204
#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/forge_call.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMaxBitbucketText = 255;
constexpr std::string_view kHeads = "refs/heads/";

std::string branch_of(const json::Value& ref) {
  const std::string_view id = ref["id"].as_string();
  return std::string(id.starts_with(kHeads) ? id.substr(kHeads.size()) : id);
}

PullRequestView bitbucket_view(const json::Value& from) {
  PullRequestView view;
  view.id = std::to_string(from["id"].as_int());
  const auto links = from["links"]["self"].items();
  if (!links.empty()) view.url = links.front()["href"].str();
  const std::string_view state = from["state"].as_string();
  view.state = state == "MERGED" ? PullState::Merged : state == "OPEN" ? PullState::Open : PullState::Closed;
  view.title = from["title"].str();
  view.description = from["description"].str();
  view.source = branch_of(from["fromRef"]);
  view.target = branch_of(from["toRef"]);
  view.head = from["fromRef"]["latestCommit"].str();
  const json::Value& merged = from["properties"]["mergeCommit"]["id"];
  if (view.state == PullState::Merged && merged.is_string()) view.merged = merged.str();
  view.raw = from;
  return view;
}

std::string_view word_of(CheckState state) {
  switch (state) {
    case CheckState::Pending:
      return "INPROGRESS";
    case CheckState::Success:
      return "SUCCESSFUL";
    case CheckState::Failure:
      break;
  }
  return "FAILED";
}

class BitbucketServer : public Forge {
 public:
  BitbucketServer(ForgeApi api, std::string key, std::string slug, std::string web)
      : api_(std::move(api)),
        key_(std::move(key)),
        slug_(std::move(slug)),
        web_(std::move(web)),
        root_(fmt::format("/api/1.0/projects/{}/repos/{}/pull-requests", percent_escaped(key_), percent_escaped(slug_))) {}

  Task<Result<std::optional<PullRequestView>>> find(std::string source, std::string key) override {
    std::string start = "0";
    for (int page = 1; page <= kMaxForgePages; ++page) {
      const ForgeApi::Query query{{"at", fmt::format("{}{}", kHeads, source)}, {"direction", "OUTGOING"},
                                  {"state", key.empty() ? "OPEN" : "ALL"},     {"order", "NEWEST"},
                                  {"limit", std::to_string(kForgePageSize)},   {"start", start}};
      SLIPWAY_CO_TRY(list, co_await api_.get(root_, query));
      for (const json::Value& one : list["values"].items()) {
        PullRequestView view = bitbucket_view(one);
        const bool is_wanted = key.empty() || trailer_of(view.description, kPromotionTrailer) == key;
        if (!is_wanted || view.source != source) continue;
        co_return co_await with_merge(std::move(view));
      }
      if (list["isLastPage"].as_bool(true) || !list["nextPageStart"].is_int()) break;
      start = std::to_string(list["nextPageStart"].as_int());
    }
    co_return std::nullopt;
  }

  Task<Result<PullRequestView>> read(std::string id) override {
    SLIPWAY_CO_TRY(found, co_await api_.get(fmt::format("{}/{}", root_, id)));
    co_return co_await with_merge(bitbucket_view(found));
  }

  Task<Result<PullRequestView>> open(NewPullRequest wanted) override {
    json::ObjectBuilder body;
    body.set("title", title_of(wanted));
    body.set("description", description_of(wanted));
    body.set("fromRef", ref(wanted.source));
    body.set("toRef", ref(wanted.target));
    SLIPWAY_CO_TRY(made, co_await api_.call("POST", root_, body.build()));
    co_return bitbucket_view(made);
  }

  Task<Result<PullRequestView>> update(PullRequestView known, std::string title, std::string description) override {
    json::ObjectBuilder body;
    body.set("version", known.raw["version"]);
    body.set("title", title);
    body.set("description", description);
    json::ArrayBuilder reviewers;
    for (const json::Value& one : known.raw["reviewers"].items()) {
      reviewers.add(json::object({{"user", json::object({{"name", one["user"]["name"]}})}}));
    }
    body.set("reviewers", reviewers.build());
    SLIPWAY_CO_TRY(made, co_await api_.call("PUT", fmt::format("{}/{}", root_, known.id), body.build()));
    co_return bitbucket_view(made);
  }

  Task<Result<PullRequestView>> close(PullRequestView known) override {
    const std::string path = fmt::format("{}/{}/decline?version={}", root_, known.id, known.raw["version"].as_int());
    SLIPWAY_CO_TRY(made, co_await api_.call("POST", path, json::Value::empty_object()));
    co_return bitbucket_view(made);
  }

  Task<Result<void>> set_check(CommitCheck check) override {
    json::ObjectBuilder body;
    body.set("state", word_of(check.state));
    body.set("key", check.context);
    body.set("name", check.context);
    body.set("url", check.url.empty() ? web_ : check.url);
    body.set("description", cut(check.description, kMaxBitbucketText));
    SLIPWAY_CO_TRY_VOID(co_await api_.call("POST", fmt::format("/build-status/1.0/commits/{}", check.commit), body.build()));
    co_return Result<void>{};
  }

  Task<Result<std::vector<ForgeApproval>>> approvals(PullRequestView known) override {
    SLIPWAY_CO_TRY(found, co_await read(known.id));
    std::vector<ForgeApproval> result;
    for (const json::Value& one : found.raw["reviewers"].items()) {
      if (one["approved"].as_bool()) result.push_back({one["user"]["name"].str(), one["lastReviewedCommit"].str()});
    }
    std::ranges::sort(result, {}, &ForgeApproval::user);
    co_return result;
  }

 private:
  json::Value ref(const std::string& branch) const {
    const json::Value repository = json::object({{"slug", slug_}, {"project", json::object({{"key", key_}})}});
    return json::object({{"id", fmt::format("{}{}", kHeads, branch)}, {"repository", repository}});
  }

  /// Servers that do not tell the merge commit with the pull request tell it among its activities.
  Task<Result<PullRequestView>> with_merge(PullRequestView view) {
    if (view.state != PullState::Merged || view.merged) co_return view;
    const ForgeApi::Query query{{"limit", std::to_string(kForgePageSize)}, {"start", "0"}};
    SLIPWAY_CO_TRY(list, co_await api_.get(fmt::format("{}/{}/activities", root_, view.id), query));
    for (const json::Value& one : list["values"].items()) {
      const bool is_merge = one["action"].as_string() == "MERGED" && one["commit"]["id"].is_string();
      if (is_merge && !view.merged) view.merged = one["commit"]["id"].str();
    }
    co_return view;
  }

  ForgeApi api_;
  std::string key_;
  std::string slug_;
  std::string web_;
  std::string root_;
};

}  // namespace

std::unique_ptr<Forge> make_bitbucket_server(HttpClient& http, ForgeRepository repository, ForgePlace place) {
  http::Headers headers{{"Accept", "application/json"}};
  if (!repository.token.empty()) headers.set("Authorization", fmt::format("Bearer {}", repository.token));
  const std::string base = repository.api_url.empty() ? fmt::format("{}/rest", place.origin()) : repository.api_url;
  // https://HOST/projects/KEY/repos/SLUG is what people see in the browser, and some give that.
  const std::size_t size = place.path.size();
  const bool is_page = size >= 4 && place.path[size - 4] == "projects" && place.path[size - 2] == "repos";
  const std::string key = is_page ? place.path[size - 3] : place.path[size - 2];
  const std::string web = fmt::format("{}/projects/{}/repos/{}", place.origin(), key, place.path.back());
  return std::make_unique<BitbucketServer>(ForgeApi(http, "bitbucket-server", base, std::move(headers)), key, place.path.back(),
                                           web);
}

}  // namespace slipway::delivery::pipeline
