// A web that answers from memory and a cluster that is a map, for the tests of this room.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/manual_env.h"
#include "delivery/probe/probe.h"
#include "json/text.h"

namespace slipway::delivery::probe {

/// Answers with what is queued, then with the last one again; a status of 0 is a cut connection, its body the transport's text.
class PaperWeb : public HttpClient {
 public:
  struct Reply {
    int status = 200;
    std::string body{};
  };
  std::vector<HttpCall> calls;
  std::deque<Reply> replies{Reply{}};

  Task<Result<http::Response>> send(HttpCall call) override {
    calls.push_back(call);
    const Reply reply = replies.front();
    if (replies.size() > 1) replies.pop_front();
    if (reply.status == 0) {
      co_return fail(Reason::ServiceUnavailable, reply.body.empty() ? "connection refused" : reply.body);
    }
    co_return http::Response{.status = reply.status, .body = reply.body};
  }
};

/// Objects by "resource/namespace/name", lists by "resource/namespace?selector"; gets, lists and creates only.
class PaperCluster : public client::Client {
 public:
  std::map<std::string, json::Value> objects;
  std::map<std::string, json::Value> lists;
  std::optional<Status> refusal{};  // of every call

  Task<Result<client::Reply>> call(client::Request request) override {
    if (refusal) co_return fail(*refusal);
    const std::string name = request.verb == client::Verb::Create ? std::string(kube::name(request.body)) : request.name;
    const std::string key = fmt::format("{}/{}/{}", request.resource.plural, request.ns, name);
    const auto found = objects.find(key);
    if (request.verb == client::Verb::Get) {
      if (found == objects.end()) co_return fail(Reason::NotFound, key + " not found");
      co_return client::Reply{.object = found->second, .warnings = {}};
    }
    if (request.verb == client::Verb::List) {
      const auto list = lists.find(fmt::format("{}/{}?{}", request.resource.plural, request.ns, request.label_selector));
      co_return client::Reply{.object = list == lists.end() ? json::Value() : list->second, .warnings = {}};
    }
    if (request.verb != client::Verb::Create) co_return fail(Reason::NotImplemented, "not on paper");
    if (found != objects.end()) co_return fail(Reason::AlreadyExists, key + " already exists");
    objects[key] = request.body;
    co_return client::Reply{.object = request.body, .warnings = {}, .code = 201};
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override {
    co_return fail(Reason::NotImplemented, "not on paper");
  }
};

}  // namespace slipway::delivery::probe
