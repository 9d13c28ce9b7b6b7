// A client::Request as HTTP says it, and an HTTP answer as a Reply or a Status. Pure; JSON only.
#pragma once

#include <string>

#include "base/http_client.h"
#include "client/client.h"

namespace slipway::remote {

/// `server`: "https://host:port/prefix". Credentials are added by the caller; a request that is another user's says so by
/// impersonation headers.
HttpCall call_of(const client::Request& request, const std::string& server);

/// The object of a good answer, or its Status; an answer that is no Status gets the reason of its code.
Result<client::Reply> reply_of(const http::Response& response);

/// One line of a watch: an event, or its failed end.
Result<client::WatchEvent> event_of(std::string_view line);

}  // namespace slipway::remote
