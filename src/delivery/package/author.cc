#include "delivery/package/author.h"

#include <fmt/format.h>

#include "json/quoted.h"

namespace slipway::delivery::package {
namespace {

using json::quoted;
using json::Value;

constexpr const char* kManager = "slipway-package";
constexpr std::string_view kSteering = "packages.slipway.dev/";
const kube::Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};

Value strings(const std::vector<std::string>& list) {
  json::ArrayBuilder made;
  for (const std::string& one : list) made.add(one);
  return made.build();
}

Value review_of(const kube::UserInfo& user, const NeededRight& right) {
  json::ObjectBuilder extra;
  for (const auto& [name, values] : user.extra) extra.add(name, strings(values));
  const Value attributes = json::object({{"namespace", Value(right.key.ns)},
                                         {"verb", Value(right.verb)},
                                         {"group", Value(right.resource.group)},
                                         {"version", Value(right.resource.version)},
                                         {"resource", Value(right.resource.plural)},
                                         {"subresource", Value(right.subresource)},
                                         {"name", Value(right.key.name)}});
  const Value spec = json::object({{"user", Value(user.name)},
                                   {"uid", Value(user.uid)},
                                   {"groups", strings(user.groups)},
                                   {"extra", extra.build()},
                                   {"resourceAttributes", attributes}});
  return json::object({{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", spec}});
}

Status refused(const kube::UserInfo& user, const NeededRight& right) {
  Status status;
  status.reason = Reason::Forbidden;
  status.name = right.key.name;
  status.group = right.resource.group;
  status.kind = right.resource.plural;
  const std::string part = right.subresource.empty() ? "" : "/" + right.subresource;
  status.message = fmt::format("{}{} is forbidden: User {} cannot {} resource {} in API group {} in the namespace {}",
                               right.resource.group_resource(), right.key.name.empty() ? "" : " " + quoted(right.key.name),
                               quoted(user.name), right.verb, quoted(right.resource.plural + part),
                               quoted(right.resource.group), quoted(right.key.ns));
  return status;
}

}  // namespace

kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return record_author(kAuthor, object, old, asker, kSteering);
}

Author author_of(const kube::Object& object) { return recorded_identity(kAuthor, object); }

Task<Result<bool>> has_right(client::Client& process, Author user, NeededRight right) {
  if (user == nullptr) co_return true;
  SLIPWAY_CO_TRY(answer, co_await client::create(process, kAccessReviews, review_of(*user, right), kManager));
  co_return answer["status"]["allowed"].as_bool();
}

Task<Result<void>> require_right(client::Client& process, Author user, NeededRight right) {
  SLIPWAY_CO_TRY(may, co_await has_right(process, user, right));
  if (may) co_return Result<void>{};
  co_return fail(refused(*user, right));
}

}  // namespace slipway::delivery::package
