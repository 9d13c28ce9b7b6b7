#include "serve/family_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "serve/negotiate.h"
#include "serve/shape.h"

namespace slipway::serve {
namespace {

constexpr const char* kHealth = "/healthz";
constexpr std::string_view kBelowClusters = "/clusters/";

/// A place among those that are in flight.
class HeldFamily {
 public:
  explicit HeldFamily(std::size_t& count) : count_(count) { ++count_; }
  HeldFamily(const HeldFamily&) = delete;
  HeldFamily& operator=(const HeldFamily&) = delete;
  ~HeldFamily() { --count_; }

 private:
  std::size_t& count_;
};

}  // namespace

std::function<Result<std::uint64_t>(const net::MessageHead&)> body_limit_of(std::vector<client::HttpPath> paths) {
  std::erase_if(paths, [](const client::HttpPath& path) { return path.access != client::HttpPath::Access::Anyone; });
  return [paths = std::move(paths)](const net::MessageHead& head) -> Result<std::uint64_t> {
    std::string_view path = net::Target::split(head.target).path;
    if (path.starts_with(kBelowClusters)) path.remove_prefix(std::min(path.find('/', kBelowClusters.size()), path.size()));
    const auto row = std::ranges::find_if(paths, [&](const client::HttpPath& one) { return one.covers(path); });
    if (row == paths.end()) return std::numeric_limits<std::uint64_t>::max();
    if (!row->signature_header.empty() && !head.headers.contains(row->signature_header)) {
      return fail(Reason::Unauthorized, client::kNotSigned);
    }
    return row->max_body_bytes;
  };
}

FamilyPaths::FamilyPaths(Env& env, client::Client& client, std::vector<client::HttpPath> paths)
    : env_(env), client_(client), paths_(std::move(paths)) {
  std::erase_if(paths_, [](const client::HttpPath& path) { return path.access != client::HttpPath::Access::Anyone; });
}

Task<net::Answer> FamilyPaths::answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
  const Form form = plain_form(request.headers, {});
  const std::string peer = connection == nullptr ? "" : connection->peer_address;  // null: within the process
  auto made = co_await response(std::move(request), SourceLimit::source_of(peer));
  if (!made) co_return response_with(made.error(), form);
  made->headers.add("Cache-Control", "no-cache, private");
  co_return net::Answer(std::move(*made));
}

Task<Result<http::Response>> FamilyPaths::response(http::Request request, std::string source) {
  const std::string path(net::Target::split(request.target).path);
  if (path == kHealth) {
    http::Response healthy;
    healthy.headers.add("Content-Type", "text/plain");
    healthy.body = "ok";
    co_return healthy;
  }
  const auto row = std::ranges::find_if(paths_, [&](const client::HttpPath& one) { return one.covers(path); });
  if (row == paths_.end()) co_return fail(Reason::NotFound, fmt::format("nothing is served at {}", path));
  if (std::ranges::find(row->methods, request.method) == row->methods.end()) {
    co_return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
  }
  if (request.body.size() > row->max_body_bytes) {
    co_return fail(Reason::RequestEntityTooLarge, fmt::format("limit is {}", row->max_body_bytes));
  }
  const bool is_refused_often = strangers_.is_over(source, env_.clock.steady());
  if (is_refused_often || in_flight_ >= kInFlight)
    co_return fail(Reason::TooManyRequests, "too many requests at once: try again");
  const HeldFamily held(in_flight_);
  auto answered = co_await row->run({env_, client_}, std::move(request), nullptr);
  if (!answered) strangers_.add_refused(source, env_.clock.steady());
  co_return answered;
}

}  // namespace slipway::serve
