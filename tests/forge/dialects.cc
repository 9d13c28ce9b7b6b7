// The documented forms of the three providers; delivery/pipeline/forge_*.cc cites them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forge_server.h"

namespace slipway::test {
namespace {

using json::object;
using json::Value;

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

/// One page of a list: the parameters `per_page` and `page` of GitHub and GitLab.
Value page_of(const std::vector<Value>& all, const Asked& asked) {
  const auto number = [&](const char* name, int fallback) {
    const auto at = asked.query.find(name);
    return at == asked.query.end() ? fallback : std::atoi(at->second.c_str());
  };
  const std::size_t size = static_cast<std::size_t>(number("per_page", 30));
  const std::size_t first = size * static_cast<std::size_t>(number("page", 1) - 1);
  json::ArrayBuilder page;
  for (std::size_t i = first; i < std::min(all.size(), first + size); ++i) page.add(all[i]);
  return page.build();
}

std::string query_of(const Asked& asked, const char* name) {
  const auto at = asked.query.find(name);
  return at == asked.query.end() ? "" : at->second;
}

// GitHub

Value github_pull(ForgeServer& server, const Pull& pull, bool is_in_list) {
  json::ObjectBuilder made;
  made.set("number", pull.id).set("html_url", fmt::format("https://forge.example/team/config/pull/{}", pull.id));
  made.set("state", pull.state == Pull::State::Open ? "open" : "closed").set("title", pull.title);
  made.set("body", text_or_null(pull.description));
  made.set("head", object({{"ref", pull.source}, {"sha", server.head(pull)}, {"label", "team:" + pull.source}}));
  made.set("base", object({{"ref", pull.target}}));
  const bool is_merged = pull.state == Pull::State::Merged;
  if (!is_in_list) made.set("merged", is_merged);
  made.set("merged_at", is_merged ? Value("2026-01-01T00:00:00Z") : Value());
  // Before a merge this is the commit of a trial, which is not the merge.
  made.set("merge_commit_sha", is_merged ? pull.merged : "00000000000000000000000000000000000000aa");
  return made.build();
}

bool is_ours(const Asked& asked) { return asked.names[0] == "team" && asked.names[1] == "config"; }

Reply github_list(ForgeServer& server, const Asked& asked) {
  if (!is_ours(asked)) return {404, "Not Found"};
  const std::string head = query_of(asked, "head");
  if (!head.starts_with("team:")) return {422, "head must be user:ref-name"};
  const std::string state = query_of(asked, "state");
  if (state != "open" && state != "closed" && state != "all") return {422, "state"};
  std::vector<Value> found;
  for (Pull* pull : server.of_branch(head.substr(5))) {
    const bool is_open = pull->state == Pull::State::Open;
    if (pull->is_of_fork) continue;  // `head` names its owner
    if (state == "all" || (state == "open") == is_open) found.push_back(github_pull(server, *pull, true));
  }
  return {200, page_of(found, asked)};
}

Reply github_open(ForgeServer& server, const Asked& asked) {
  const std::string head = asked.body["head"].str();
  const std::string base = asked.body["base"].str();
  if (!server.has_branch(head) || !server.has_branch(base)) return {422, "Validation Failed: head or base is invalid"};
  if (server.open_between(head, base) != nullptr) return {422, "A pull request already exists for team:" + head};
  Pull pull{.title = asked.body["title"].str(), .description = asked.body["body"].str(), .source = head, .target = base};
  return {201, github_pull(server, server.add(std::move(pull)), false)};
}

Reply github_change(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  if (pull == nullptr) return {404, "Not Found"};
  if (asked.body.has("title")) pull->title = asked.body["title"].str();
  if (asked.body.has("body")) pull->description = asked.body["body"].str();
  if (asked.body["state"].as_string() == "closed" && pull->state == Pull::State::Open) {
    pull->head = server.head(*pull);
    pull->state = Pull::State::Closed;
  }
  return {200, github_pull(server, *pull, false)};
}

Reply github_status(ForgeServer& server, const Asked& asked) {
  const std::string state = asked.body["state"].str();
  if (state != "error" && state != "failure" && state != "pending" && state != "success") return {422, "state"};
  if (asked.body["description"].as_string().size() > 140) return {422, "description is too long (maximum is 140 characters)"};
  if (!server.has_commit(asked.names[2])) return {422, "No commit found for SHA: " + asked.names[2]};
  server.set_check(asked.names[2], asked.body["context"].str(), state);
  return {201, object({{"state", state}})};
}

Reply github_reviews(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  if (pull == nullptr) return {404, "Not Found"};
  std::vector<Value> all;
  for (const Review& one : pull->reviews) {
    all.push_back(object({{"user", object({{"login", one.user}})}, {"state", one.state}, {"commit_id", one.commit}}));
  }
  return {200, page_of(all, asked)};
}

Reply github_read(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  return pull == nullptr ? Reply{404, "Not Found"} : Reply{200, github_pull(server, *pull, false)};
}

std::vector<Route> github_routes(ForgeServer& server) {
  const auto bound = [&server](Reply (*answer)(ForgeServer&, const Asked&)) {
    return [&server, answer](const Asked& asked) { return answer(server, asked); };
  };
  const std::vector<std::string> pages{"per_page", "page"};
  return {
      {"GET",
       "/repos/{}/{}/pulls",
       {"head", "base", "state", "sort", "direction", "per_page", "page"},
       {},
       {},
       bound(github_list)},
      {"POST", "/repos/{}/{}/pulls", {}, {"title", "head", "base"}, {"body", "draft"}, bound(github_open)},
      {"GET", "/repos/{}/{}/pulls/{}", {}, {}, {}, bound(github_read)},
      {"PATCH", "/repos/{}/{}/pulls/{}", {}, {}, {"title", "body", "state", "base"}, bound(github_change)},
      {"POST", "/repos/{}/{}/statuses/{}", {}, {"state"}, {"context", "description", "target_url"}, bound(github_status)},
      {"GET", "/repos/{}/{}/pulls/{}/reviews", pages, {}, {}, bound(github_reviews)},
  };
}

// GitLab

constexpr const char* kProject = "group/sub/config";

Value gitlab_pull(ForgeServer& server, const Pull& pull) {
  constexpr const char* kStates[] = {"opened", "merged", "closed"};
  json::ObjectBuilder made;
  made.set("id", 1000 + pull.id).set("iid", pull.id).set("web_url", fmt::format("https://forge.example/mr/{}", pull.id));
  made.set("state", kStates[static_cast<std::size_t>(pull.state)]).set("title", pull.title);
  made.set("description", text_or_null(pull.description));
  made.set("source_project_id", pull.is_of_fork ? 8 : 7).set("target_project_id", 7);
  made.set("source_branch", pull.source).set("target_branch", pull.target).set("sha", server.head(pull));
  made.set("merge_commit_sha", text_or_null(pull.merged)).set("squash_commit_sha", Value());
  return made.build();
}

Reply gitlab_list(ForgeServer& server, const Asked& asked) {
  if (asked.names[0] != kProject) return {404, "404 Project Not Found"};
  const std::string state = query_of(asked, "state");
  if (state != "opened" && state != "all") return {400, "state does not have a valid value"};
  std::vector<Value> found;
  for (Pull* pull : server.of_branch(query_of(asked, "source_branch"))) {
    if (state == "all" || pull->state == Pull::State::Open) found.push_back(gitlab_pull(server, *pull));
  }
  return {200, page_of(found, asked)};
}

Reply gitlab_open(ForgeServer& server, const Asked& asked) {
  const std::string source = asked.body["source_branch"].str();
  const std::string target = asked.body["target_branch"].str();
  if (!server.has_branch(source) || !server.has_branch(target)) return {400, "branch does not exist"};
  if (server.open_between(source, target) != nullptr)
    return {409, "Another open merge request already exists for this source branch: !1"};
  Pull pull{
      .title = asked.body["title"].str(), .description = asked.body["description"].str(), .source = source, .target = target};
  return {201, gitlab_pull(server, server.add(std::move(pull)))};
}

Reply gitlab_read(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[1]);
  return pull == nullptr ? Reply{404, "404 Not found"} : Reply{200, gitlab_pull(server, *pull)};
}

Reply gitlab_change(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[1]);
  if (pull == nullptr) return {404, "404 Not found"};
  if (asked.body.has("title")) pull->title = asked.body["title"].str();
  if (asked.body.has("description")) pull->description = asked.body["description"].str();
  if (asked.body["state_event"].as_string() == "close" && pull->state == Pull::State::Open) {
    pull->head = server.head(*pull);
    pull->state = Pull::State::Closed;
  }
  return {200, gitlab_pull(server, *pull)};
}

Reply gitlab_status(ForgeServer& server, const Asked& asked) {
  const std::string state = asked.body["state"].str();
  if (state != "pending" && state != "running" && state != "success" && state != "failed" && state != "canceled")
    return {400, "state"};
  if (!server.has_commit(asked.names[1])) return {404, "404 Commit Not Found"};
  const std::string name = asked.body["name"].str();
  if (server.check(asked.names[1], name) == state) {
    return {400,
            fmt::format("Cannot transition status via :enqueue from :{} (Reason(s): Status cannot transition via \"enqueue\")",
                        state)};
  }
  server.set_check(asked.names[1], name, state);
  return {201, object({{"status", state}})};
}

Reply gitlab_approvals(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[1]);
  if (pull == nullptr) return {404, "404 Not found"};
  std::map<std::string, bool> last;
  for (const Review& one : pull->reviews)
    last[one.user] = one.state == "APPROVED" || (one.state == "COMMENTED" && last[one.user]);
  json::ArrayBuilder by;
  for (const auto& [user, is_approved] : last) {
    if (is_approved) by.add(object({{"user", object({{"username", user}})}}));
  }
  return {200, object({{"approved_by", by.build()}})};
}

std::vector<Route> gitlab_routes(ForgeServer& server) {
  const auto bound = [&server](Reply (*answer)(ForgeServer&, const Asked&)) {
    return [&server, answer](const Asked& asked) { return answer(server, asked); };
  };
  const std::vector<std::string> list{"source_branch", "target_branch", "state", "order_by", "sort", "per_page", "page"};
  return {
      {"GET", "/projects/{}/merge_requests", list, {}, {}, bound(gitlab_list)},
      {"POST",
       "/projects/{}/merge_requests",
       {},
       {"source_branch", "target_branch", "title"},
       {"description"},
       bound(gitlab_open)},
      {"GET", "/projects/{}/merge_requests/{}", {}, {}, {}, bound(gitlab_read)},
      {"PUT", "/projects/{}/merge_requests/{}", {}, {}, {"title", "description", "state_event"}, bound(gitlab_change)},
      {"POST",
       "/projects/{}/statuses/{}",
       {},
       {"state"},
       {"name", "context", "description", "target_url", "ref"},
       bound(gitlab_status)},
      {"GET", "/projects/{}/merge_requests/{}/approvals", {}, {}, {}, bound(gitlab_approvals)},
  };
}

// Bitbucket Server

Value bitbucket_ref(const std::string& branch, const std::string& tip) {
  const Value repository = object({{"slug", "config"}, {"project", object({{"key", "TEAM"}})}});
  return object({{"id", "refs/heads/" + branch}, {"displayId", branch}, {"latestCommit", tip}, {"repository", repository}});
}

Value bitbucket_pull(ForgeServer& server, const Pull& pull) {
  constexpr const char* kStates[] = {"OPEN", "MERGED", "DECLINED"};
  json::ObjectBuilder made;
  made.set("id", pull.id).set("version", pull.version).set("title", pull.title);
  if (!pull.description.empty()) made.set("description", pull.description);
  made.set("state", kStates[static_cast<std::size_t>(pull.state)]);
  made.set("fromRef", bitbucket_ref(pull.source, server.head(pull))).set("toRef", bitbucket_ref(pull.target, ""));
  const std::string url = fmt::format("https://forge.example/projects/TEAM/repos/config/pull-requests/{}", pull.id);
  made.set("links", object({{"self", json::array({object({{"href", url}})})}}));
  std::map<std::string, Review> last;
  for (const Review& one : pull.reviews) {
    if (one.state != "COMMENTED" || !last.contains(one.user)) last[one.user] = one;
  }
  json::ArrayBuilder reviewers;
  for (const auto& [user, one] : last) {
    const bool is_approved = one.state == "APPROVED";
    reviewers.add(object({{"user", object({{"name", user}})}, {"approved", is_approved}, {"lastReviewedCommit", one.commit}}));
  }
  made.set("reviewers", reviewers.build());
  // Only every other server tells the merge with the pull request.
  if (pull.state == Pull::State::Merged && pull.id % 2 == 0) {
    made.set("properties", object({{"mergeCommit", object({{"id", pull.merged}})}}));
  }
  return made.build();
}

Reply bitbucket_list(ForgeServer& server, const Asked& asked) {
  if (asked.names[0] != "TEAM" || asked.names[1] != "config") return {404, "Repository TEAM/… does not exist."};
  const std::string at = query_of(asked, "at");
  const std::string state = query_of(asked, "state");
  if (!at.starts_with("refs/heads/") || query_of(asked, "direction") != "OUTGOING") return {400, "at and direction"};
  std::vector<Value> found;
  for (Pull* pull : server.of_branch(at.substr(11))) {
    if (pull->is_of_fork) continue;  // OUTGOING from this repository
    if (state == "ALL" || pull->state == Pull::State::Open) found.push_back(bitbucket_pull(server, *pull));
  }
  const std::size_t start = static_cast<std::size_t>(std::atoi(query_of(asked, "start").c_str()));
  const std::size_t end = std::min(found.size(), start + static_cast<std::size_t>(std::atoi(query_of(asked, "limit").c_str())));
  json::ArrayBuilder page;
  for (std::size_t i = start; i < end; ++i) page.add(found[i]);
  json::ObjectBuilder answer;
  answer.set("values", page.build()).set("isLastPage", end == found.size());
  answer.set("nextPageStart", end == found.size() ? Value() : Value(end));
  return {200, answer.build()};
}

bool is_whole_ref(const Value& ref) {
  return ref["id"].as_string().starts_with("refs/heads/") && ref["repository"]["slug"].as_string() == "config" &&
         ref["repository"]["project"]["key"].as_string() == "TEAM";
}

Reply bitbucket_open(ForgeServer& server, const Asked& asked) {
  if (!is_whole_ref(asked.body["fromRef"]) || !is_whole_ref(asked.body["toRef"])) return {400, "fromRef and toRef"};
  const std::string source = asked.body["fromRef"]["id"].str().substr(11);
  const std::string target = asked.body["toRef"]["id"].str().substr(11);
  if (!server.has_branch(source) || !server.has_branch(target)) return {404, "The branch does not exist."};
  if (server.open_between(source, target) != nullptr)
    return {409, "Only one pull request may be open for a given source and target branch"};
  Pull pull{
      .title = asked.body["title"].str(), .description = asked.body["description"].str(), .source = source, .target = target};
  return {201, bitbucket_pull(server, server.add(std::move(pull)))};
}

Reply bitbucket_read(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  return pull == nullptr ? Reply{404, "No such pull request."} : Reply{200, bitbucket_pull(server, *pull)};
}

Reply bitbucket_change(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  if (pull == nullptr) return {404, "No such pull request."};
  if (asked.body["version"].as_int(-1) != pull->version)
    return {409, "You are attempting to modify a pull request based on out-of-date information."};
  if (asked.body.has("title")) pull->title = asked.body["title"].str();
  if (asked.body.has("description")) pull->description = asked.body["description"].str();
  std::erase_if(pull->reviews, [&](const Review& one) {
    for (const Value& reviewer : asked.body["reviewers"].items()) {
      if (reviewer["user"]["name"].as_string() == one.user) return false;
    }
    return true;
  });
  ++pull->version;
  return {200, bitbucket_pull(server, *pull)};
}

Reply bitbucket_decline(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  if (pull == nullptr) return {404, "No such pull request."};
  if (query_of(asked, "version") != std::to_string(pull->version)) return {409, "out-of-date"};
  pull->head = server.head(*pull);
  pull->state = Pull::State::Closed;
  ++pull->version;
  return {200, bitbucket_pull(server, *pull)};
}

Reply bitbucket_activities(ForgeServer& server, const Asked& asked) {
  Pull* pull = server.find(asked.names[2]);
  if (pull == nullptr) return {404, "No such pull request."};
  json::ArrayBuilder values;
  if (pull->state == Pull::State::Merged)
    values.add(object({{"action", "MERGED"}, {"commit", object({{"id", pull->merged}})}}));
  values.add(object({{"action", "OPENED"}}));
  return {200, object({{"values", values.build()}, {"isLastPage", true}})};
}

Reply bitbucket_status(ForgeServer& server, const Asked& asked) {
  const std::string state = asked.body["state"].str();
  if (state != "INPROGRESS" && state != "SUCCESSFUL" && state != "FAILED") return {400, "state"};
  if (!asked.body["url"].as_string().starts_with("http")) return {400, "url"};
  server.set_check(asked.names[0], asked.body["key"].str(), state);
  return {204, Value()};
}

std::vector<Route> bitbucket_routes(ForgeServer& server) {
  const auto bound = [&server](Reply (*answer)(ForgeServer&, const Asked&)) {
    return [&server, answer](const Asked& asked) { return answer(server, asked); };
  };
  const std::string pulls = "/api/1.0/projects/{}/repos/{}/pull-requests";
  return {
      {"GET", pulls, {"at", "direction", "state", "order", "limit", "start"}, {}, {}, bound(bitbucket_list)},
      {"POST", pulls, {}, {"title", "fromRef", "toRef"}, {"description", "reviewers"}, bound(bitbucket_open)},
      {"GET", pulls + "/{}", {}, {}, {}, bound(bitbucket_read)},
      {"PUT", pulls + "/{}", {}, {"version"}, {"title", "description", "reviewers", "toRef"}, bound(bitbucket_change)},
      {"POST", pulls + "/{}/decline", {"version"}, {}, {}, bound(bitbucket_decline)},
      {"GET", pulls + "/{}/activities", {"limit", "start"}, {}, {}, bound(bitbucket_activities)},
      {"POST", "/build-status/1.0/commits/{}", {}, {"state", "key", "url"}, {"name", "description"}, bound(bitbucket_status)},
  };
}

}  // namespace

Dialect github_dialect() {
  return {"github",
          "",
          "Authorization",
          "Bearer ",
          {{"Accept", "application/vnd.github+json"}, {"X-GitHub-Api-Version", "2022-11-28"}, {"User-Agent", "slipway"}},
          "/team/config.git",
          [](const std::string& why) { return object({{"message", why}, {"documentation_url", "https://forge.example"}}); },
          github_routes};
}

Dialect gitlab_dialect() {
  return {"gitlab",
          "/api/v4",
          "PRIVATE-TOKEN",
          "",
          {},
          "/group/sub/config.git",
          [](const std::string& why) { return object({{"message", why}}); },
          gitlab_routes};
}

Dialect bitbucket_dialect() {
  return {"bitbucket-server",
          "/rest",
          "Authorization",
          "Bearer ",
          {},
          "/scm/TEAM/config.git",
          [](const std::string& why) { return object({{"errors", json::array({object({{"message", why}})})}}); },
          bitbucket_routes};
}

}  // namespace slipway::test
