// metadata of a whole-object PUT: labels, annotations, finalizers and owner references, merged three ways by key, as conditions
// are: what the sender changed against what it had read goes into what is there now. The latest label is the server's. Pure.
#pragma once

#include "json/value.h"

namespace slipway::delivery::package {

/// Members that `sent` changed, added or left out against `base`, in `current`.
json::Value merge_members(const json::Value& base, const json::Value& current, const json::Value& sent);
/// Items by their text (finalizers), or by their uid (owner references).
json::Value merge_items(const json::Value& base, const json::Value& current, const json::Value& sent);
/// {labels, annotations, finalizers} of the three metadata.
json::Value merge_metadata(const json::Value& base, const json::Value& current, const json::Value& sent);

}  // namespace slipway::delivery::package
