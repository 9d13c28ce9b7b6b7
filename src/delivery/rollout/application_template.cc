#include "delivery/rollout/application_template.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "delivery/family/template_owner.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/workload.h"
#include "json/text.h"

namespace slipway::delivery::rollout {

using json::Value;
using kube::Object;

namespace {

/// Kinds that revisions belong to, and rollouts, are named regularly.
Result<kube::Resource> referred_resource(const Value& reference) {
  SLIPWAY_TRY(kind, kube::GroupVersionKind::of(reference));
  return kube::Resource{kind.group, kind.version, lower(kind.kind) + "s"};
}

/// 12 of "a-v12", a revision of application a; -1: it is none.
std::int64_t number_of_revision(std::string_view revision, std::string_view application) {
  const std::string prefix = fmt::format("{}-v", application);
  if (!revision.starts_with(prefix)) return -1;
  std::int64_t number = -1;
  const char* end = revision.data() + revision.size();
  const auto read = std::from_chars(revision.data() + prefix.size(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? number : -1;
}

/// Why a rollout of `revision` must not begin yet; empty: it may. Older revisions are not what the application delivers.
std::string turn_text(const Object& application, const std::string& revision) {
  const Value& status = application["status"];
  const Value& newest = status["latestRevision"];
  if (newest["name"].as_string() != revision) {
    if (number_of_revision(revision, kube::name(application)) <= newest["revision"].as_int()) return "";
    return fmt::format("Application {} has not taken revision {} up yet", kube::name(application), revision);
  }
  const Value& workflow = status["workflow"];
  for (const char* flag : {"finished", "terminated", "suspend"}) {
    if (workflow[flag].as_bool()) return "";
  }
  return fmt::format(
      "Application {} delivers revision {} itself: the rollout begins when its workflow has ended or is suspended",
      kube::name(application), revision);
}

}  // namespace

ApplicationTemplate::ApplicationTemplate(client::Client& client, Object rollout, Value application)
    : client_(client), rollout_(std::move(rollout)), application_(std::move(application)) {}

/// Null for revisions that are no application's, and when it has gone.
Task<Result<Object>> ApplicationTemplate::find() {
  if (application_.is_null()) co_return Object();
  SLIPWAY_CO_TRY(resource, referred_resource(application_));
  auto found = co_await client::get(client_, resource, {std::string(kube::ns(rollout_)), application_["name"].str()});
  if (!found && found.error().reason == Reason::NotFound) co_return Object();
  if (!found) co_return found;
  co_return kube::uid(*found) == application_["uid"].as_string() ? *found : Object();
}

/// A null value takes the annotation away. Conflict when the application is not as it was seen.
Task<Result<void>> ApplicationTemplate::annotate(Object application, std::string key, Value value) {
  SLIPWAY_CO_TRY(resource, referred_resource(application_));
  const Value metadata = json::object({{"resourceVersion", application["metadata"]["resourceVersion"]},
                                       {"uid", application["metadata"]["uid"]},
                                       {"annotations", json::object({{key, std::move(value)}})}});
  auto written = co_await client::merge_patch(client_, resource, kube::key_of(application),
                                              json::object({{"metadata", metadata}}), std::string(kFieldManager));
  if (!written) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

bool ApplicationTemplate::owns(const Object& application) const {
  return !application.is_null() && rolled_out_by(application)["uid"].as_string() == kube::uid(rollout_);
}

Task<Result<bool>> ApplicationTemplate::is_held_by_other(Value owner) {
  if (owner.is_null()) co_return false;
  SLIPWAY_CO_TRY(resource, referred_resource(owner));
  auto other = co_await client::get(client_, resource, {std::string(kube::ns(rollout_)), owner["name"].str()});
  if (!other && other.error().reason == Reason::NotFound) co_return false;
  if (!other) co_return fail(std::move(other).error());
  co_return kube::uid(*other) == owner["uid"].as_string();
}

Task<Result<void>> ApplicationTemplate::take() {
  SLIPWAY_CO_TRY(application, co_await find());
  const Value owner = rolled_out_by(application);
  const bool is_free = !is_rollout_template(application) && owner.is_null();
  if (application.is_null() || is_free || owns(application)) co_return Result<void>{};
  SLIPWAY_CO_TRY(is_held, co_await is_held_by_other(owner));
  if (is_held) {
    co_return fail(Reason::NotFound,
                   fmt::format("{} {} is in charge of {} {}: wait for its end, or delete it", owner["kind"].as_string(),
                               owner["name"].as_string(), application_["kind"].as_string(), kube::name(application)));
  }
  const Value self = json::object({{"apiVersion", rollout_["apiVersion"]},
                                   {"kind", rollout_["kind"]},
                                   {"name", kube::name(rollout_)},
                                   {"uid", kube::uid(rollout_)}});
  co_return co_await annotate(std::move(application), kRolledOutBy, json::print(self));
}

Task<Result<void>> ApplicationTemplate::await_turn(std::string revision) {
  const auto kind = application_.is_null() ? Result<kube::GroupVersionKind>(kube::GroupVersionKind{})
                                           : kube::GroupVersionKind::of(application_);
  if (!kind || kind->group != kAppGroup || *kind == kAppRolloutKind) co_return Result<void>{};
  const bool is_its_own = kube::label(rollout_, kNameLabel) == application_["name"].as_string();
  if (is_its_own) co_return Result<void>{};
  SLIPWAY_CO_TRY(application, co_await find());
  const bool delivers_itself = !application.is_null() && !kube::is_deleting(application) && !is_rollout_template(application) &&
                               rolled_out_by(application).is_null();
  const std::string text = delivers_itself ? turn_text(application, revision) : "";
  if (!text.empty()) co_return fail(Reason::NotFound, text);
  co_return Result<void>{};
}

Task<Result<void>> ApplicationTemplate::release() {
  SLIPWAY_CO_TRY(application, co_await find());
  if (!owns(application) || !is_rollout_template(application)) co_return Result<void>{};
  co_return co_await annotate(std::move(application), kRolloutTemplate, Value());
}

Task<Result<void>> ApplicationTemplate::give_back() {
  SLIPWAY_CO_TRY(application, co_await find());
  if (!owns(application)) co_return Result<void>{};
  co_return co_await annotate(std::move(application), kRolledOutBy, Value());
}

Task<Result<void>> ApplicationTemplate::give_back_undone() {
  SLIPWAY_CO_TRY(application, co_await find());
  if (!owns(application) || !is_rollout_template(application)) co_return Result<void>{};
  co_return co_await annotate(std::move(application), kRolledOutBy, Value());
}

}  // namespace slipway::delivery::rollout
