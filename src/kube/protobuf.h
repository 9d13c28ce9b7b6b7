// The protobuf wire form of Kubernetes objects, to and from JSON values. An object on the wire is an envelope: the bytes
// "k8s\0", then runtime.Unknown with apiVersion, kind and the object as a message. A table of field facts
// (kube/protobuf_table.h) drives both directions, so a decoded object is what a JSON client would have sent. Custom resources
// have no such form.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

inline constexpr std::string_view kProtobufMediaType = "application/vnd.kubernetes.protobuf";
/// As the API server's body limit.
inline constexpr std::size_t kMaxProtobufBytes = std::size_t{3} << 20;
/// Messages nested in each other, objects within objects included.
inline constexpr std::size_t kMaxProtobufDepth = 200;

/// The object in an envelope. Where it names no kind, `otherwise` stands in, as the request's path does upstream; it is not
/// written into the object. BadRequest: no envelope, malformed, deeper than kMaxProtobufDepth, text that is no UTF-8, or a kind
/// without a message. RequestEntityTooLarge beyond kMaxProtobufBytes. Unknown fields are skipped, as Go does.
/// Zeros that Go's JSON leaves out are left out; null times are absent.
Result<json::Value> decode_protobuf(std::string_view body, const GroupVersionKind& otherwise = {});
/// A message without envelope, as the kind's JSON object (with its apiVersion and kind, but for WatchEvent, which has none).
Result<json::Value> decode_protobuf_as(std::string_view raw, const GroupVersionKind& kind);

/// True for kinds that encode_protobuf knows.
bool has_protobuf(const GroupVersionKind& kind);
/// The envelope of an object that has apiVersion and kind. NotAcceptable when its kind has no message, BadRequest with the
/// field's path when a field has a type the message cannot hold. Members the message does not know are left out.
Result<std::string> encode_protobuf(const json::Value& object);
/// One frame of a watch: four bytes of length (big-endian) and an enveloped WatchEvent. Errors as encode_protobuf.
Result<std::string> encode_protobuf_event(std::string_view type, const json::Value& object);

}  // namespace slipway::kube
