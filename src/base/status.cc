#include "base/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace slipway {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view text;
  int code;
};

constexpr std::array kReasons{
    ReasonRow{Reason::Unauthorized, "Unauthorized", 401},
    ReasonRow{Reason::Forbidden, "Forbidden", 403},
    ReasonRow{Reason::NotFound, "NotFound", 404},
    ReasonRow{Reason::MethodNotAllowed, "MethodNotAllowed", 405},
    ReasonRow{Reason::NotAcceptable, "NotAcceptable", 406},
    ReasonRow{Reason::AlreadyExists, "AlreadyExists", 409},
    ReasonRow{Reason::Conflict, "Conflict", 409},
    ReasonRow{Reason::Gone, "Gone", 410},
    ReasonRow{Reason::Expired, "Expired", 410},
    ReasonRow{Reason::RequestEntityTooLarge, "RequestEntityTooLarge", 413},
    ReasonRow{Reason::UnsupportedMediaType, "UnsupportedMediaType", 415},
    ReasonRow{Reason::Invalid, "Invalid", 422},
    ReasonRow{Reason::TooManyRequests, "TooManyRequests", 429},
    ReasonRow{Reason::BadRequest, "BadRequest", 400},
    ReasonRow{Reason::InternalError, "InternalError", 500},
    ReasonRow{Reason::ServerTimeout, "ServerTimeout", 500},
    ReasonRow{Reason::StorageReadError, "StorageReadError", 500},
    ReasonRow{Reason::NotImplemented, "NotImplemented", 501},
    ReasonRow{Reason::ServiceUnavailable, "ServiceUnavailable", 503},
    ReasonRow{Reason::Timeout, "Timeout", 504},
};

const ReasonRow& row(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

Cause cause(std::string_view reason, std::string path, std::string message) {
  return Cause{.reason = std::string(reason), .message = std::move(message), .field = std::move(path)};
}

std::string with_detail(std::string text, const std::string& detail) { return detail.empty() ? text : text + ": " + detail; }

}  // namespace

int http_code(Reason reason) { return row(reason).code; }
std::string_view to_string(Reason reason) { return row(reason).text; }

std::unexpected<Status> fail(Reason reason, std::string message) {
  Status status;
  status.reason = reason;
  status.message = std::move(message);
  return std::unexpected(std::move(status));
}

namespace field {

Cause required(std::string path, std::string detail) {
  return cause("FieldValueRequired", std::move(path), with_detail("Required value", detail));
}

Cause invalid(std::string path, std::string_view value, std::string detail) {
  return cause("FieldValueInvalid", std::move(path), with_detail(fmt::format("Invalid value: {}", value), detail));
}

Cause not_supported(std::string path, std::string_view value, const std::vector<std::string>& supported) {
  std::string list;
  for (const auto& one : supported) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", one);
  return cause("FieldValueNotSupported", std::move(path),
               fmt::format("Unsupported value: {}: supported values: {}", value, list));
}

Cause forbidden(std::string path, std::string detail) {
  return cause("FieldValueForbidden", std::move(path), with_detail("Forbidden", detail));
}

Cause not_found(std::string path, std::string_view value) {
  return cause("FieldValueNotFound", std::move(path), fmt::format("Not found: {}", value));
}

Cause duplicate(std::string path, std::string_view value) {
  return cause("FieldValueDuplicate", std::move(path), fmt::format("Duplicate value: {}", value));
}

Cause too_long(std::string path, std::size_t max_bytes) {
  return cause("FieldValueTooLong", std::move(path), fmt::format("Too long: may not be more than {} bytes", max_bytes));
}

Cause too_many(std::string path, std::size_t actual, std::size_t max_items) {
  return cause("FieldValueTooMany", std::move(path),
               fmt::format("Too many: {}: must have at most {} items", actual, max_items));
}

Cause type_invalid(std::string path, std::string_view value, std::string detail) {
  return cause("FieldValueTypeInvalid", std::move(path), with_detail(fmt::format("Invalid value: {}", value), detail));
}

}  // namespace field
}  // namespace slipway
