#include "base/http_reason.h"

namespace slipway {

Reason reason_of_http(int status) {
  switch (status) {
    case 401:
      return Reason::Unauthorized;
    case 403:
      return Reason::Forbidden;
    case 404:
    case 410:
      return Reason::NotFound;
    case 429:
      return Reason::TooManyRequests;
    default:
      return status >= 500 ? Reason::ServiceUnavailable : Reason::BadRequest;
  }
}

}  // namespace slipway
