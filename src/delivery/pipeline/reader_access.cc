#include "delivery/pipeline/reader_access.h"

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/known_kinds.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

const kube::Resource kOwnReviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
const kube::Resource kReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};

Value hidden(const Value& row) {
  return json::object({{"clusterAppRef", row["clusterAppRef"]},
                       {"namespace", row["namespace"]},
                       {"state", "forbidden"},
                       {"message", "you may not see it"}});
}

/// The body of a review: of oneself, or of `user`.
Value review_of(const kube::UserInfo* user, Value attributes) {
  Value spec = Value().with("resourceAttributes", std::move(attributes));
  if (user != nullptr) {
    json::ArrayBuilder groups;
    for (const std::string& one : user->groups) groups.add(one);
    spec = spec.with("user", user->name).with("groups", groups.build());
  }
  return json::object({{"apiVersion", "authorization.k8s.io/v1"},
                       {"kind", user == nullptr ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
                       {"spec", std::move(spec)}});
}

}  // namespace

ReaderAccess::Question ReaderAccess::question_of(const kube::Object& pipeline, const Value& row) {
  const Value& app = row["clusterAppRef"];
  if (const Value& cluster = app["clusterRef"]; !cluster.is_null()) {
    const std::string_view ns = cluster["namespace"].as_string();
    return {kGitopsClusters.group, kGitopsClusters.plural, std::string(ns.empty() ? kube::ns(pipeline) : ns),
            cluster["name"].str()};
  }
  const std::string_view version = app["apiVersion"].as_string();
  const auto slash = version.find('/');
  std::string group(slash == std::string_view::npos ? "" : version.substr(0, slash));
  const KnownKind* known = find_known_kind(group, app["kind"].as_string());
  if (known != nullptr) return {std::string(known->group), std::string(known->plural), row["namespace"].str(), ""};
  return {std::move(group), lower(app["kind"].as_string()) + "s", row["namespace"].str(), ""};
}

Task<Result<bool>> ReaderAccess::allows(client::Client& client, std::shared_ptr<const kube::UserInfo> user, Question question) {
  const std::pair key{user ? user->name : std::string(), question};
  const Steady now = env_.clock.steady();
  if (const auto found = known_.find(key); found != known_.end() && now < found->second.until)
    co_return found->second.is_allowed;
  Value attributes =
      json::object({{"verb", "get"}, {"group", question.group}, {"resource", question.resource}, {"namespace", question.ns}});
  if (!question.name.empty()) attributes = attributes.with("name", question.name);
  ++reviews_;
  SLIPWAY_CO_TRY(answer, co_await client::create(client, user ? kReviews : kOwnReviews,
                                                 review_of(user.get(), std::move(attributes)), "slipway"));
  const bool is_allowed = answer["status"]["allowed"].as_bool();
  if (known_.size() >= kMost) known_.clear();
  known_[key] = {.is_allowed = is_allowed, .until = now + kKept};
  co_return is_allowed;
}

Task<Result<Value>> ReaderAccess::seen(client::Client& client, std::shared_ptr<const kube::UserInfo> user,
                                       kube::Object pipeline) {
  Value status = pipeline["status"];
  const Value environments = status["environments"];
  for (const auto& [name, environment] : environments.members()) {
    json::ArrayBuilder rows;
    bool is_any_hidden = false;
    for (const Value& row : environment["targets"].items()) {
      SLIPWAY_CO_TRY(is_allowed, co_await allows(client, user, question_of(pipeline, row)));
      is_any_hidden |= !is_allowed;
      rows.add(is_allowed ? row : hidden(row));
    }
    if (!is_any_hidden) continue;
    status = status.with_path({"environments", name, "targets"}, rows.build());
    // Problems and triggers name workloads.
    status = status.without("problems").without("triggers");
  }
  co_return status;
}

}  // namespace slipway::delivery::pipeline
