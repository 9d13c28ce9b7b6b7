#include "delivery/package/revision_verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/unknown_fields.h"
#include "delivery/package/vote_verb.h"
#include "kube/selector.h"

namespace slipway::delivery::package {
namespace {

using client::Reply;
using client::Request;
using client::ServedContext;
using client::Verb;
using client::WatchEvent;
using json::Value;

/// The same request about records: they have the same namespaces, names, labels and selectable fields.
Request about_records(Request request) {
  request.resource = kRecords;
  request.subresource.clear();
  request.user = nullptr;  // was authorized for revisions
  request.user_agent = kRecordManager;
  request.form = client::Form::Whole;
  return request;
}

Result<Value> shown(const Value& object, Time now) {
  SLIPWAY_TRY(stored, read_record(object));
  return shown_revision(stored, now);
}

/// A watch of records, shown as revisions.
class RevisionWatch : public client::Watch {
 public:
  RevisionWatch(Env& env, std::unique_ptr<client::Watch> records) : env_(env), records_(std::move(records)) {}

  Task<Result<std::vector<WatchEvent>>> next() override {
    SLIPWAY_CO_TRY(events, co_await records_->next());
    for (WatchEvent& event : events) {
      if (event.type == WatchEvent::Type::Bookmark) {
        event.object = event.object.with("apiVersion", kRevisionKind.api_version()).with("kind", kRevisionKind.kind);
        continue;
      }
      SLIPWAY_CO_TRY(object, shown(event.object, env_.clock.now()));
      event.object = object;
    }
    co_return std::move(events);
  }
  void close() override { records_->close(); }

 private:
  Env& env_;
  std::unique_ptr<client::Watch> records_;
};

/// DELETE of a collection: each as if by itself; those that may not go stay, and the first refusal is the answer.
struct Refusal {
  std::optional<Status> first{};
  void note(const Result<Reply>& reply) {
    if (!reply && reply.error().reason != Reason::NotFound && !first) first = reply.error();
  }
};

}  // namespace

Task<Result<Reply>> get_revision(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(stored, co_await get_record(context.server, key_of(request)));
  co_return Reply{shown_revision(stored, context.env.clock.now()), {}, 200};
}

Task<Result<Reply>> list_revisions(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(reply, co_await context.server.call(about_records(std::move(request))));
  json::ArrayBuilder items;
  const Time now = context.env.clock.now();
  for (const Value& item : reply.object["items"].items()) {
    SLIPWAY_CO_TRY(one, shown(item, now));
    items.add(one);
  }
  co_return Reply{reply.object.with("items", items.build()), {}, 200};
}

Task<Result<std::unique_ptr<client::Watch>>> watch_revisions(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(records, co_await context.server.watch(about_records(std::move(request))));
  co_return std::make_unique<RevisionWatch>(context.env, std::move(records));
}

Task<Result<Reply>> delete_revisions(ServedContext context, std::shared_ptr<WriterTurns> turns, Request request) {
  Request wanted = request;
  wanted.verb = Verb::List;
  SLIPWAY_CO_TRY(list, co_await list_revisions(context, std::move(wanted)));
  Refusal refusal;
  for (const Value& item : list.object["items"].items()) {
    Request one = request;
    one.verb = Verb::Delete;
    one.ns = kube::ns(item);
    one.name = kube::name(item);
    refusal.note(co_await delete_revision(context, turns, std::move(one)));
  }
  if (refusal.first) co_return fail(std::move(*refusal.first));
  co_return list;
}

Task<Result<Reply>> list_packages(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(stored, co_await list_records(context.server, request.ns, ""));
  std::map<std::string, std::vector<RevisionRecord>> by_namespace;
  for (StoredRecord& one : stored) by_namespace[one.key().ns].push_back(std::move(one.record));
  json::ArrayBuilder items;
  for (const auto& [ns, records] : by_namespace) {
    for (const Value& one : package_objects(records, ns)) items.add(one);
  }
  co_return Reply{json::object({{"items", items.build()}}), {}, 200};
}

Task<Result<Reply>> get_package(ServedContext context, Request request) {
  const auto key = parse_package_name(request.name);
  if (!key) co_return fail(kube::not_found(kPackages, request.name));
  const std::string fields = fmt::format("spec.repository={},spec.packageName={}", key->repository, key->path);
  SLIPWAY_CO_TRY(stored, co_await list_records(context.server, request.ns, fields));
  std::vector<RevisionRecord> records;
  records.reserve(stored.size());
  for (StoredRecord& one : stored) records.push_back(std::move(one.record));
  const auto objects = package_objects(records, request.ns);
  if (objects.empty()) co_return fail(kube::not_found(kPackages, request.name));
  co_return Reply{objects.front(), {}, 200};
}

client::AnsweredKind revision_kind(std::shared_ptr<WriterTurns> turns) {
  client::AnsweredKind kind{.type = revision_type(), .schema = revision_schema()};
  const auto write = [turns](ServedContext context, Request request) {
    return write_revision(context, turns, std::move(request));
  };
  const auto remove = [turns](ServedContext context, Request request) {
    return delete_revision(context, turns, std::move(request));
  };
  const auto remove_all = [turns](ServedContext context, Request request) {
    return delete_revisions(context, turns, std::move(request));
  };
  const auto vote = [turns](ServedContext context, Request request) { return vote_on(context, turns, std::move(request)); };
  const std::string approval(kApproval);
  const std::string votes(kVotes);
  const std::string status(kStatusEndpoint);
  kind.verbs = {{Verb::Get, "", get_revision},
                {Verb::List, "", list_revisions},
                {Verb::Create, "", create_one},
                {Verb::Update, "", write},
                {Verb::Patch, "", write},
                {Verb::Delete, "", remove},
                {Verb::DeleteCollection, "", remove_all},
                {Verb::Get, approval, get_revision},
                {Verb::Update, approval, write},
                {Verb::Patch, approval, write},
                {Verb::Get, status, get_revision},
                {Verb::Update, status, write},
                {Verb::Patch, status, write},
                {Verb::Get, votes, get_revision},
                {Verb::Update, votes, vote},
                {Verb::Patch, votes, vote}};
  for (client::AnsweredVerb& row : kind.verbs) {
    const bool writes = row.verb == Verb::Create || row.verb == Verb::Update || row.verb == Verb::Patch;
    if (writes) row = with_known_fields(std::move(row), kind.schema);
  }
  kind.watch = watch_revisions;
  return kind;
}

client::AnsweredKind package_kind() {
  client::AnsweredKind kind{.type = package_type(), .schema = package_schema()};
  kind.verbs = {{Verb::Get, "", get_package}, {Verb::List, "", list_packages}};
  return kind;
}

}  // namespace slipway::delivery::package
