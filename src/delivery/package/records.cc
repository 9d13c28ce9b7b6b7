#include "delivery/package/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/upstream_name.h"

namespace slipway::delivery::package {
namespace {

using client::Request;
using client::Verb;
using json::Value;

/// What of metadata is the writer's.
constexpr std::string_view kWritten[] = {"labels", "annotations", "finalizers"};

/// What of a record says where it is.
struct RecordPlace {
  std::string repository{};
  std::string path{};
  std::string workspace{};
  std::int64_t revision = 0;
  Lifecycle lifecycle = Lifecycle::Draft;

  static void describe(auto& d) {
    d.doc("Where a revision is.");
    d.field("repository", &RecordPlace::repository, "The Repository.").required();
    d.field("packageName", &RecordPlace::path, "The package's path.").required();
    d.field("workspaceName", &RecordPlace::workspace, "Its workspace.").required();
    d.field("revision", &RecordPlace::revision, "Its number.");
    d.field("lifecycle", &RecordPlace::lifecycle, "Where it is.");
  }
};

Request about(Verb verb, const kube::ObjectKey& key) {
  Request request;
  request.verb = verb;
  request.resource = kRecords;
  request.ns = key.ns;
  request.name = key.name;
  request.field_manager = kRecordManager;
  request.user_agent = kRecordManager;
  return request;
}

/// Errors speak of revisions, as clients asked for those.
Status about_revisions(Status status, const std::string& name) {
  if (status.reason == Reason::AlreadyExists) return kube::already_exists(kRevisions, name);
  if (status.reason == Reason::NotFound && status.kind == kRecords.plural) return kube::not_found(kRevisions, name);
  if (status.reason != Reason::Conflict) return status;
  return kube::conflict(kRevisions, name,
                        "the object has been modified; please apply your changes to the latest version and try again");
}

Value with_written(Value metadata, const Value& from) {
  for (const std::string_view key : kWritten) {
    metadata = from.has(key) && !from[key].empty() ? metadata.with(key, from[key]) : metadata.without(key);
  }
  return metadata;
}

Value object_of(Value metadata, const RevisionRecord& record) {
  return json::object({{"apiVersion", Value(kRecordKind.api_version())},
                       {"kind", Value(kRecordKind.kind)},
                       {"metadata", std::move(metadata)},
                       {"spec", json::encode(record)}});
}

/// What is stored is what was sent: it is not decoded again.
Task<Result<StoredRecord>> write(client::Client& server, Request request, RevisionRecord record) {
  const std::string name = record.key().object_name();
  auto reply = co_await server.call(std::move(request));
  if (!reply) co_return fail(about_revisions(std::move(reply).error(), name));
  co_return StoredRecord{std::move(record), reply->object};
}

}  // namespace

Result<StoredRecord> read_record(const Value& object) {
  auto record = json::decode<RevisionRecord>(object["spec"], "spec", {.allow_unknown = true});
  if (!record) {
    return fail(Reason::InternalError,
                fmt::format("PackageRecord {} cannot be read: {}", kube::key_of(object).to_string(), record.error().message));
  }
  return StoredRecord{std::move(*record), object};
}

Value shown_metadata(const StoredRecord& stored) {
  Value metadata = stored.object["metadata"].without("managedFields").with("generation", generation_of(stored.record));
  if (kube::has_finalizer(stored.object, kGitFinalizer)) {
    const Value others = kube::without_finalizer(stored.object, kGitFinalizer)["metadata"]["finalizers"];
    metadata = others.empty() ? metadata.without("finalizers") : metadata.with("finalizers", others);
  }
  return stored.record.owners.empty() ? metadata : metadata.with("ownerReferences", stored.record.owners);
}

kube::Object unjudged_revision(const StoredRecord& stored) {
  return unjudged_revision_object(stored.record, shown_metadata(stored), stored.is_latest());
}

kube::Object shown_revision(const StoredRecord& stored, const Now& now) {
  return revision_object(stored.record, shown_metadata(stored), stored.is_latest(), now);
}

Task<Result<StoredRecord>> get_record(client::Client& server, kube::ObjectKey key) {
  Request request = about(Verb::Get, key);
  auto reply = co_await server.call(std::move(request));
  if (!reply) co_return fail(about_revisions(std::move(reply).error(), key.name));
  co_return read_record(reply->object);
}

Task<Result<StoredRecord>> record_at(client::Client& server, StoredRecord current, std::string version) {
  if (version == current.version()) co_return current;
  Request request = about(Verb::List, {current.key().ns, ""});
  request.field_selector = fmt::format("metadata.name={}", current.key().name);
  request.resource_version = version;
  request.resource_version_match = "Exact";
  request.limit = 1;
  const auto reply = co_await server.call(std::move(request));
  const Value& found = reply ? reply->object["items"].item(0) : Value();
  if (!reply || kube::uid(found) != current.uid()) {
    co_return fail(
        kube::conflict(kRevisions, current.key().name,
                       "the object has been modified; please apply your changes to the latest version and try again"));
  }
  co_return read_record(found);
}

Task<Result<std::vector<StoredRecord>>> list_records(client::Client& server, std::string ns, std::string fields) {
  Request request = about(Verb::List, {std::move(ns), ""});
  request.field_selector = std::move(fields);
  SLIPWAY_CO_TRY(reply, co_await server.call(std::move(request)));
  std::vector<StoredRecord> records;
  for (const Value& item : reply.object["items"].items()) {
    SLIPWAY_CO_TRY(one, read_record(item));
    records.push_back(std::move(one));
  }
  co_return records;
}

Task<Result<std::vector<Existing>>> list_existing(client::Client& server, std::string ns, std::string fields) {
  Request request = about(Verb::List, {std::move(ns), ""});
  request.field_selector = std::move(fields);
  SLIPWAY_CO_TRY(reply, co_await server.call(std::move(request)));
  std::vector<Existing> found;
  for (const Value& item : reply.object["items"].items()) {
    SLIPWAY_CO_TRY(place, json::decode<RecordPlace>(item["spec"], "spec", {.allow_unknown = true}));
    found.push_back({.name = std::string(kube::name(item)),
                     .package = std::move(place.path),
                     .repository = std::move(place.repository),
                     .workspace = std::move(place.workspace),
                     .lifecycle = place.lifecycle,
                     .revision = place.revision});
  }
  co_return found;
}

Task<Result<std::vector<std::string>>> dependents_of(client::Client& server, kube::ObjectKey key) {
  Request request = about(Verb::List, {key.ns, ""});
  request.field_selector = fmt::format("{}={}", kUpstreamField, key.name);
  SLIPWAY_CO_TRY(reply, co_await server.call(std::move(request)));
  std::vector<std::string> names;
  for (const Value& item : reply.object["items"].items()) names.emplace_back(kube::name(item));
  // Records that RecordWorker has not come to yet say it by their task. No others are read here.
  Request older = about(Verb::List, {key.ns, ""});
  older.field_selector = fmt::format("{}=", kUpstreamField);
  SLIPWAY_CO_TRY(unnamed, co_await server.call(std::move(older)));
  for (const Value& item : unnamed.object["items"].items()) {
    if (missing_upstream(item) == key.name) names.emplace_back(kube::name(item));
  }
  co_return names;
}

Task<Result<StoredRecord>> create_record(client::Client& server, Time now, std::string ns, RevisionRecord record,
                                         Value metadata, Trial trial) {
  record = stamped(std::move(record), nullptr, now);
  const std::string name = record.key().object_name();
  Request request = about(Verb::Create, {ns, ""});  // a POST goes to the collection
  const Value named = json::object({{"name", Value(name)}, {"namespace", Value(ns)}});
  request.body = object_of(with_written(named, metadata), record);
  request.dry_run = trial == Trial::Dry;
  co_return co_await write(server, std::move(request), std::move(record));
}

Task<Result<StoredRecord>> put_record(client::Client& server, Time now, StoredRecord was, RevisionRecord record, Value metadata,
                                      Trial trial) {
  record = stamped(std::move(record), &was.record, now);
  Request request = about(Verb::Update, was.key());
  request.body = object_of(with_written(was.object["metadata"], metadata), record);
  request.dry_run = trial == Trial::Dry;
  co_return co_await write(server, std::move(request), std::move(record));
}

}  // namespace slipway::delivery::package
