#include "serve/shape.h"

#include <fmt/format.h>

#include "json/text.h"

namespace slipway::serve {
namespace {

using json::Value;

std::string meta_api_version(const Form& form) { return "meta.k8s.io/" + form.meta_version; }

bool is_list(const Value& reply, const kube::ResourceType& type) { return reply["kind"].as_string() == type.list_kind; }

Value metadata_of(const Value& object, const Form& form) {
  return json::object({{"kind", "PartialObjectMetadata"},
                       {"apiVersion", meta_api_version(form)},
                       {"metadata", object["metadata"].is_null() ? Value::empty_object() : object["metadata"]}});
}

/// What the metadata of a Table says of the list, or of the object.
Value table_metadata(const Value& metadata) {
  json::ObjectBuilder kept;
  for (const char* key : {"resourceVersion", "continue", "remainingItemCount"}) {
    if (metadata.has(key)) kept.set(key, metadata[key]);
  }
  return kept.build();
}

Value table_of(std::span<const Value> objects, const Value& metadata, const kube::ResourceType& type, const Form& form,
               Time now) {
  const Value table = kube::make_table(type, objects, now, form.row_object);
  return json::object({{"kind", "Table"},
                       {"apiVersion", meta_api_version(form)},
                       {"metadata", table_metadata(metadata)},
                       {"columnDefinitions", table["columnDefinitions"]},
                       {"rows", table["rows"]}});
}

Value metadata_list(const Value& list, const Form& form) {
  json::ArrayBuilder items;
  for (const Value& item : list["items"].items()) items.add(metadata_of(item, form));
  return json::object({{"kind", "PartialObjectMetadataList"},
                       {"apiVersion", meta_api_version(form)},
                       {"metadata", list["metadata"]},
                       {"items", items.build()}});
}

}  // namespace

Result<Value> shaped(const Value& reply, const kube::ResourceType& type, const Form& form, Time now) {
  if (form.shape == Shape::Object || reply["kind"].as_string() == "Status") return reply;
  const bool has_items = is_list(reply, type);
  switch (form.shape) {
    case Shape::Table:
      return table_of(has_items ? reply["items"].items() : std::span<const Value>(&reply, 1), reply["metadata"], type, form,
                      now);
    case Shape::Metadata:
      if (!has_items) return metadata_of(reply, form);
      return fail(Reason::NotAcceptable,
                  fmt::format("you requested PartialObjectMetadata, but the requested object is a list ({})", type.list_kind));
    case Shape::MetadataList:
      if (has_items) return metadata_list(reply, form);
      return fail(
          Reason::NotAcceptable,
          fmt::format("you requested PartialObjectMetadataList, but the requested object is not a list ({})", type.kind.kind));
    case Shape::Object:
      break;
  }
  return reply;
}

Value shaped_event(const Value& object, const kube::ResourceType& type, const Form& form, Time now, bool is_first) {
  switch (form.shape) {
    case Shape::Object:
      return object;
    case Shape::Metadata:
    case Shape::MetadataList:
      return metadata_of(object, form);
    case Shape::Table:
      break;
  }
  const Value table = table_of(std::span<const Value>(&object, 1), object["metadata"], type, form, now);
  return is_first ? table : table.with("columnDefinitions", Value());
}

std::string encoded(const Value& value, const Form& form) {
  if (form.encoding == Encoding::Yaml) return json::print_yaml(value);
  std::string text = form.is_pretty ? json::print_pretty(value, 2) : json::print(value);
  text += '\n';
  return text;
}

http::Response response_with(const Value& value, const Form& form, int code) {
  http::Response response;
  response.status = code;
  response.headers.add("Content-Type", form.content_type());
  response.body = encoded(value, form);
  return response;
}

http::Response response_with(const Status& status, const Form& form) {
  http::Response response = response_with(kube::to_json(status), form, http_code(status.reason));
  if (status.retry_after_seconds > 0) response.headers.add("Retry-After", std::to_string(status.retry_after_seconds));
  return response;
}

}  // namespace slipway::serve
