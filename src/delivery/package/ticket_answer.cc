#include "delivery/package/ticket_answer.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/family/key_writer.h"
#include "delivery/package/author.h"
#include "delivery/package/kind.h"
#include "delivery/package/records.h"
#include "delivery/package/ticket_controller.h"
#include "delivery/probe/signed_call.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {
namespace {

using client::ServedContext;
using json::Value;

constexpr std::string_view kPrefix = "/tickets";
constexpr std::string_view kSecretPrefix = "secret:";
constexpr int kMaxTries = 8;  // between others who write the record
constexpr std::size_t kMaxBodyBytes = std::size_t{64} << 10;

/// One call, as far as it is understood.
struct Call {
  std::string path{};  // below the root of a cluster among several, without a query
  kube::ObjectKey revision{};
};

Result<Call> routed(const http::Request& request) {
  const std::string_view target = std::string_view(request.target).substr(0, request.target.find('?'));
  const std::size_t at = target.starts_with("/clusters/") ? target.find(kPrefix, 10) : 0;
  const std::string_view path = at == std::string_view::npos ? "" : target.substr(at);
  const auto parts = split(path, '/');
  const bool is_path = parts.size() == 4 && path.starts_with(kPrefix) && !parts[2].empty() && !parts[3].empty();
  if (!is_path) return fail(Reason::NotFound, fmt::format("{} is no path of a ticket: {}/NAMESPACE/REVISION", target, kPrefix));
  return Call{.path = std::string(path), .revision = {std::string(parts[2]), std::string(parts[3])}};
}

/// The same for an unknown revision, one without a key, and another key, so that strangers learn nothing.
std::unexpected<Status> unauthorized() { return fail(Reason::Unauthorized, client::kNotSigned); }

struct Opened {
  StoredRecord stored{};
  std::string secret{};
  std::string key{};
  Author key_writer{};  // who last wrote the key
};

Task<Result<Opened>> open_ticket(client::Client& server, kube::ObjectKey key) {
  auto stored = co_await get_record(server, key);
  if (!stored) co_return unauthorized();
  const auto repository = co_await client::get(server, kRepositories, {key.ns, stored->record.repository});
  if (!repository) co_return unauthorized();
  Opened opened{.stored = *std::move(stored), .secret = answer_secret(*repository)};
  if (opened.secret.empty()) co_return unauthorized();
  const kube::ObjectKey named{key.ns, opened.secret};
  const auto may = co_await has_right(server, author_of(*repository), {"get", kube::kSecrets, "", named});
  if (!may || !*may) co_return unauthorized();
  const auto secret = co_await client::get(server, kube::kSecrets, named);
  const bool has_key =
      secret && base64_decode((*secret)["data"][probe::kCallKey].as_string(), opened.key) && !opened.key.empty();
  if (!has_key) co_return unauthorized();
  opened.key_writer = key_writer(*secret);
  co_return opened;
}

/// Who replaces the key could answer by it, so its writer needs the right to approve. Forbidden otherwise.
Task<Result<void>> check_key_writer(client::Client& server, const Opened& opened) {
  const kube::ObjectKey revision = opened.stored.key();
  SLIPWAY_CO_TRY(may, co_await has_right(server, opened.key_writer, {"update", kRevisions, std::string(kApproval), revision}));
  if (may) co_return Result<void>{};
  co_return fail(Reason::Forbidden,
                 fmt::format("{} of Secret {}/{} was last written by {}, who may not update packagerevisions/{} in namespace "
                             "{}: have a user who may write a new key",
                             probe::kCallKey, revision.ns, opened.secret, opened.key_writer->name, kApproval, revision.ns));
}

Result<TicketAnswer> answer_in(const http::Request& request) {
  auto body = json::parse(request.body, {.max_bytes = kMaxBodyBytes, .max_depth = 20});
  if (!body) return fail(Reason::BadRequest, body.error().message);
  if (!body->is_object()) return fail(Reason::BadRequest, "the body is no JSON object");
  return json::decode<TicketAnswer>(*body);
}

Task<Result<http::Response>> answer_ticket(ServedContext context, http::Request request) {
  SLIPWAY_CO_TRY(call, routed(request));
  SLIPWAY_CO_TRY(opened, co_await open_ticket(context.server, call.revision));
  const http::Headers& headers = request.headers;
  const std::string text = probe::signed_text(request.method, call.path, headers.get(probe::kCallTimestamp),
                                              headers.get(probe::kCallNonce), request.body);
  if (!probe::is_signed(headers.get(probe::kCallSignature), opened.key, text)) co_return unauthorized();
  SLIPWAY_CO_TRY_VOID(probe::check_signed(request, call.path, opened.key, context.env.clock.now()));
  SLIPWAY_CO_TRY_VOID(co_await check_key_writer(context.server, opened));
  SLIPWAY_CO_TRY(answer, answer_in(request));
  for (int tries = 0;; ++tries) {
    const Time now = context.env.clock.now();
    SLIPWAY_CO_TRY(next, answered(opened.stored.record, answer, opened.secret, now));
    const Value metadata = opened.stored.object["metadata"];
    auto written = co_await put_record(context.server, now, std::move(opened.stored), std::move(next), metadata);
    if (written) break;
    if (written.error().reason != Reason::Conflict || tries == kMaxTries) co_return fail(std::move(written).error());
    SLIPWAY_CO_TRY(newest, co_await get_record(context.server, call.revision));
    opened.stored = std::move(newest);
  }
  http::Response response;
  response.status = 204;
  co_return response;
}

}  // namespace

Result<RevisionRecord> answered(RevisionRecord record, const TicketAnswer& answer, const std::string& secret, Time now) {
  const ReadinessGate* gate = find(record.gates, answer.gate);
  const Condition* said = find(record.conditions, answer.gate);
  const bool is_open = gate != nullptr && said != nullptr && said->status == Truth::Unknown && said->reason == kTicketSent;
  if (!is_open || is_published(record.lifecycle) || record.is_publishing()) {
    return fail(Reason::Conflict, fmt::format("no ticket of gate {} of {} is open: it was answered, or its content has changed",
                                              answer.gate, record.key().object_name()));
  }
  if (answer.digest != record.digest) {
    return fail(Reason::Conflict, fmt::format("the ticket was about {}, and the content of {} is {} now", answer.digest,
                                              record.key().object_name(), record.digest));
  }
  const std::string by = fmt::format("{}{}", probe::kHookUser, secret);
  const ContentView content(record.file_digests, record.digest);
  const Conditions before = record.conditions;
  const Write write{.object = {}, .by = by, .now = now, .content = content, .generation = generation_of(record)};
  set_condition(record.conditions,
                {.type = answer.gate, .status = answer.status, .reason = "Answered", .message = answer.message}, write);
  note_flips(record.notes, before, record.conditions, by, now);
  return record;
}

std::string answer_secret(const kube::Object& repository) {
  const std::string_view named = kube::annotation(repository, kTicketAnswers);
  if (!named.empty()) return std::string(named);
  const std::string_view tickets = kube::annotation(repository, kTickets);
  return tickets.starts_with(kSecretPrefix) ? std::string(tickets.substr(kSecretPrefix.size())) : "";
}

std::string answer_link(const kube::Object& repository, const kube::ObjectKey& revision) {
  std::string_view address = kube::annotation(repository, kAnswerAddress);
  while (address.ends_with('/')) address.remove_suffix(1);
  return fmt::format("{}{}/{}/{}", address, kPrefix, revision.ns, revision.name);
}

std::vector<client::HttpPath> ticket_paths() {
  return {{.prefix = std::string(kPrefix),
           .methods = {"POST"},
           .access = client::HttpPath::Access::Anyone,
           .max_body_bytes = kMaxBodyBytes,
           .signature_header = std::string(probe::kCallSignature),
           .run = [](ServedContext context, http::Request request, std::shared_ptr<const kube::UserInfo>) {
             return answer_ticket(context, std::move(request));
           }}};
}

}  // namespace slipway::delivery::package
