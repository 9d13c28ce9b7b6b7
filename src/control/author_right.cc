#include "control/author_right.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "client/access_review.h"
#include "control/acting_client.h"
#include "json/quoted.h"
#include "json/text.h"
#include "kube/policy_rule.h"

namespace slipway::control {
namespace {

using json::Value;

constexpr const char* kReviewManager = "slipway";
const kube::Resource kRulesReviews{"authorization.k8s.io", "v1", "selfsubjectrulesreviews"};

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
  status.message = fmt::format(
      "{}{} is forbidden: User {} cannot {} resource {} in API group {} in the namespace {}", right.resource.group_resource(),
      right.key.name.empty() ? "" : " " + json::quoted(right.key.name), json::quoted(user.name), right.verb,
      json::quoted(right.resource.plural + part), json::quoted(right.resource.group), json::quoted(right.key.ns));
  return status;
}

}  // namespace

bool lacks_right(const Status& error, const kube::UserInfo* author) {
  return author != nullptr && error.reason == Reason::Forbidden && !error.kind.empty();
}

std::string lacks_right_cause(const kube::UserInfo& author) {
  return std::string(is_unknown(author) ? kAuthorUnknown : kAuthorLacksRight);
}

std::string lacks_right_text(const Status& error, const kube::UserInfo& author) {
  if (is_unknown(author)) {
    return "the object was stored before its author was recorded, so nobody's rights serve for it: have a user write its spec "
           "again, or start Slipway with --adopt-as USER";
  }
  return fmt::format("{}; it acts as its author {}: grant the right, or have a user who has it write the spec again",
                     error.message, author.name);
}

Task<std::string> rules_text(client::Client& process, std::shared_ptr<const kube::UserInfo> user, std::string ns) {
  if (user == nullptr) co_return "";
  const Value review = json::object({{"apiVersion", kRulesReviews.group + "/" + kRulesReviews.version},
                                     {"kind", "SelfSubjectRulesReview"},
                                     {"spec", json::object({{"namespace", Value(ns)}})}});
  ActingClient own(process, std::move(user));
  const auto answer = co_await client::create(own, kRulesReviews, review, kReviewManager);
  if (!answer) co_return "";
  std::string text = json::print((*answer)["status"]["resourceRules"]);
  co_return text.size() > kMaxRulesText ? "" : text;
}

bool rules_grant(std::string_view text, const NeededRight& right) {
  const auto rules = json::parse(text);
  if (!rules) return false;
  const std::string resource = right.resource.plural + (right.subresource.empty() ? "" : "/" + right.subresource);
  return std::ranges::any_of(kube::policy_rules(*rules), [&](const kube::PolicyRule& rule) {
    return rule.allows(right.verb, right.resource.group, resource, right.key.name);
  });
}

Task<Result<bool>> has_right(client::Client& process, std::shared_ptr<const kube::UserInfo> user, NeededRight right) {
  if (user == nullptr) co_return true;
  if (user->narrowing) {
    if (!user->narrowing->ns.empty() && right.key.ns != user->narrowing->ns) co_return false;
    for (const kube::UserInfo& one : user->narrowing->by) {
      SLIPWAY_CO_TRY(may, co_await has_right(process, std::make_shared<const kube::UserInfo>(one), right));
      if (!may) co_return false;
    }
  }
  const Value review = client::access_review(user.get(), attributes_of(right));
  SLIPWAY_CO_TRY(answer, co_await client::create(process, client::kAccessReviews, review, kReviewManager));
  co_return answer["status"]["allowed"].as_bool();
}

Task<Result<void>> require_right(client::Client& process, std::shared_ptr<const kube::UserInfo> user, NeededRight right) {
  SLIPWAY_CO_TRY(may, co_await has_right(process, user, right));
  if (may) co_return Result<void>{};
  co_return fail(refused(*user, right));
}

}  // namespace slipway::control
