#include "forge_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "json/text.h"
#include "net/http.h"

namespace slipway::test {
namespace {

http::Response json_response(int status, const json::Value& body) {
  http::Response response{.status = status, .headers = {{"Content-Type", "application/json"}}};
  if (status != 204) response.body = json::print(body);
  return response;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The first parameter or field that is not among the named, or the first required one that is missing.
std::string fault_of(const Route& route, const Asked& asked) {
  for (const auto& [name, value] : asked.query) {
    if (!holds(route.parameters, name)) return "unknown parameter " + name;
  }
  for (const std::string& name : route.required) {
    if (!asked.body.has(name)) return "missing field " + name;
  }
  for (const auto [name, value] : asked.body.members()) {
    const bool is_known = holds(route.required, name) || holds(route.optional, name);
    if (!is_known) return "unknown field " + std::string(name);
  }
  return "";
}

}  // namespace

ForgeServer::ForgeServer(const git::TestRepository& repository, Dialect dialect)
    : repository_(repository), dialect_(std::move(dialect)), routes_(dialect_.routes(*this)) {}

ForgeServer::ForgeServer(Env& env, const git::TestRepository& repository, Dialect dialect)
    : ForgeServer(repository, std::move(dialect)) {
  auto server = net::HttpServer::listen(env, {});
  SLIPWAY_CHECK(server.has_value(), "the forge cannot listen");
  server_ = std::move(*server);
}

Task<> ForgeServer::run() {
  return server_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo>) -> Task<net::Answer> {
    co_return answer(request);
  });
}

http::Response ForgeServer::answer(const http::Request& request) {
  ++requests_;
  return respond(request);
}

http::Response ForgeServer::refuse(const http::Request& request, int status, const std::string& why) {
  faults_.push_back(fmt::format("{} {}: {}", request.method, request.target, why));
  return json_response(status, dialect_.refusal(why));
}

http::Response ForgeServer::respond(const http::Request& request) {
  if (!answers_.empty()) {
    Answer answer = std::move(answers_.front());
    answers_.pop_front();
    http::Response response = json_response(answer.status, dialect_.refusal("as the test asked"));
    for (const auto& [name, value] : answer.headers) response.headers.add(name, value);
    return response;
  }
  for (const auto& [name, value] : dialect_.headers) {
    if (request.headers.get(name) != value) return refuse(request, 400, fmt::format("header {} is not {}", name, value));
  }
  if (request.headers.get(dialect_.auth_header) != dialect_.auth_prefix + kToken) {
    return json_response(401, dialect_.refusal("bad credentials"));  // no fault: tests ask with wrong tokens
  }
  const auto target = net::Target::split(request.target);
  if (!target.path.starts_with(dialect_.root)) return refuse(request, 404, "not below the root of the API");
  const auto segments = net::Target::split(target.path.substr(dialect_.root.size())).segments();
  const auto query = net::Query::parse(target.query);
  if (!segments || !query) return refuse(request, 400, "the target is not well formed");
  Asked asked;
  for (const auto& [name, value] : *query) asked.query[name] = value;
  if (!request.body.empty()) {
    const auto body = json::parse(request.body);
    const bool is_json = body && body->is_object() && request.headers.get("Content-Type") == "application/json";
    if (!is_json) return refuse(request, 400, "the body is no JSON object");
    asked.body = *body;
  }
  const Route* route = find_route(request.method, *segments, asked);
  if (route == nullptr) return refuse(request, 404, "no such route");
  if (const std::string why = fault_of(*route, asked); !why.empty()) return refuse(request, 400, why);
  const Reply reply = route->answer(asked);
  return json_response(reply.status, reply.status >= 400 ? dialect_.refusal(reply.body.str()) : reply.body);
}

const Route* ForgeServer::find_route(const std::string& method, const std::vector<std::string>& segments, Asked& asked) const {
  for (const Route& route : routes_) {
    const auto pattern = split(std::string_view(route.path).substr(1), '/');
    if (route.method != method || pattern.size() != segments.size()) continue;
    asked.names.clear();
    bool is_match = true;
    for (std::size_t i = 0; i < pattern.size() && is_match; ++i) {
      if (pattern[i] == "{}") {
        asked.names.push_back(segments[i]);
      } else {
        is_match = pattern[i] == segments[i];
      }
    }
    if (is_match) return &route;
  }
  return nullptr;
}

Pull* ForgeServer::find(int id) {
  for (Pull& pull : pulls_) {
    if (pull.id == id) return &pull;
  }
  return nullptr;
}

std::vector<Pull*> ForgeServer::of_branch(const std::string& source) {
  std::vector<Pull*> found;
  for (Pull& pull : pulls_ | std::views::reverse) {
    if (pull.source == source) found.push_back(&pull);
  }
  return found;
}

Pull* ForgeServer::open_between(const std::string& source, const std::string& target) {
  for (Pull* pull : of_branch(source)) {
    if (pull->target == target && pull->state == Pull::State::Open) return pull;
  }
  return nullptr;
}

Pull& ForgeServer::add(Pull pull) {
  pull.id = static_cast<int>(pulls_.size()) + 1;
  pulls_.push_back(std::move(pull));
  return pulls_.back();
}

bool ForgeServer::has_branch(const std::string& name) const {
  return !repository_.bare("for-each-ref --format=x 'refs/heads/" + name + "'").empty();
}

std::string ForgeServer::head(const Pull& pull) const {
  return pull.state == Pull::State::Open ? repository_.tip("refs/heads/" + pull.source) : pull.head;
}

bool ForgeServer::has_commit(const std::string& id) const {
  return id.size() == 40 && repository_.bare("cat-file -t " + id + " || true") == "commit";
}

void ForgeServer::set_check(const std::string& commit, const std::string& context, const std::string& state) {
  checks_[{commit, context}] = state;
}

std::string ForgeServer::check(const std::string& commit, const std::string& context) const {
  const auto at = checks_.find({commit, context});
  return at == checks_.end() ? "" : at->second;
}

bool ForgeServer::merge(int id, Style style) {
  Pull* pull = find(id);
  SLIPWAY_CHECK(pull != nullptr && pull->state == Pull::State::Open, "no such open pull request");
  const std::string tip = head(*pull);
  for (const std::string& context : required_checks_) {
    const std::string state = lower(check(tip, context));
    if (!state.starts_with("success")) return false;
  }
  repository_.git("fetch -q origin");
  repository_.git("checkout -q -B " + pull->target + " origin/" + pull->target);
  std::ofstream(repository_.folder() / "message") << fmt::format(
      "{} (#{})\n\n{}\n", pull->title, pull->id, style == Style::squash ? "* " + pull->title + "\n\n" + pull->description : "");
  if (style == Style::squash) {
    repository_.git("merge -q --squash origin/" + pull->source);
    repository_.git("commit -q -F ../message");
  } else {
    repository_.git("merge -q --no-ff -F ../message origin/" + pull->source);
  }
  repository_.git("push -q origin " + pull->target);
  pull->head = tip;
  pull->merged = repository_.git("rev-parse HEAD");
  pull->state = Pull::State::Merged;
  ++pull->version;
  return true;
}

void ForgeServer::review(int id, Review review) {
  Pull* pull = find(id);
  SLIPWAY_CHECK(pull != nullptr, "no such pull request");
  review.commit = head(*pull);
  pull->reviews.push_back(std::move(review));
  ++pull->version;
}

}  // namespace slipway::test
