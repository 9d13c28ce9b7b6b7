#include "delivery/package/author.h"

#include <fmt/format.h>

#include "client/access_review.h"
#include "json/quoted.h"

namespace slipway::delivery::package {
namespace {

using json::quoted;
using json::Value;

constexpr const char* kAuthorManager = "slipway-package";
constexpr std::string_view kSteering = "packages.slipway.dev/";

Value attributes_of(const NeededRight& right) {
  return json::object({{"namespace", Value(right.key.ns)},
                       {"verb", Value(right.verb)},
                       {"group", Value(right.resource.group)},
                       {"version", Value(right.resource.version)},
                       {"resource", Value(right.resource.plural)},
                       {"subresource", Value(right.subresource)},
                       {"name", Value(right.key.name)}});
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

Author author_of(const kube::Object& object, ActsAs acts_as) {
  return acts_as == ActsAs::User ? recorded_identity(kAuthor, object) : nullptr;
}

Task<Result<bool>> has_right(client::Client& process, Author user, NeededRight right) {
  if (user == nullptr) co_return true;
  const Value review = client::access_review(user.get(), attributes_of(right));
  SLIPWAY_CO_TRY(answer, co_await client::create(process, client::kAccessReviews, review, kAuthorManager));
  co_return answer["status"]["allowed"].as_bool();
}

Task<Result<void>> require_right(client::Client& process, Author user, NeededRight right) {
  SLIPWAY_CO_TRY(may, co_await has_right(process, user, right));
  if (may) co_return Result<void>{};
  co_return fail(refused(*user, right));
}

}  // namespace slipway::delivery::package
