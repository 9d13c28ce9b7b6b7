// The reason that an HTTP status of a server which is not ours stands for (RFC 9110, section 15), as far as all such servers
// mean the same by it. What one protocol means by 400, 409, 413 or 422 is its caller's to say first.
#pragma once

#include "base/status.h"

namespace slipway {

/// Of a status that is no success. NotFound is 410 too; all other 4xx (and 3xx) are BadRequest, from 500 on ServiceUnavailable.
Reason reason_of_http(int status);

}  // namespace slipway
