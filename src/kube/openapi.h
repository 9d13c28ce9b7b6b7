// OpenAPI documents of what a server serves: one v3 document per group-version, and one v2 document for all, as JSON and in the
// protobuf form of gnostic (kubectl <= 1.28 asks only for that). Built-in kinds come from the field tables of kube/builtin.h,
// custom ones from the schemas of their definitions. Written are the parts clients read: components with their kinds, list and
// map types and patch strategies; paths with operations, parameters and media types. Same input, same bytes.
// DIVERGES: built-in fields have no descriptions (upstream's sentences are not ours to copy).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

/// A resource with objects: collection, object, and the subresources status and scale.
struct OpenApiType {
  std::shared_ptr<const ResourceType> type;
  json::Value schema{};  // openAPIV3Schema of a custom resource; null for built-in kinds
};
/// What is answered without being stored, or a subresource with a body of another kind.
struct OpenApiEndpoint {
  Resource resource;
  std::string subresource{};  // "" is the resource itself
  GroupVersionKind kind;      // of the body
  bool is_namespaced = true;
  std::vector<std::string> methods{};  // "get", "post", "put", "patch", "delete"
};
struct OpenApiInput {
  std::vector<OpenApiType> types;
  std::vector<OpenApiEndpoint> endpoints;
};

/// The v3 document of one group-version. One that serves nothing has no paths.
json::Value openapi_v3(const OpenApiInput& input, std::string_view group, std::string_view version);
/// The v2 document of everything.
json::Value openapi_v2(const OpenApiInput& input);
/// A v2 document as gnostic's openapi.v2.Document.
std::string openapi_v2_protobuf(const json::Value& document);

/// How clients ask for it; Go clients cannot read an '@' in a Content-Type, so an answer says the second (both are accepted).
inline constexpr std::string_view kOpenApiV2ProtobufAccept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenApiV2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Documents as text, made when first asked for and again when their types are other ones.
class OpenApiDocuments {
 public:
  struct Document {
    std::string text;
    std::string hash;  // of the text, upper-case hex; an ETag, and the `hash` of a v3 URL
  };
  using DocumentPtr = std::shared_ptr<const Document>;

  DocumentPtr v3(const OpenApiInput& input, std::string_view group, std::string_view version);
  DocumentPtr v2(const OpenApiInput& input);
  DocumentPtr v2_protobuf(const OpenApiInput& input);
  /// GET /openapi/v3: {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=…"}}}. `root` stands
  /// before each URL. Makes every document that is not made yet.
  json::Value v3_index(const OpenApiInput& input, std::string_view root);

 private:
  struct Entry {
    std::vector<std::shared_ptr<const ResourceType>> types;  // what the document was made of, kept alive to compare addresses
    DocumentPtr document;
  };

  Entry* fresh(const std::string& name, std::vector<std::shared_ptr<const ResourceType>> types);
  /// `tables` are read when a document must be made and they are null.
  DocumentPtr v3(const OpenApiInput& part, std::string_view group, std::string_view version, json::Value& tables);

  std::map<std::string, Entry> entries_;
};

}  // namespace slipway::kube
