// Create and update, and the one path on which every write reaches the store.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/compute_pool.h"
#include "json/text.h"
#include "kube/schema.h"
#include "server/access/escalation.h"
#include "server/access/upkeep.h"
#include "server/builtin/conversion.h"
#include "server/meta_rules.h"
#include "server/planner.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

constexpr int kGenerateNameTries = 8;
constexpr std::size_t kGenerateNameBase = 58;
constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

Status forbidden(const kube::Resource& resource, std::string_view name, std::string_view why, Cause cause) {
  Status status;
  status.reason = Reason::Forbidden;
  status.message = fmt::format("{} \"{}\" is forbidden: {}", resource.group_resource(), name, why);
  status.name = std::string(name);
  status.group = resource.group;
  status.kind = resource.plural;
  status.causes = {std::move(cause)};
  return status;
}

/// What the admission of one write may compute beside the logic thread, with the waiting for a thread.
constexpr Duration kMaxAdmission = std::chrono::seconds{1};

bool is_generation_neutral(std::string_view key, const kube::ResourceType& type) {
  return key == "metadata" || key == "apiVersion" || key == "kind" || (key == "status" && (type.has_status || !type.is_custom));
}

/// Whether anything that generation counts differs.
bool has_new_content(const Value& object, const Value& old, const kube::ResourceType& type) {
  for (const auto [key, value] : object.members()) {
    if (!is_generation_neutral(key, type) && value != old[key]) return true;
  }
  for (const auto [key, value] : old.members()) {
    if (!is_generation_neutral(key, type) && !object.has(key)) return true;
  }
  return false;
}

}  // namespace

Planner::Planner(ServerContext& context, const Request& request, const Served& served, Revision first_revision, Checks& checks)
    : context_(context),
      request_(request),
      served_(served),
      first_revision_(first_revision),
      now_(context.env.clock.now()),
      checks_(checks) {}

Result<Plan> Planner::plan() {
  SLIPWAY_TRY_VOID(check_request());
  const auto part = served_.part(request_.subresource);
  if (!part) return fail(Reason::NotFound, "the server could not find the requested resource");
  if (!part->takes(request_.verb)) {
    return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
  }
  const bool is_create = request_.verb == client::Verb::Create;
  if (served_.type.is_namespaced && request_.ns.empty()) {
    return fail(Reason::BadRequest, is_create ? "an empty namespace may not be set during creation"
                                              : "an empty namespace may not be set when a resource name is provided");
  }
  if (is_create) return create(request_.body);
  if (request_.name.empty()) return fail(Reason::BadRequest, "resource name may not be empty");
  if (part->content == Part::Content::Scale) return scale();
  if (request_.verb == client::Verb::Update) return update();
  if (request_.verb == client::Verb::Patch) return patch();
  SLIPWAY_TRY(options, DeleteOptions::of(request_.body));
  return remove(request_.ns, request_.name, options);
}

Result<Plan> Planner::create(Value body) {
  SLIPWAY_TRY_VOID(check_identity(body));
  if (!body["metadata"]["resourceVersion"].as_string().empty()) {
    return fail(Reason::BadRequest, "resourceVersion should not be set on objects to be created");
  }
  SLIPWAY_TRY(object, decode(served_.type.has_status && !served_.strategy->takes_status_at_create ? body.without("status")
                                                                                                  : std::move(body)));
  return create_decoded(std::move(object), Tracking::Update);
}

Result<Plan> Planner::create_decoded(Value object, Tracking tracking) {
  const std::string_view ns = served_.type.is_namespaced ? std::string_view(request_.ns) : std::string_view();
  std::string name(kube::name(object));
  if (served_.is_terminating) {
    return fail(Reason::MethodNotAllowed, "create not allowed while custom resource definition is terminating");
  }
  if (served_.type.is_namespaced) SLIPWAY_TRY_VOID(check_namespace(ns, name));
  if (const std::string_view base = object["metadata"]["generateName"].as_string(); name.empty() && !base.empty()) {
    SLIPWAY_TRY(generated, free_name(base, ns));
    name = std::move(generated);
  }
  if (!name.empty()) SLIPWAY_TRY_VOID(check_name_free(ns, name));

  Birth birth{std::move(name), ns, uuid(context_.env.random), now_, served_.type.counts_generation, 0};
  if (!request_.dry_run) birth.revision = first_revision_;
  object = fill_defaults(with_birth(object, birth));
  SLIPWAY_TRY_VOID(check_size(object));  // before what costs more than to measure it
  if (tracking == Tracking::Update) {
    SLIPWAY_TRY_VOID(check_tracked_size(object, Value()));
    object = kube::track_update(served_.type, Value(), object, writer(), now_);
  }
  SLIPWAY_TRY(admitted, admit(std::move(object), Value()));
  object = std::move(admitted);
  if (served_.strategy->prepare_create != nullptr) object = served_.strategy->prepare_create(object, around());
  SLIPWAY_TRY_VOID(validate(object, Value()));
  warn_of_finalizers(object, Value());
  SLIPWAY_TRY_VOID(check_grants(object, Value()));
  return write_new(std::move(object));
}

Result<Plan> Planner::write_new(Value object) {
  SLIPWAY_TRY_VOID(check_size(object));
  Plan plan;
  plan.code = 201;
  if (!request_.dry_run) {
    plan.writes.push_back({served_.key(kube::ns(object), kube::name(object)), stored(object), 0});
  }
  plan.reply = std::move(object);
  plan.warnings = std::move(warnings_);
  return plan;
}

Result<void> Planner::check_namespace(std::string_view ns, std::string_view name) {
  static constexpr std::string_view kPrefix = "/registry/core/namespaces/";
  const kube::Resource namespaces{"", "v1", "namespaces"};
  const auto found = head(std::string(kPrefix) + std::string(ns));
  if (!found) return fail(kube::not_found(namespaces, ns));
  if (!kube::is_deleting(found->value)) return {};
  return fail(forbidden(served_.type.resource, name,
                        fmt::format("unable to create new content in namespace {} because it is being terminated", ns),
                        {.reason = "NamespaceTerminating",
                         .message = fmt::format("namespace {} is being terminated", ns),
                         .field = "metadata.namespace"}));
}

Result<void> Planner::check_name_free(std::string_view ns, std::string_view name) {
  const auto holder = head(served_.key(ns, name));
  if (!holder) return {};
  Status status = kube::already_exists(served_.type.resource, name);
  if (kube::is_deleting(holder->value)) status.message = "object is being deleted: " + status.message;
  return fail(std::move(status));
}

Result<std::string> Planner::free_name(std::string_view generate_name, std::string_view ns) {
  const std::string base(generate_name.substr(0, kGenerateNameBase));
  std::string name = checks_.generated_name;
  if (!name.empty() && !head(served_.key(ns, name))) return name;
  for (int i = 0; i < kGenerateNameTries; ++i) {
    name = base + name_suffix(context_.env.random);
    if (!head(served_.key(ns, name))) return checks_.generated_name = name;
  }
  Status status = kube::already_exists(served_.type.resource, name);
  status.message += ", the server was not able to generate a unique name for the object";
  return fail(std::move(status));
}

Result<Plan> Planner::update() {
  SLIPWAY_TRY_VOID(check_identity(request_.body));
  const std::string_view name = kube::name(request_.body);
  if (!name.empty() && name != request_.name) {
    return fail(Reason::BadRequest,
                fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request_.name));
  }
  const auto found = find(request_.ns, request_.name);
  if (!found) return fail(kube::not_found(served_.type.resource, request_.name));
  return replace(*found, request_.body, Tracking::Update);
}

Result<Plan> Planner::replace(const Found& found, Value body, Tracking tracking) {
  const Value& old = found.object;
  SLIPWAY_TRY_VOID(check_preconditions(body, old));
  const bool is_main = request_.subresource.empty();
  const bool is_status = request_.subresource == "status";
  const bool is_pruned = tracking == Tracking::Done;
  SLIPWAY_TRY(decoded, is_status ? decode_status(body, old) : is_pruned ? Result<Value>(body) : decode_change(body, old));
  if (!is_main && !is_status && served_.type.schema != nullptr) decoded = served_.type.schema->fill_defaults(decoded);
  Value object = merge_status(decoded, old);
  if (is_main) object = fill_change(std::move(object), old);
  SLIPWAY_TRY_VOID(check_size(object));  // before what costs more than to measure it
  if (tracking == Tracking::Update) {
    SLIPWAY_TRY_VOID(check_tracked_size(object, old));
    object = kube::track_update(served_.type, old, object, writer(), now_);
  }
  if (is_main) {
    SLIPWAY_TRY(admitted, admit(std::move(object), old));
    object = std::move(admitted);
    if (served_.strategy->prepare_update != nullptr) object = served_.strategy->prepare_update(object, old, around());
  }
  if (is_status) {
    SLIPWAY_TRY(stamped, stamp_status(std::move(object), old));
    object = std::move(stamped);
  }
  object = bump_generation(object, old);
  if (object == old) {  // the answer is what is there; nothing is written
    Plan plan;
    plan.reply = old;
    plan.warnings = std::move(warnings_);
    return plan;
  }
  SLIPWAY_TRY_VOID(validate(object, old));
  warn_of_finalizers(object, old);
  SLIPWAY_TRY_VOID(check_grants(object, old));
  return write_over(found, std::move(object));
}

/// The whole object as this endpoint may write it: each subresource writes its part, the main endpoint all but status.
Value Planner::merge_status(const Value& body, const Value& old) const {
  if (request_.subresource.empty()) {
    Value object = with_old_metadata(body, old);
    if (!served_.type.has_status) return object;
    return old.has("status") ? object.with("status", old["status"]) : object.without("status");
  }
  const Value base = merge_part_metadata(body, old);
  if (request_.subresource != "status") return served_.strategy->prepare_subresource(body, base);
  return body.has("status") ? base.with("status", body["status"]) : base.without("status");
}

/// The old object with the metadata that a write to a subresource may give it: of a custom resource only managedFields, of a
/// built-in kind what the main endpoint takes too, but for what its strategy keeps.
Value Planner::merge_part_metadata(const Value& body, const Value& old) const {
  if (served_.type.is_custom) {
    const Value& managed = body["metadata"]["managedFields"];
    return managed.is_array() ? old.with_path({"metadata", "managedFields"}, managed) : old;
  }
  Value base = old.with("metadata", with_old_metadata(body, old)["metadata"]);
  const std::string_view kept = request_.subresource == "status" ? served_.strategy->status_keeps : std::string_view();
  if (kept.empty() || base["metadata"][kept] == old["metadata"][kept]) return base;
  const Value& before = old["metadata"][kept];
  return before.is_null() ? base.without_path({"metadata", kept}) : base.with_path({"metadata", kept}, before);
}

Result<void> Planner::check_preconditions(const Value& body, const Value& old) const {
  const Value& meta = body["metadata"];
  const std::string_view version = meta["resourceVersion"].as_string();
  const kube::Resource& resource = served_.type.resource;
  if (version.empty() || version == "0") {
    if (!served_.type.allows_blind_update) {
      return fail(kube::invalid(served_.type.kind, kube::name(old),
                                {field::invalid("metadata.resourceVersion", "0", "must be specified for an update")}));
    }
  } else if (version != old["metadata"]["resourceVersion"].as_string()) {
    return fail(kube::conflict(resource, kube::name(old), kModified));
  }
  const std::string_view uid = meta["uid"].as_string();
  if (uid.empty() || uid == kube::uid(old)) return {};
  return fail(
      kube::conflict(resource, kube::name(old),
                     fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, kube::uid(old))));
}

Result<void> Planner::check_grants(const Value& object, const Value& old) const {
  if (request_.user == nullptr) return {};
  return check_escalation(context_.access.authorizer, *request_.user, served_.type.resource, object, old);
}

void Planner::warn_of_finalizers(const Value& object, const Value& old) {
  if (!served_.type.is_custom || object["metadata"]["finalizers"].empty()) return;
  std::ranges::move(finalizer_warnings(object, old), std::back_inserter(warnings_));
}

Value Planner::bump_generation(const Value& object, const Value& old) const {
  if (!served_.type.counts_generation || request_.subresource == "status" || !has_new_content(object, old, served_.type))
    return object;
  return object.with_path({"metadata", "generation"}, kube::generation(old) + 1);
}

Result<Plan> Planner::write_over(const Found& found, Value object) {
  const bool is_held = served_.strategy->is_held != nullptr && served_.strategy->is_held(object);
  if (kube::is_deleting(object) && !is_held && object["metadata"]["finalizers"].empty() &&
      object["metadata"]["deletionGracePeriodSeconds"].as_int() == 0) {
    SLIPWAY_TRY(plan, erase(found));
    plan.reply = std::move(object);
    return plan;
  }
  if (!request_.dry_run) object = with_revision(object);
  SLIPWAY_TRY_VOID(check_size(object));
  Plan plan;
  if (!request_.dry_run) {
    plan.writes.push_back({served_.key(kube::ns(object), kube::name(object)), stored(object), found.entry.modified});
  }
  plan.reply = std::move(object);
  plan.warnings = std::move(warnings_);
  return plan;
}

std::optional<store::Entry> Planner::head(std::string_view key) {
  auto entry = context_.store.get_head(key);
  if (entry) based_on_ = std::max(based_on_, entry->modified);
  return entry;
}

std::optional<Planner::Found> Planner::find(std::string_view ns, std::string_view name) {
  auto entry = head(served_.key(ns, name));
  if (!entry) return std::nullopt;
  Value object = served_.shown(entry->value, entry->modified);
  return Found{std::move(*entry), std::move(object)};
}

Value Planner::stored(Value object) const {
  if (served_.conversion != nullptr) return served_.conversion->to_stored(object);
  if (served_.stored_api_version == served_.api_version) return object;
  return object.with("apiVersion", served_.stored_api_version);
}

Value Planner::with_revision(const Value& object) const {
  return object.with_path({"metadata", "resourceVersion"}, std::to_string(first_revision_));
}

kube::Writer Planner::writer() const {
  std::string manager = request_.field_manager;
  if (manager.empty()) manager = request_.user_agent.substr(0, request_.user_agent.find('/'));
  if (manager.empty()) manager = "unknown";
  return {std::move(manager), served_.api_version, request_.subresource};
}

Task<Result<Reply>> Verbs::write(Request request, ServedPtr served) {
  const Steady deadline = context_.env.clock.steady() + kMaxAdmission;
  Checks checks;
  while (true) {
    Planner planner(context_, request, *served, context_.store.next_revision(), checks);
    auto plan = planner.plan();
    const std::shared_ptr<kube::AdmissionCheck> check = planner.to_compute();
    if (check == nullptr) co_return co_await carry_out(request, served, std::move(plan), planner.based_on());
    const bool is_done = co_await compute_until(context_.env, request.ns, [check] { check->compute(); }, deadline);
    if (!is_done) check->cancel();
    checks.may_compute = is_done;
    // What was true when the request came may not be any more.
    SLIPWAY_CO_TRY_VOID(authorize(request));
    SLIPWAY_CO_TRY(served_now, context_.registry.served(request.resource));
    served = std::move(served_now);
  }
}

Task<Result<Reply>> Verbs::carry_out(Request request, ServedPtr served, Result<Plan> plan, Revision based_on) {
  if (!plan || plan->writes.empty()) {
    SLIPWAY_CO_TRY_VOID(co_await settle(based_on));
    if (!plan) co_return fail(std::move(plan).error());
    co_return Reply{std::move(plan->reply), std::move(plan->warnings), request.dry_run ? plan->code : 200};
  }
  SLIPWAY_CO_TRY_VOID(co_await context_.store.append(std::move(plan->writes)));
  const std::string name(request.name.empty() ? kube::name(plan->reply) : request.name);
  co_await keep_up(context_, served->type.resource, served->type.is_namespaced ? request.ns : name);
  co_return Reply{std::move(plan->reply), std::move(plan->warnings), plan->code};
}

}  // namespace slipway::server
