#include "delivery/package/revision_writes.h"

#include <algorithm>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

std::vector<Value> copied(const Value& list) { return {list.items().begin(), list.items().end()}; }

Task<Result<void>> put(client::Client& client, kube::ObjectKey key, RevisionChange change, std::string manager,
                       std::string subresource) {
  auto found = co_await client::get(client, kRevisions, key);
  if (!found && found.error().reason == Reason::NotFound) co_return Result<void>{};
  if (!found) co_return fail(std::move(found).error());
  client::Request request;
  request.body = change(*found);
  if (request.body == *found) co_return Result<void>{};
  request.verb = client::Verb::Update;
  request.resource = kRevisions;
  request.ns = key.ns;
  request.name = key.name;
  request.subresource = std::move(subresource);
  request.field_manager = manager;
  request.user_agent = std::move(manager);
  auto reply = co_await client.call(std::move(request));
  if (!reply && reply.error().reason != Reason::NotFound) co_return fail(std::move(reply).error());
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> change_revision(client::Client& client, kube::ObjectKey key, RevisionChange change, std::string manager) {
  co_return co_await put(client, std::move(key), std::move(change), std::move(manager), "");
}

Task<Result<void>> approve_revision(client::Client& client, kube::ObjectKey key, RevisionChange change, std::string manager) {
  co_return co_await put(client, std::move(key), std::move(change), std::move(manager), std::string(kApproval));
}

Task<Result<void>> remove_revision(client::Client& client, kube::ObjectKey key) {
  auto removed = co_await client::remove(client, kRevisions, std::move(key));
  if (!removed && removed.error().reason != Reason::NotFound) co_return fail(std::move(removed).error());
  co_return Result<void>{};
}

kube::Object with_lifecycle(const kube::Object& revision, Lifecycle lifecycle) {
  const std::string_view name = json::enum_name(lifecycle);
  if (revision["spec"]["lifecycle"].as_string() == name) return revision;
  return revision.with_path({"spec", "lifecycle"}, Value(name));
}

kube::Object with_conditions(const kube::Object& revision, const std::vector<Condition>& said) {
  std::vector<Value> conditions = copied(revision["status"]["conditions"]);
  bool is_changed = false;
  for (const Condition& one : said) {
    const Value wanted = json::encode(one);
    const auto at = std::ranges::find_if(conditions, [&](const Value& there) { return there["type"].as_string() == one.type; });
    if (at == conditions.end()) {
      conditions.push_back(wanted);
      is_changed = true;
      continue;
    }
    Value changed = *at;
    for (const char* field : {"status", "reason", "message"}) {
      changed = wanted.has(field) ? changed.with(field, wanted[field]) : changed.without(field);
    }
    is_changed |= changed != *at;
    *at = changed;
  }
  return is_changed ? revision.with_path({"status", "conditions"}, json::array(conditions)) : revision;
}

kube::Object with_reasons(const kube::Object& revision, const std::vector<std::string>& policies,
                          const std::vector<std::string>& people) {
  if (policies.empty() && people.empty()) return revision;
  const Value reasons = json::object({{"policyNames", json::array(policies)}, {"people", json::array(people)}});
  return revision.with_path({"status", "approval"}, reasons);
}

kube::Object with_owner(const kube::Object& revision, const Value& reference) {
  std::vector<Value> owners = copied(revision["metadata"]["ownerReferences"]);
  const bool is_known = std::ranges::any_of(owners, [&](const Value& one) { return one["uid"] == reference["uid"]; });
  if (is_known) return revision;
  owners.push_back(reference);
  return revision.with_path({"metadata", "ownerReferences"}, json::array(owners));
}

kube::Object without_owner(const kube::Object& revision, std::string_view uid) {
  std::vector<Value> owners = copied(revision["metadata"]["ownerReferences"]);
  const std::size_t removed = std::erase_if(owners, [&](const Value& one) { return one["uid"].as_string() == uid; });
  if (removed == 0) return revision;
  return revision.with_path({"metadata", "ownerReferences"}, json::array(owners));
}

}  // namespace slipway::delivery::package
