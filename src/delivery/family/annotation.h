// Setting one annotation of an object. Pure.
#pragma once

#include "json/value.h"
#include "kube/object.h"

namespace slipway::delivery {

/// Returns the object with the annotation `key`, without it if `value` is null; unchanged if it is so already.
inline kube::Object with_annotation(const kube::Object& object, const char* key, const json::Value& value) {
  if (object["metadata"]["annotations"][key] == value) return object;
  return value.is_null() ? object.without_path({"metadata", "annotations", key})
                         : object.with_path({"metadata", "annotations", key}, value);
}

}  // namespace slipway::delivery
