// HTTP messages as plain values (RFC 9110), shared by whoever speaks HTTP and whoever carries it: the server's routes, the
// client of foreign API servers, gates that call webhooks. No transport here; room net has it.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/task.h"

namespace slipway::http {

/// Header fields in the order of their arrival; names compare without case (ASCII).
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  /// The first value of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  /// The first value of that name, or nothing.
  std::string_view get(std::string_view name) const { return find(name).value_or(""); }
  bool contains(std::string_view name) const { return find(name).has_value(); }
  /// All values of that name.
  std::vector<std::string_view> all(std::string_view name) const;
  /// True when a comma-separated list of that name holds `token` (without case), as in `Connection: keep-alive, Upgrade`.
  bool has_token(std::string_view name, std::string_view token) const;
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces all values of that name.
  void set(std::string name, std::string value);
  void erase(std::string_view name);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool operator==(const Headers&) const = default;

 private:
  std::vector<Field> fields_;
};

bool equals_ignoring_case(std::string_view a, std::string_view b);
/// The elements of a comma-separated list, trimmed, empty ones left out.
std::vector<std::string_view> split_list(std::string_view value);

/// A body that comes in pieces, pulled by whoever consumes it: a watch or a followed log on its way out, the answer of a
/// foreign server on its way in. One next() at a time.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// The next piece, never empty; nullopt at the clean end. A Status when it was cut: the consumer must not take what came for
  /// all.
  virtual Task<Result<std::optional<std::string>>> next() = 0;
  /// The consumer has gone: a pending next() ends soon (with nullopt or a Status), later ones at once. May be called twice.
  virtual void close() = 0;
};

struct Request {
  std::string method = "GET";
  std::string target = "/";  // path and query as sent, not decoded
  Headers headers{};
  std::string body{};
};

struct Response {
  int status = 200;
  Headers headers{};
  std::string body{};
  std::unique_ptr<BodyStream> stream{};  // instead of body
};

/// "Not Found"; empty for codes without a name.
std::string_view status_text(int status);

}  // namespace slipway::http
