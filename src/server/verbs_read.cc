// Dispatch, get and list.
#include <fmt/format.h>

#include "base/turn.h"
#include "server/access/upkeep.h"
#include "server/list_options.h"
#include "server/planner.h"
#include "server/scale.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

constexpr Duration kLongestWaitForRevision = std::chrono::seconds{3};
constexpr Duration kLongestWaitForDisk = std::chrono::seconds{30};
constexpr Duration kLookAtDiskEvery = std::chrono::seconds{1};

constexpr std::string_view kTooOldList = "The resourceVersion for the provided list is too old.";
constexpr std::string_view kTooOldContinue =
    "The provided continue parameter is too old to display a consistent list result. You must start a new list without the "
    "continue "
    "parameter.";

constexpr std::string_view kNotAllowed = "the server does not allow this method on the requested resource";

Task<Result<Reply>> refuse(Result<Reply> error) { co_return error; }

/// Keys looked at between two looks at the clock: the first reading of a large object takes a while.
constexpr std::size_t kKeysAtOnce = 16;
constexpr std::size_t kKeysPerTurn = 512;

/// What a list reads; what is not selected is left out on the way. `selection` and `served` must outlive the query.
store::RangeQuery query_of(const Selection& selection, const ListPlan& plan, const Served& served) {
  store::RangeQuery query{.prefix = selection.prefix, .start = "", .limit = plan.limit, .at = plan.at};
  if (!plan.start.empty()) query.start = selection.prefix + plan.start;
  if (selection.is_narrow()) {
    query.wants = [&](std::string_view key, const store::Entry& entry) {
      return selection.takes(key, served.matched(entry.value, entry.modified));
    };
  }
  return query;
}

/// The items of a list, gathered piece by piece.
class Gathered {
 public:
  Gathered(const Selection& selection, const Served& served) : selection_(selection), served_(served) {}

  void add(const store::Range& piece) {
    for (const auto& [key, entry] : piece.entries) page_.add(served_.shown(entry.value, entry.modified));
    if (!piece.entries.empty()) last_key_ = piece.entries.back().first;
    if (page_.size() >= kKeysPerTurn) end_page();
  }

  /// `last` is the piece that was read last.
  ListReply reply(const store::Range& last) {
    if (!page_.empty()) end_page();
    json::ObjectBuilder meta;
    meta.add("resourceVersion", std::to_string(last.revision));
    if (last.has_more) {
      meta.add("continue", continue_token(last.revision, last_key_.substr(selection_.prefix.size()) + '\0'));
      if (selection_.takes_everything()) meta.add("remainingItemCount", last.remaining);
    }
    Value frame = json::object({{"kind", served_.type.list_kind},
                                {"apiVersion", served_.api_version},
                                {"metadata", meta.build()},
                                {"items", Value::empty_array()}});
    return {std::move(frame), std::move(pages_), {}};
  }

 private:
  void end_page() {
    pages_.push_back(page_.build());
    page_ = {};
  }

  const Selection& selection_;
  const Served& served_;
  std::string last_key_;
  json::ArrayBuilder page_;
  std::vector<Value> pages_;
};

/// Reads a list in fair turns, or in one go.
enum class Pace : std::uint8_t { Turns, OneGo };
Task<Result<ListReply>> gather(Env& env, const store::Store& store, const Selection& selection, const ListPlan& plan,
                               const Served& served, Pace pace) {
  SLIPWAY_CO_TRY(pages, store.pages(query_of(selection, plan, served)));
  Gathered gathered(selection, served);
  Turn turn(env, kKeysPerTurn);
  while (true) {
    SLIPWAY_CO_TRY(piece, pages->next(kKeysAtOnce));
    gathered.add(piece);
    if (pages->is_over()) co_return gathered.reply(piece);
    if (pace == Pace::Turns && turn.spend(kKeysAtOnce)) co_await turn.pass();
  }
}

/// These keys, all as they are at the beginning, read in fair turns. Expired when that is compacted meanwhile.
Task<Result<ListReply>> read_keys(Env& env, const store::Store& store, const Selection& selection,
                                  std::vector<std::string> keys, const Served& served) {
  store::Range range;
  range.revision = store.revision();
  Turn turn(env, kKeysPerTurn);
  for (const std::string& key : keys) {
    SLIPWAY_CO_TRY(one, store.range({.prefix = key, .limit = 1, .at = range.revision}));
    if (turn.spend(1)) co_await turn.pass();
    if (one.entries.empty() || one.entries.front().first != key) continue;
    store::Entry& entry = one.entries.front().second;
    if (selection.takes(key, served.matched(entry.value, entry.modified))) range.entries.emplace_back(key, std::move(entry));
  }
  Gathered gathered(selection, served);
  gathered.add(range);
  co_return gathered.reply(range);
}

Status worded(Status status, const Request& request) {
  if (status.reason == Reason::Expired) status.message = request.continue_token.empty() ? kTooOldList : kTooOldContinue;
  return status;
}

}  // namespace

Task<Result<void>> Verbs::begin() { return begin_upkeep(context_); }

Result<void> Verbs::authorize(const Request& request) {
  if (request.user == nullptr || context_.options.behind != nullptr) return {};
  return access_.authorizer.check(*request.user, Attributes::of(request));
}

Task<Result<Reply>> Verbs::call(Request request) {
  SLIPWAY_CO_TRY_VOID(authorize(request));
  if (const Endpoint* endpoint = context_.registry.find_endpoint(request.resource, request.subresource)) {
    co_return co_await answer(*endpoint, std::move(request));
  }
  SLIPWAY_CO_TRY(served, context_.registry.served(request.resource));
  auto reply = co_await (served->answers ? ask(std::move(request), served) : dispatch(std::move(request), served));
  if (reply && !served->deprecation.empty()) reply->warnings.push_back(served->deprecation);
  co_return reply;
}

Task<Result<Reply>> Verbs::answer(const Endpoint& endpoint, Request request) {
  if (!endpoint.takes(request.verb)) return refuse(fail(Reason::MethodNotAllowed, std::string(kNotAllowed)));
  if (endpoint.run == nullptr) {
    return refuse(fail(Reason::BadRequest, fmt::format("{}/{} is a stream: it has no answer in one piece",
                                                       endpoint.resource.plural, endpoint.subresource)));
  }
  return endpoint.run(context_, std::move(request));
}

Task<Result<Reply>> Verbs::dispatch(Request request, ServedPtr served) {
  switch (request.verb) {
    case client::Verb::Get:
      return get(std::move(request), std::move(served));
    case client::Verb::List:
      return whole_list(std::move(request), std::move(served));
    case client::Verb::DeleteCollection:
      return delete_collection(std::move(request), std::move(served));
    case client::Verb::Delete:
      // DeleteOptions say it in the body.
      if (!request.body["dryRun"].empty()) request.dry_run = true;
      [[fallthrough]];
    case client::Verb::Create:
    case client::Verb::Update:
    case client::Verb::Patch:
      return write(std::move(request), std::move(served));
    case client::Verb::Watch:
      break;
  }
  return refuse(fail(Reason::MethodNotAllowed, std::string(kNotAllowed)));
}

Task<Result<Reply>> Verbs::get(Request request, ServedPtr served) {
  const auto part = served->part(request.subresource);
  if (!part) co_return fail(Reason::NotFound, "the server could not find the requested resource");
  if (!part->takes(request.verb)) co_return fail(Reason::MethodNotAllowed, std::string(kNotAllowed));
  if (request.name.empty()) co_return fail(Reason::BadRequest, "resource name may not be empty");
  if (served->type.is_namespaced && request.ns.empty()) {
    co_return fail(Reason::BadRequest, "an empty namespace may not be set when a resource name is provided");
  }
  SLIPWAY_CO_TRY(revision, revision_of(request.resource_version));
  SLIPWAY_CO_TRY_VOID(co_await reach(revision));
  const auto entry = context_.store.get(served->key(request.ns, request.name));
  if (!entry) co_return fail(kube::not_found(served->type.resource, request.name));
  Value object = served->shown(entry->value, entry->modified);
  if (part->content == Part::Content::Scale) object = scale_of(served->type, object);
  co_return Reply{std::move(object), {}, 200};
}

Task<Result<ListReply>> Verbs::list(Request request) {
  SLIPWAY_CO_TRY_VOID(authorize(request));
  SLIPWAY_CO_TRY(served, context_.registry.served(request.resource));
  auto reply = co_await (served->answers ? ask_list(std::move(request), served) : read_list(std::move(request), served));
  if (reply && !served->deprecation.empty()) reply->warnings.push_back(served->deprecation);
  co_return reply;
}

Task<Result<Reply>> Verbs::whole_list(Request request, ServedPtr served) {
  SLIPWAY_CO_TRY(list, co_await read_list(std::move(request), std::move(served)));
  json::ArrayBuilder items;
  for (const Value& page : list.pages) {
    for (const Value& item : page.items()) items.add(item);
  }
  co_return Reply{list.frame.with("items", items.build()), {}, 200};
}

Task<Result<ListReply>> Verbs::read_list(Request request, ServedPtr served) {
  SLIPWAY_CO_TRY(plan, ListPlan::of(request));
  SLIPWAY_CO_TRY(selection, Selection::of(request, *served));
  SLIPWAY_CO_TRY_VOID(co_await reach(std::max(plan.not_older_than, plan.at)));
  if (plan.at == 0 && plan.limit == 0 && plan.start.empty()) {
    if (auto keys = co_await fields_.find(served, selection)) {
      auto found = co_await read_keys(context_.env, context_.store, selection, std::move(*keys), *served);
      if (found) co_return std::move(*found);
    }
  }
  auto list = co_await gather(context_.env, context_.store, selection, plan, *served, Pace::Turns);
  const bool was_overtaken = !list && list.error().reason == Reason::Expired && plan.at == 0;
  // More was written meanwhile than history holds: what is newest can always be read, if no other task has a turn.
  if (was_overtaken) list = co_await gather(context_.env, context_.store, selection, plan, *served, Pace::OneGo);
  if (!list) co_return fail(worded(std::move(list).error(), request));
  co_return std::move(*list);
}

Task<Result<void>> Verbs::reach(Revision revision) {
  if (revision <= context_.store.revision()) co_return Result<void>{};
  if (co_await context_.store.wait_for(revision, context_.env.clock.steady() + kLongestWaitForRevision))
    co_return Result<void>{};
  co_return fail(too_large_revision(revision, context_.store.revision()));
}

Task<Result<void>> Verbs::settle(Revision based_on) {
  const Steady deadline = context_.env.clock.steady() + kLongestWaitForDisk;
  while (based_on > context_.store.revision()) {
    const Steady now = context_.env.clock.steady();
    const bool was_undone = context_.store.next_revision() <= based_on;
    if (was_undone || now >= deadline) {
      co_return fail(Reason::ServiceUnavailable, "the store could not make an earlier write durable");
    }
    co_await context_.store.wait_for(based_on, now + kLookAtDiskEvery);
  }
  co_return Result<void>{};
}

}  // namespace slipway::server
