// A small forge over a real bare repository, for tests: it speaks the documented forms of GitHub, GitLab or Bitbucket Server
// (cited in delivery/pipeline/forge_*.cc) and nothing else. A request with another method, path, header, parameter or field is
// answered 4xx and remembered as a fault, on which the test fails. People merge, approve and comment by calling it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "git/test_repository.h"
#include "json/value.h"
#include "net/server.h"

namespace slipway::test {

struct Review {
  std::string user;
  std::string state;  // "APPROVED", "CHANGES_REQUESTED", "COMMENTED"
  std::string commit;
};

struct Pull {
  enum class State : std::uint8_t { Open, Merged, Closed };
  int id = 0;
  int version = 0;  // Bitbucket's
  State state = State::Open;
  std::string title{};
  std::string description{};
  std::string source{};
  std::string target{};
  bool is_of_fork = false;
  std::string head{};    // of the source branch when it was merged or closed
  std::string merged{};  // the commit
  std::vector<Review> reviews{};
};

/// What a request asks, once its route is known.
struct Asked {
  std::vector<std::string> names;            // what the braces of the route stand for
  std::map<std::string, std::string> query;  // decoded
  json::Value body;
};

struct Reply {
  int status = 200;
  json::Value body{};
};

/// "GET /repos/{}/{}/pulls". Parameters and fields beyond those named are faults, as is the absence of a required field.
struct Route {
  std::string method;
  std::string path;
  std::vector<std::string> parameters{};
  std::vector<std::string> required{};  // fields of the body
  std::vector<std::string> optional{};
  std::function<Reply(const Asked&)> answer;
};

class ForgeServer;

/// One provider's forms.
struct Dialect {
  std::string name;                                 // as in a Pipeline
  std::string root;                                 // of the API: "/api/v4"
  std::string auth_header;                          // "Authorization"
  std::string auth_prefix;                          // "Bearer "
  std::map<std::string, std::string> headers;       // others that must be there
  std::string repository;                           // path of the repository's URL
  std::function<json::Value(std::string)> refusal;  // body of an error
  std::function<std::vector<Route>(ForgeServer&)> routes;
};
Dialect github_dialect();
Dialect gitlab_dialect();
Dialect bitbucket_dialect();

class ForgeServer {
 public:
  static constexpr const char* kToken = "a-token-that-appears-nowhere";

  /// Without sockets: whoever has a request calls answer().
  ForgeServer(const git::TestRepository& repository, Dialect dialect);
  ForgeServer(Env& env, const git::TestRepository& repository, Dialect dialect);

  http::Response answer(const http::Request& request);
  /// Serves until stop().
  Task<> run();
  void stop() { server_->stop({}); }
  std::string api_url() const { return "http://" + (server_ ? server_->address() : "forge.test") + dialect_.root; }
  /// Of the repository, as a Pipeline has it; only its path matters.
  std::string repository_url() const { return "https://forge.example" + dialect_.repository; }
  const Dialect& dialect() const { return dialect_; }

  // What people do.
  enum class Style : std::uint8_t { merge, squash };
  /// Merges with the git program. False while a required check has not succeeded.
  bool merge(int id, Style style = Style::merge);
  void review(int id, Review review);
  void require_check(const std::string& context) { required_checks_.push_back(context); }
  /// The next request is answered so, whatever it asks.
  void answer_next(int status, http::Headers headers = {}) { answers_.push_back({status, std::move(headers)}); }

  // What the routes work on.
  Pull* find(int id);
  Pull* find(const std::string& id) { return find(std::atoi(id.c_str())); }
  /// Of a branch, newest first.
  std::vector<Pull*> of_branch(const std::string& source);
  Pull* open_between(const std::string& source, const std::string& target);
  Pull& add(Pull pull);
  bool has_branch(const std::string& name) const;
  std::string head(const Pull& pull) const;
  bool has_commit(const std::string& id) const;
  void set_check(const std::string& commit, const std::string& context, const std::string& state);
  std::string check(const std::string& commit, const std::string& context) const;

  const std::deque<Pull>& pulls() const { return pulls_; }
  const std::vector<std::string>& faults() const { return faults_; }
  int requests() const { return requests_; }

 private:
  struct Answer {
    int status;
    http::Headers headers;
  };
  http::Response respond(const http::Request& request);
  http::Response refuse(const http::Request& request, int status, const std::string& why);
  const Route* find_route(const std::string& method, const std::vector<std::string>& segments, Asked& asked) const;

  const git::TestRepository& repository_;
  Dialect dialect_;
  std::vector<Route> routes_;
  std::unique_ptr<net::HttpServer> server_;
  std::deque<Pull> pulls_;
  std::map<std::pair<std::string, std::string>, std::string> checks_;  // by commit and context
  std::vector<std::string> required_checks_;
  std::deque<Answer> answers_;
  std::vector<std::string> faults_;
  int requests_ = 0;
};

}  // namespace slipway::test
