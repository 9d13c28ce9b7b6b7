// Which resources are served: the built-in kinds, those of CustomResourceDefinitions and those that functions answer. One entry
// joins what every room may know (kube::ResourceType) with what only the server needs: where objects are stored and how the
// kind behaves.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/served.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::server {

struct Conversion;
struct Endpoint;
class Rules;
struct Strategy;

using TypePtr = std::shared_ptr<const kube::ResourceType>;

/// What of a stored object one path reads and writes: the object itself or one of its subresources.
struct Part {
  enum class Content : std::uint8_t {
    Whole,
    Status,
    Scale,     // autoscaling/v1 Scale, made from fields of the object
    OfKind,    // Strategy::subresource: namespaces/finalize
    Answered,  // a subresource of a kind that functions answer
  };
  Content content = Content::Whole;
  std::span<const client::Verb> verbs{};

  bool takes(client::Verb verb) const;
};

/// One served resource in one version. Immutable once registered.
struct Served {
  kube::ResourceType type;
  std::string api_version;                 // "batch/v1", filled by put()
  std::string stored_api_version;          // what new objects carry in the store; empty: api_version
  std::string prefix;                      // of its keys in the store: "/registry/batch/jobs/", filled by put()
  const Strategy* strategy = nullptr;      // never null once registered
  const Conversion* conversion = nullptr;  // filled by put(): of a built-in resource that is stored as another
  /// Objects written up to this revision were stored under an older schema: readers prune and default them.
  kube::Revision schema_since = 0;
  json::Value source{};                  // of a custom resource: what of its CustomResourceDefinition made this entry
  std::shared_ptr<const Rules> rules{};  // of a custom resource, see server/rules.h; may be null
  std::string deprecation;               // a warning that goes with every answer; empty: none
  /// Of a kind of which nothing is stored: what answers instead (client/served.h). Null for all others.
  std::shared_ptr<const client::AnsweredKind> answers{};
  std::map<std::string, std::vector<client::Verb>, std::less<>> answered_parts{};  // its verbs, by subresource
  bool is_terminating = false;  // its CustomResourceDefinition is being deleted: nothing new may be created

  std::string key(std::string_view ns, std::string_view name) const;
  /// The part behind a subresource's name, "" being the whole object; nullopt when the resource has no such part. The only
  /// place that says which subresource takes which verb. Endpoints with an answer of their own (server/endpoint.h) are no
  /// parts.
  std::optional<Part> part(std::string_view subresource) const;
  /// A stored object as this version shows it.
  kube::Object shown(const kube::Object& stored, kube::Revision modified) const;
  /// As selectors see it: as shown() but for the apiVersion, which none looks at.
  kube::Object matched(const kube::Object& stored, kube::Revision modified) const {
    return conversion != nullptr || is_older(modified) ? shown(stored, modified) : stored;
  }

 private:
  /// Stored under an older schema.
  bool is_older(kube::Revision modified) const { return modified <= schema_since && type.schema != nullptr; }
};
using ServedPtr = std::shared_ptr<const Served>;

/// Its type, which keeps it alive.
TypePtr type_of(const ServedPtr& served);

class Registry {
 public:
  /// Only::Answered: without the endpoints of the built-in kinds (server/endpoint.h).
  enum class Only : std::uint8_t { Everything, Answered };
  explicit Registry(Only only = Only::Everything) : only_(only) {}

  /// NotFound "the server could not find the requested resource" when not served; NotImplemented for a version that is refused.
  Result<TypePtr> find(const kube::Resource& resource) const;
  /// NotFound `no matches for kind "X" in version "g/v"`.
  Result<TypePtr> find_kind(const kube::GroupVersionKind& kind) const;
  /// By what people type (kube/resource_word.h): NotFound when there is none.
  Result<TypePtr> find_word(std::string_view word) const;
  /// A built-in kind.
  void put(kube::ResourceType type);
  /// A kind that functions answer.
  void put(client::AnsweredKind kind);
  void refuse(std::vector<client::UnservedVersion> versions) { refused_ = std::move(versions); }
  void remove(const kube::Resource& resource);
  /// In order of group, version, plural.
  std::vector<TypePtr> all() const;

  Result<ServedPtr> served(const kube::Resource& resource) const;
  /// Every version of a resource, in order.
  std::vector<ServedPtr> versions(std::string_view group, std::string_view plural) const;
  void put(Served served);
  /// Removes every version of a resource.
  void remove_all(std::string_view group, std::string_view plural);

  /// The endpoints that are served beside the types; null when there is none at that place.
  std::span<const Endpoint> endpoints() const;
  const Endpoint* find_endpoint(const kube::Resource& resource, std::string_view subresource) const;

 private:
  std::unexpected<Status> not_served(std::string_view group, std::string_view version, std::string not_found) const;

  Only only_;
  std::vector<client::UnservedVersion> refused_;
  std::map<kube::Resource, ServedPtr> types_;
};

}  // namespace slipway::server
