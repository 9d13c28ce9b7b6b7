// Objects in the form that was asked for: whole, as a Table, or as their metadata only; and as text.
#pragma once

#include <string>

#include "kube/resource.h"
#include "serve/negotiate.h"

namespace slipway::serve {

/// What a get, list or write answers, in the shape of `form`. A Status stays as it is. NotAcceptable when a list is asked for
/// as one PartialObjectMetadata, or the other way round.
Result<json::Value> shaped(const json::Value& reply, const kube::ResourceType& type, const Form& form, Time now);
/// The object of one event of a watch; `is_first`: a Table then has its column definitions.
json::Value shaped_event(const json::Value& object, const kube::ResourceType& type, const Form& form, Time now, bool is_first);

std::string encoded(const json::Value& value, const Form& form);
/// An answer with `value` as its body. Lists have list_stream.h.
http::Response response_with(const json::Value& value, const Form& form, int code = 200);
/// A failure as v1 Status, with Retry-After where it says when.
http::Response response_with(const Status& status, const Form& form);

}  // namespace slipway::serve
