// The error type of Slipway: the Kubernetes Status (meta/v1). Every function that can fail returns Result<T>;
// only the reason steers control flow, the message explains to people. A broken invariant is not a Status:
// it aborts through base/check.h.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// Why a request failed. Enumerators are spelled as on the wire (metav1.StatusReason); each has one HTTP code.
enum class Reason : std::uint8_t {
  Unauthorized,           // 401
  Forbidden,              // 403
  NotFound,               // 404
  MethodNotAllowed,       // 405
  NotAcceptable,          // 406
  AlreadyExists,          // 409
  Conflict,               // 409
  Gone,                   // 410
  Expired,                // 410
  RequestEntityTooLarge,  // 413
  UnsupportedMediaType,   // 415
  Invalid,                // 422
  TooManyRequests,        // 429
  BadRequest,             // 400
  InternalError,          // 500
  ServerTimeout,          // 500
  StorageReadError,       // 500
  NotImplemented,         // 501; DIVERGES: upstream has no such reason
  ServiceUnavailable,     // 503
  Timeout,                // 504
};

/// HTTP code of a reason.
int http_code(Reason reason);
/// The wire spelling, e.g. "AlreadyExists".
std::string_view to_string(Reason reason);

/// One detail of a failure (metav1.StatusCause).
struct Cause {
  std::string reason;   // e.g. "FieldValueRequired", "FieldManagerConflict"
  std::string message;  // without the field, e.g. "Required value"
  std::string field;    // path, e.g. "spec.steps[build].jobTemplate"; may be empty

  bool operator==(const Cause&) const = default;
};

/// A failure, worded as upstream words it (metav1.Status with status "Failure").
struct Status {
  Reason reason = Reason::InternalError;
  std::string message;
  std::string name;   // details.name
  std::string group;  // details.group
  std::string kind;   // details.kind: the resource for NotFound and Conflict, the kind for Invalid (as upstream)
  std::string uid;    // details.uid
  std::vector<Cause> causes;
  int retry_after_seconds = 0;

  bool operator==(const Status&) const = default;
};

template <class T>
using Result = std::expected<T, Status>;

/// A failure with only a reason and a message.
std::unexpected<Status> fail(Reason reason, std::string message);
inline std::unexpected<Status> fail(Status status) { return std::unexpected(std::move(status)); }

/// Field errors as upstream words them (k8s.io/apimachinery/pkg/util/validation/field): the builders give the cause; the
/// message of the whole Status is made by kube::invalid(). `value` is the offending value as JSON text.
namespace field {
Cause required(std::string path, std::string detail = "");
Cause invalid(std::string path, std::string_view value, std::string detail);
Cause not_supported(std::string path, std::string_view value, const std::vector<std::string>& supported);
Cause forbidden(std::string path, std::string detail);
Cause not_found(std::string path, std::string_view value);
Cause duplicate(std::string path, std::string_view value);
Cause too_long(std::string path, std::size_t max_bytes);
Cause too_many(std::string path, std::size_t actual, std::size_t max_items);
Cause type_invalid(std::string path, std::string_view value, std::string detail);
}  // namespace field

}  // namespace slipway

// SLIPWAY_TRY(name, expression): binds the value of a Result to `name`, or returns its Status.
// The CO_ forms do the same in a coroutine; CHECK forms are for Result<void>.
#define SLIPWAY_CONCAT_(a, b) a##b
#define SLIPWAY_CONCAT(a, b) SLIPWAY_CONCAT_(a, b)
#define SLIPWAY_TRY_(tmp, name, expression, ret)         \
  auto tmp = (expression);                               \
  if (!tmp) ret ::slipway::fail(std::move(tmp).error()); \
  auto& name = *tmp
#define SLIPWAY_TRY(name, expression) SLIPWAY_TRY_(SLIPWAY_CONCAT(result_, __LINE__), name, expression, return)
#define SLIPWAY_CO_TRY(name, expression) SLIPWAY_TRY_(SLIPWAY_CONCAT(result_, __LINE__), name, expression, co_return)
#define SLIPWAY_TRY_VOID(expression) \
  if (auto outcome = (expression); !outcome) return ::slipway::fail(std::move(outcome).error())
#define SLIPWAY_CO_TRY_VOID(expression) \
  if (auto outcome = (expression); !outcome) co_return ::slipway::fail(std::move(outcome).error())
