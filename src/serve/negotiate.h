// Which form an answer takes: the media types of an Accept header with their Kubernetes parameters (as, v, g: a Table or only
// the metadata), `pretty` and `includeObject`; and what a Content-Type says about a body. Follows
// k8s.io/apiserver/pkg/endpoints/handlers/negotiation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http.h"
#include "kube/table.h"
#include "net/http.h"

namespace slipway::serve {

/// One element of an Accept header.
struct MediaRange {
  std::string type;                                             // "application", "*"
  std::string subtype;                                          // "json", "*"
  std::vector<std::pair<std::string, std::string>> parameters;  // without q
  double quality = 1;

  std::string_view parameter(std::string_view name) const;
  bool matches(std::string_view media_type, std::string_view media_subtype) const;
};
/// By descending quality, else in order. What cannot be read is left out.
std::vector<MediaRange> parse_accept(std::string_view header);

enum class Encoding : std::uint8_t { Json, Yaml };
enum class Shape : std::uint8_t { Object, Table, Metadata, MetadataList };

/// How to answer.
struct Form {
  Encoding encoding = Encoding::Json;
  Shape shape = Shape::Object;
  std::string meta_version = "v1";  // of a Table or PartialObjectMetadata: v1 or v1beta1
  kube::RowObject row_object = kube::RowObject::Metadata;
  bool is_pretty = false;

  /// "application/json".
  std::string content_type() const;
};

enum class Purpose : std::uint8_t { Answer, Stream };
/// NotAcceptable when nothing offered is among what is asked for; Invalid for an unknown includeObject.
Result<Form> negotiate(const http::Headers& headers, const net::Query& query, Purpose purpose);
/// JSON, pretty when asked for: what errors are told in when nothing was negotiated.
Form plain_form(const http::Headers& headers, const net::Query& query);

/// What a request's body is written in.
enum class BodyEncoding : std::uint8_t { Json, Yaml, Protobuf };
/// By Content-Type; JSON when there is none. UnsupportedMediaType.
Result<BodyEncoding> body_encoding(std::string_view content_type);

}  // namespace slipway::serve
