// What the providers of forge.h share: where an API is, one call of it, and the pages of a list. For the forge_*.cc files.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "delivery/pipeline/forge.h"

namespace slipway::delivery::pipeline {

/// Pull requests of one branch that are looked through, newest first.
constexpr int kForgePageSize = 50;
constexpr int kMaxForgePages = 20;

/// A repository's URL, taken apart.
struct ForgePlace {
  std::string host;               // with its port where it is an http(s) URL that names one
  bool is_plain_http = false;     // http://
  std::vector<std::string> path;  // segments, the last without ".git"

  static Result<ForgePlace> parse(const std::string& url);
  /// A repository on this machine whose forge has an API elsewhere: "/…/OWNER/NAME.git". The host stays empty.
  static Result<ForgePlace> of_folder(const std::string& path);
  /// "https://HOST"
  std::string origin() const;
};

/// Everything but unreserved characters becomes %XX.
std::string percent_escaped(std::string_view text);

class ForgeApi {
 public:
  using Query = std::vector<std::pair<std::string, std::string>>;

  /// `base` has no "/" at its end; `headers` go with every call.
  ForgeApi(HttpClient& http, std::string provider, std::string base, http::Headers headers)
      : http_(http), provider_(std::move(provider)), base_(std::move(base)), headers_(std::move(headers)) {}

  /// The JSON of a 2xx answer; null for an empty one.
  Task<Result<json::Value>> call(std::string method, std::string path, json::Value body = {});
  Task<Result<json::Value>> get(std::string path, Query query = {});
  const std::string& provider() const { return provider_; }

 private:
  std::unexpected<Status> refused(const HttpCall& call, const std::string& path, const http::Response& answer) const;

  HttpClient& http_;
  std::string provider_;
  std::string base_;
  http::Headers headers_;
};

/// At most `bytes`, whole UTF-8 characters.
std::string cut(std::string text, std::size_t bytes);

std::unique_ptr<Forge> make_github(HttpClient& http, ForgeRepository repository, ForgePlace place);
std::unique_ptr<Forge> make_gitlab(HttpClient& http, ForgeRepository repository, ForgePlace place);
std::unique_ptr<Forge> make_bitbucket_server(HttpClient& http, ForgeRepository repository, ForgePlace place);

}  // namespace slipway::delivery::pipeline
