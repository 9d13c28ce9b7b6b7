// Members of a spec that KubeVela keeps as one compressed text: `compression: {type: gzip | zstd, data}`, base64 of JSON. Pure.
// Follows kubevela/pkg util/compression.
#pragma once

#include "json/value.h"

namespace slipway::delivery::application {

/// Whether `spec` has such a text in place of its members.
bool is_compressed(const json::Value& spec);
/// `content` as such a text: the value of `compression`.
json::Value compressed(const json::Value& content);
/// What the text says. Null when it cannot be read.
json::Value uncompressed(const json::Value& spec);

}  // namespace slipway::delivery::application
