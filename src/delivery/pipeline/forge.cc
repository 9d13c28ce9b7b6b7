#include "delivery/pipeline/forge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/count.h"
#include "base/http_reason.h"
#include "base/text.h"
#include "delivery/pipeline/forge_call.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr int kDefaultRetrySeconds = 60;

struct Provider {
  std::string_view name;
  std::unique_ptr<Forge> (*make)(HttpClient&, ForgeRepository, ForgePlace);
};
constexpr std::array kProviders{Provider{"github", make_github}, Provider{"gitlab", make_gitlab},
                                Provider{"bitbucket-server", make_bitbucket_server}};

bool is_success(int status) { return status >= 200 && status < 300; }

Reason reason_of(int status, bool is_rate_limited) {
  if (is_rate_limited) return Reason::TooManyRequests;
  if (status == 409) return Reason::Conflict;
  return status == 400 || status == 422 ? Reason::Invalid : reason_of_http(status);
}

/// Every provider has its own place for what went wrong: {message, errors: [{message}]}, {message: text or object}, {error},
/// {errors: [{message}]}.
std::string error_words(std::string_view body) {
  const auto read = json::parse(body);
  if (!read || !read->is_object()) return cut(std::string(body), 300);
  std::vector<std::string> words;
  for (const char* name : {"message", "error", "error_description"}) {
    const json::Value& value = (*read)[name];
    if (value.is_string()) words.push_back(value.str());
    if (value.is_object() || value.is_array()) words.push_back(json::print(value));
  }
  for (const json::Value& one : (*read)["errors"].items()) {
    if (one["message"].is_string()) words.push_back(one["message"].str());
  }
  return cut(joined(words, "; "), 600);
}

int seconds_in(std::string_view text) { return text.size() < 8 ? static_cast<int>(parse_count(text).value_or(0)) : 0; }

}  // namespace

std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

std::string percent_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

Result<ForgePlace> ForgePlace::of_folder(const std::string& path) {
  ForgePlace place;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty()) place.path.emplace_back(part);
  }
  if (place.path.size() < 2) return fail(Reason::BadRequest, "the folder names no repository of a forge: /…/OWNER/NAME.git");
  place.path.erase(place.path.begin(), place.path.end() - 2);
  std::string& last = place.path.back();
  if (last.ends_with(".git")) last.resize(last.size() - 4);
  return place;
}

Result<ForgePlace> ForgePlace::parse(const std::string& url) {
  const auto bad = [] {
    return fail(Reason::BadRequest, "the URL names no repository of a forge: https://HOST/PATH or git@HOST:PATH");
  };
  if (url.starts_with('/')) return of_folder(url);
  ForgePlace place;
  std::string_view rest = url;
  const auto scheme = rest.find("://");
  const bool is_http = rest.starts_with("http://") || rest.starts_with("https://");
  place.is_plain_http = rest.starts_with("http://");
  const bool is_ssh = rest.starts_with("ssh://");
  if (scheme != std::string_view::npos && !is_http && !is_ssh) return bad();
  if (scheme != std::string_view::npos) rest.remove_prefix(scheme + 3);
  const auto end = rest.find_first_of(scheme == std::string_view::npos ? ":" : "/");
  if (end == std::string_view::npos || end == 0) return bad();
  std::string_view host = rest.substr(0, end);
  if (const auto at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (!is_http) host = host.substr(0, host.find(':'));  // the port of ssh is not that of the API
  place.host = host;
  for (const std::string_view part : split(rest.substr(end + 1), '/')) {
    if (!part.empty()) place.path.emplace_back(part);
  }
  if (place.path.size() < 2 || host.empty()) return bad();
  std::string& last = place.path.back();
  if (last.ends_with(".git")) last.resize(last.size() - 4);
  return place;
}

std::string ForgePlace::origin() const { return fmt::format("{}://{}", is_plain_http ? "http" : "https", host); }

Task<Result<json::Value>> ForgeApi::get(std::string path, Query query) {
  std::string target = std::move(path);
  char between = '?';
  for (const auto& [name, value] : query) {
    target += fmt::format("{}{}={}", std::exchange(between, '&'), name, percent_escaped(value));
  }
  return call("GET", std::move(target));
}

Task<Result<json::Value>> ForgeApi::call(std::string method, std::string path, json::Value body) {
  HttpCall request{.url = base_ + path, .method = std::move(method), .headers = headers_};
  if (!body.is_null()) {
    request.headers.set("Content-Type", "application/json");
    request.body = json::print(body);
  }
  SLIPWAY_CO_TRY(answer, co_await http_.send(request));
  if (!is_success(answer.status)) co_return refused(request, path, answer);
  if (answer.body.empty()) co_return json::Value();
  auto read = json::parse(answer.body, {.max_bytes = std::size_t{16} << 20});
  if (read) co_return std::move(*read);
  co_return fail(Reason::ServiceUnavailable,
                 fmt::format("{}: {} {}: the answer is not JSON: {}", provider_, request.method, path, read.error().message));
}

std::unexpected<Status> ForgeApi::refused(const HttpCall& call, const std::string& path, const http::Response& answer) const {
  // GitHub tells a spent limit with 403 and x-ratelimit-remaining: 0, or with Retry-After.
  const std::string_view pause = answer.headers.get("Retry-After");
  const bool is_spent = answer.headers.get("x-ratelimit-remaining") == "0" || !pause.empty();
  const bool is_limited = answer.status == 429 || (answer.status == 403 && is_spent);
  Status status;
  status.reason = reason_of(answer.status, is_limited);
  status.message = fmt::format("{}: {} {}: {}: {}", provider_, call.method, path.substr(0, path.find('?')), answer.status,
                               error_words(answer.body));
  if (is_limited || answer.status == 503) status.retry_after_seconds = seconds_in(pause);
  if (is_limited && status.retry_after_seconds == 0) status.retry_after_seconds = kDefaultRetrySeconds;
  return fail(std::move(status));
}

Result<std::unique_ptr<Forge>> make_forge(HttpClient& http, ForgeRepository repository) {
  if (repository.provider == "azure-devops") {
    return fail(Reason::NotImplemented,
                "pull requests of azure-devops are not made: use github, gitlab or bitbucket-server, or the "
                "strategy notification with a receiver of your own");
  }
  const auto row = std::ranges::find(kProviders, repository.provider, &Provider::name);
  if (row == kProviders.end()) {
    return fail(Reason::Invalid,
                fmt::format("no forge is called \"{}\": github, gitlab, bitbucket-server", repository.provider));
  }
  SLIPWAY_TRY(place, ForgePlace::parse(repository.url));
  while (repository.api_url.ends_with('/')) repository.api_url.pop_back();
  if (place.host.empty() && repository.api_url.empty()) {
    return fail(Reason::BadRequest, "the repository is a folder here: say with apiUrl where its forge is");
  }
  return row->make(http, std::move(repository), std::move(place));
}

std::string title_of(const NewPullRequest& wanted) { return wanted.title.empty() ? wanted.text.subject() : wanted.title; }

std::string description_of(const NewPullRequest& wanted) {
  if (wanted.text.key.empty()) return wanted.body;
  return fmt::format("{}{}{}", wanted.body, wanted.body.empty() ? "" : "\n\n", wanted.text.trailers());
}

Task<Result<PullRequestView>> ensure_open(Forge& forge, NewPullRequest wanted) {
  SLIPWAY_CO_TRY(known, co_await forge.find(wanted.source, wanted.text.key));
  if (known) co_return std::move(*known);
  SLIPWAY_CO_TRY(other, co_await forge.find(wanted.source, ""));
  if (other && other->state == PullState::Open && other->target == wanted.target) {
    const std::string key = trailer_of(other->description, kPromotionTrailer);
    if (!key.empty()) co_return co_await forge.update(std::move(*other), wanted.text.subject(), description_of(wanted));
    co_return fail(Reason::Conflict,
                   fmt::format("{} is open for branch {} and was not made by a promotion: close it, or merge it", other->url,
                               wanted.source));
  }
  co_return co_await forge.open(std::move(wanted));
}

}  // namespace slipway::delivery::pipeline
