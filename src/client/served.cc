#include "client/served.h"

#include <algorithm>

namespace slipway::client {

const AnsweredVerb* AnsweredKind::find(Verb verb, std::string_view subresource) const {
  const auto at =
      std::ranges::find_if(verbs, [&](const AnsweredVerb& row) { return row.verb == verb && row.subresource == subresource; });
  return at == verbs.end() ? nullptr : &*at;
}

bool HttpPath::covers(std::string_view path) const {
  return path == prefix || (path.starts_with(prefix) && path.substr(prefix.size()).starts_with('/'));
}

}  // namespace slipway::client
