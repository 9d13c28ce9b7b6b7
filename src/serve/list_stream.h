// A list on its way out: its text is made piece by piece as the reader takes it, each within a fair turn of the logic thread. A
// list that fits one piece is a plain body.
#pragma once

#include "base/env.h"
#include "base/http.h"
#include "serve/list_text.h"

namespace slipway::serve {

/// The answer to a list, 200. What was listed is let go page by page. At most one piece (64 KiB and the end of an item) is in
/// memory at a time.
http::Response list_response(Env& env, ListText text, const Form& form);

}  // namespace slipway::serve
