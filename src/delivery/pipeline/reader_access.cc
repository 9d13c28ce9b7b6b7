#include "delivery/pipeline/reader_access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "client/access_review.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/known_kinds.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

Value hidden(const Value& row) {
  return json::object({{"clusterAppRef", row["clusterAppRef"]},
                       {"namespace", row["namespace"]},
                       {"state", "forbidden"},
                       {"message", "you may not see it"}});
}

}  // namespace

ReaderAccess::Question ReaderAccess::question_about(Right right, const kube::ObjectKey& pipeline, const AppRef& app,
                                                    const Target& target) {
  const std::string verb = right == Right::See ? "get" : "patch";
  if (target.cluster) {
    return {verb, kGitopsClusters.group, kGitopsClusters.plural, target.cluster->ns.empty() ? pipeline.ns : target.cluster->ns,
            target.cluster->name};
  }
  const auto slash = app.api_version.find('/');
  std::string group = slash == std::string::npos ? "" : app.api_version.substr(0, slash);
  const KnownKind* known = find_known_kind(group, app.kind);
  if (known != nullptr) return {verb, std::string(known->group), std::string(known->plural), target.ns, ""};
  return {verb, std::move(group), lower(app.kind) + "s", target.ns, ""};
}

std::string ReaderAccess::needed(Right right, const kube::ObjectKey& pipeline, const AppRef& app, const Target& target) {
  const Question asked = question_about(right, pipeline, app, target);
  return fmt::format("{} {} {} in namespace {}", asked.verb, kube::Resource{asked.group, "", asked.resource}.group_resource(),
                     asked.name.empty() ? app.name : asked.name, asked.ns);
}

Task<Result<bool>> ReaderAccess::may(client::Client& client, std::shared_ptr<const kube::UserInfo> user, Right right,
                                     const kube::ObjectKey& pipeline, const AppRef& app, const Target& target) {
  if (user == nullptr) co_return true;
  Question asked = question_about(right, pipeline, app, target);
  if (!target.cluster) asked.name = app.name;
  co_return co_await allows(client, std::move(user), std::move(asked));
}

Task<Result<bool>> ReaderAccess::allows(client::Client& client, std::shared_ptr<const kube::UserInfo> user, Question question) {
  if (user != nullptr && user->narrowing != nullptr) {  // as control::has_right()
    if (!user->narrowing->ns.empty() && question.ns != user->narrowing->ns) co_return false;
    for (const kube::UserInfo& one : user->narrowing->by) {
      SLIPWAY_CO_TRY(may, co_await allows(client, std::make_shared<const kube::UserInfo>(one), question));
      if (!may) co_return false;
    }
  }
  const std::pair key{user ? fmt::format("{}\n{}", user->name, fmt::join(user->groups, "\n")) : std::string(), question};
  const Steady now = env_.clock.steady();
  if (const auto found = known_.find(key); found != known_.end() && now < found->second.until)
    co_return found->second.is_allowed;
  Value attributes = json::object(
      {{"verb", question.verb}, {"group", question.group}, {"resource", question.resource}, {"namespace", question.ns}});
  if (!question.name.empty()) attributes = attributes.with("name", question.name);
  ++reviews_;
  const Value review = client::access_review(user.get(), std::move(attributes));
  SLIPWAY_CO_TRY(answer,
                 co_await client::create(client, user ? client::kAccessReviews : client::kOwnAccessReviews, review, "slipway"));
  const bool is_allowed = answer["status"]["allowed"].as_bool();
  if (known_.size() >= kMost) known_.clear();
  known_[key] = {.is_allowed = is_allowed, .until = now + kept_};
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
      const auto shown = json::decode<TargetStatus>(row, "", {.allow_unknown = true});
      const AppRef app = shown ? AppRef{shown->app.api_version, shown->app.kind, shown->app.name} : AppRef{};
      const Target target = shown ? Target{shown->ns, shown->app.cluster} : Target{};
      SLIPWAY_CO_TRY(is_allowed,
                     co_await allows(client, user, question_about(Right::See, kube::key_of(pipeline), app, target)));
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
