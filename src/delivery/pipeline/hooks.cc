#include "delivery/pipeline/hooks.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "client/client.h"
#include "control/acting_client.h"
#include "control/author_right.h"
#include "delivery/family/key_writer.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/promote_world.h"
#include "delivery/pipeline/retention.h"
#include "delivery/pipeline/used_nonces.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::pipeline {
namespace {

using client::ServedContext;
using json::Value;
using kube::Object;

constexpr const char* kHookManager = "slipway-pipeline-hook";
constexpr std::size_t kMaxHookBody = std::size_t{64} << 10;
constexpr int kMostTries = 8;  // to write a nonce down, between others who write the Pipeline

/// One call, as far as it is understood.
struct Call {
  ServedContext context;
  std::shared_ptr<HookMemory> memory;
  http::Request http;
  std::string path;                // below the cluster's root, without a query
  std::vector<std::string> words;  // decoded, after the first
  Object pipeline{};
  PipelineSpec spec{};
  std::string secret{};  // name of the Secret whose key signed it
  User key_writer{};     // who last wrote that key

  std::string pipeline_name() const { return fmt::format("{}/{}", kube::ns(pipeline), kube::name(pipeline)); }
};

struct Route {
  const char* prefix;
  std::size_t words;
};
constexpr Route kPromotionRoute{"/promotion", 3};
constexpr Route kApprovalRoute{"/approval", 4};
constexpr Route kReleaseRoute{"/release", 2};

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char small = lower(c);
  if (small >= 'a' && small <= 'f') return small - 'a' + 10;
  return std::nullopt;
}

/// A segment of a path; nullopt when it is malformed, empty or has characters that no name or revision has.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 1 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (c <= ' ' || c >= 127) return std::nullopt;
    out += c;
  }
  if (out.empty()) return std::nullopt;
  return out;
}

/// The path from the route's prefix on: what is before it is the root of a cluster among several. NotFound unless all fits.
Result<Call> routed(const Route& route, ServedContext context, std::shared_ptr<HookMemory> memory, http::Request request) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const std::string begin = fmt::format("{}/", route.prefix);
  const auto at = path.starts_with(begin) ? 0 : path.starts_with("/clusters/") ? path.find(begin, 10) : std::string_view::npos;
  const auto unknown = [&] { return fail(Reason::NotFound, fmt::format("{} is no path of a pipeline's webhooks", path)); };
  if (at == std::string_view::npos) return unknown();
  Call call{.context = context, .memory = std::move(memory), .http = {}, .path = std::string(path.substr(at)), .words = {}};
  for (const std::string_view part : split(std::string_view(call.path).substr(begin.size()), '/')) {
    auto word = decoded(part);
    if (!word) return unknown();
    call.words.push_back(std::move(*word));
  }
  if (call.words.size() != route.words) return unknown();
  call.http = std::move(request);
  return call;
}

std::unexpected<Status> unauthorized(std::string message) { return fail(Reason::Unauthorized, std::move(message)); }

/// Returns the same answer to every caller without a valid signature, whether the pipeline and the Secret exist or not, so that
/// strangers learn no names. The log has the reason.
std::unexpected<Status> refused(const Call& call, std::string_view why) {
  call.context.env.log.debug("a call of a webhook was refused", {{"path", call.path}, {"why", std::string(why)}});
  return unauthorized(client::kNotSigned);
}

/// The key that signs calls about `environment`. Unauthorized when there is none.
Task<Result<std::string>> key_of(Call& call, std::string environment) {
  call.secret = secret_of(call.spec, environment);
  if (call.secret.empty()) {
    co_return refused(call, fmt::format("pipeline {} names no Secret with an {} for these calls: set {}", call.pipeline_name(),
                                        kHmacKey, "spec.promotion.strategy.secretRef, or that of the environment"));
  }
  const std::string ns(kube::ns(call.pipeline));
  control::ActingClient author(call.context.server, author_of(call.pipeline));  // whose spec names the Secret
  const auto secret = co_await client::get(author, kube::kSecrets, {ns, call.secret});
  std::string key;
  const bool has_key = secret && base64_decode((*secret)["data"][kHmacKey].as_string(), key) && !key.empty();
  if (!has_key)
    co_return refused(
        call, fmt::format("Secret {}/{} has no {}, or the pipeline's author may not get it", ns, call.secret, kHmacKey));
  call.key_writer = key_writer(*secret);
  co_return key;
}

/// Who replaces the key could approve by it, so its writer needs the right to. Forbidden otherwise.
Task<Result<void>> check_key_writer(const Call& call) {
  const std::string ns(kube::ns(call.pipeline));
  SLIPWAY_CO_TRY(may, co_await control::has_right(call.context.server, call.key_writer, {"create", kApprovals, "", {ns, ""}}));
  if (may) co_return Result<void>{};
  co_return fail(
      Reason::Forbidden,
      fmt::format("{} of Secret {}/{} was last written by {}, who may not create {} in namespace {}: have a user who "
                  "may write a new key",
                  kHmacKey, ns, call.secret, call.key_writer->name, kApprovals.group_resource(), ns));
}

Result<void> within_limit(Call& call, Steady now) {
  if (call.memory->admit(call.pipeline_name(), now)) return {};
  Status status;
  status.reason = Reason::TooManyRequests;
  status.message =
      fmt::format("more than {} calls of pipeline {} in {}", kCallsPerWindow, call.pipeline_name(), to_string(kCallWindow));
  status.retry_after_seconds = static_cast<int>(kCallWindow / std::chrono::seconds{1});
  return fail(std::move(status));
}

/// Finds the pipeline: the first two words of the path.
Task<Result<void>> find_pipeline(Call& call) {
  auto pipeline = co_await client::get(call.context.server, kPipelines, {call.words[0], call.words[1]});
  if (!pipeline) co_return refused(call, pipeline.error().message);
  auto spec = json::decode<PipelineSpec>((*pipeline)["spec"], "spec", {.allow_unknown = true});
  if (!spec) co_return refused(call, spec.error().message);
  call.pipeline = std::move(*pipeline);
  call.spec = std::move(*spec);
  co_return Result<void>{};
}

/// Flux's: a signature over the body.
Task<Result<void>> check_body_signature(Call& call, std::string environment) {
  SLIPWAY_CO_TRY(key, co_await key_of(call, environment));
  const std::string_view header = call.http.headers.get(kSignatureHeader);
  if (!is_signed(header, key, call.http.body)) co_return refused(call, "the signature does not fit");
  co_return within_limit(call, call.context.env.clock.steady());
}

/// Writes the nonce down on the Pipeline, which `call` has as it is then. Unauthorized when it was used before.
Task<Result<void>> use_nonce(Call& call, std::string nonce, Time until) {
  Status conflict;
  for (int tries = 0; tries < kMostTries; ++tries) {
    UsedNonces used(kube::annotation(call.pipeline, kNoncesAnnotation), call.context.env.clock.now());
    if (used.contains(nonce)) co_return unauthorized(fmt::format("{} was used before", kNonceHeader));
    if (!used.add(nonce, until)) {
      co_return fail(Reason::TooManyRequests, "more calls within ten minutes than nonces can be remembered of");
    }
    const Value annotations = json::object({{kNoncesAnnotation, used.to_string()}});
    const Value patch =
        json::object({{"metadata", json::object({{"uid", kube::uid(call.pipeline)},
                                                 {"resourceVersion", call.pipeline["metadata"]["resourceVersion"]},
                                                 {"annotations", annotations}})}});
    auto written =
        co_await client::merge_patch(call.context.server, kPipelines, kube::key_of(call.pipeline), patch, kHookManager);
    if (written) {
      call.pipeline = *std::move(written);
      co_return Result<void>{};
    }
    if (written.error().reason != Reason::Conflict) co_return fail(std::move(written).error());
    conflict = std::move(written).error();
    SLIPWAY_CO_TRY_VOID(co_await find_pipeline(call));
  }
  co_return fail(std::move(conflict));
}

/// Ours: over everything, once.
Task<Result<void>> check_whole_signature(Call& call, std::string environment) {
  SLIPWAY_CO_TRY(key, co_await key_of(call, environment));
  const http::Headers& headers = call.http.headers;
  const std::string text =
      signed_text(call.http.method, call.path, headers.get(kTimestampHeader), headers.get(kNonceHeader), call.http.body);
  if (!is_signed(headers.get(kSignatureHeader), key, text)) co_return refused(call, "the signature does not fit");
  SLIPWAY_CO_TRY(signed_call, probe::check_signed(call.http, call.path, key, call.context.env.clock.now()));
  SLIPWAY_CO_TRY_VOID(within_limit(call, call.context.env.clock.steady()));
  co_return co_await use_nonce(call, signed_call.nonce, signed_call.sent + kReplayWindow);
}

Result<Value> body_of(const Call& call) {
  if (call.http.body.empty()) return fail(Reason::BadRequest, "the call has no body");
  auto value = json::parse(call.http.body, {.max_bytes = std::size_t{1} << 20, .max_depth = 100});
  if (!value) return fail(Reason::BadRequest, value.error().message);
  if (!value->is_object()) return fail(Reason::BadRequest, "the body is no JSON object");
  return value;
}

http::Response created(const Object& object, const kube::Resource& resource) {
  http::Response response;
  response.status = 201;
  response.headers.add("Location", fmt::format("/apis/{}/{}/namespaces/{}/{}/{}", resource.group, resource.version,
                                               kube::ns(object), resource.plural, kube::name(object)));
  response.headers.add("Content-Type", "application/json");
  response.body = json::print(json::object({{"kind", kube::kind(object)}, {"name", kube::name(object)}})) + "\n";
  return response;
}

Task<Result<http::Response>> promotion(Call call) {
  SLIPWAY_CO_TRY_VOID(co_await find_pipeline(call));
  const std::string environment = call.words[2];
  SLIPWAY_CO_TRY_VOID(co_await check_body_signature(call, environment));
  SLIPWAY_CO_TRY(event, body_of(call));
  SLIPWAY_CO_TRY(revision, event_revision(call.spec, environment, event));
  const std::string hint = fmt::format("{} {} {}", to_rfc3339(call.context.env.clock.now()), environment, revision);
  const Value patch = json::object({{"metadata", json::object({{"annotations", json::object({{kHookAnnotation, hint}})}})}});
  SLIPWAY_CO_TRY_VOID(
      co_await client::merge_patch(call.context.server, kPipelines, kube::key_of(call.pipeline), patch, kHookManager));
  http::Response response;
  response.status = 204;
  co_return response;
}

/// What may be said with an approval.
struct ApprovalBody {
  std::string decision = "approve";
  std::string gate{};
  std::string comment{};

  static void describe(auto& d) {
    d.doc("What is said with an approval.");
    d.field("decision", &ApprovalBody::decision, "What is said.").one_of({"approve", "reject"});
    d.field("gate", &ApprovalBody::gate, "The gate it is about.").max_length(63);
    d.field("comment", &ApprovalBody::comment, "Why.").max_length(1024);
  }
};

Result<ApprovalBody> approval_body(const Call& call) {
  if (call.http.body.empty()) return ApprovalBody{};
  SLIPWAY_TRY(body, body_of(call));
  return json::decode<ApprovalBody>(body);
}

/// The Release that waits in the environment: that of its promotion, else the newest of that version.
Task<Result<std::string>> waiting_release(Call& call, std::string environment, std::string revision) {
  const Value status = call.pipeline["status"]["environments"][environment];
  const std::string waits = status["waitingApproval"]["revision"].str();
  const auto refuse = [](std::string message) {
    Status refused;
    refused.reason = Reason::Invalid;
    refused.message = std::move(message);
    return fail(std::move(refused));
  };
  const auto is_it = [&](const Environment& one) { return one.name == environment; };
  if (std::ranges::none_of(call.spec.environments, is_it)) {
    co_return refuse(fmt::format("the pipeline has no environment {}", environment));
  }
  if (waits.empty()) co_return refuse(fmt::format("nothing waits for an approval in environment {}", environment));
  if (waits != revision) co_return refuse(fmt::format("{} waits for an approval in {}, not {}", waits, environment, revision));
  if (status["promotion"]["version"].as_string() == revision && !status["promotion"]["release"].as_string().empty()) {
    co_return status["promotion"]["release"].str();
  }
  client::ListQuery query;
  query.ns = kube::ns(call.pipeline);
  SLIPWAY_CO_TRY(list, co_await client::list(call.context.server, kReleases, query));
  std::pair<Time, std::string> newest{Time::min(), ""};
  for (const Object& release : list["items"].items()) {
    const bool is_of = release["spec"]["pipeline"].as_string() == kube::name(call.pipeline) &&
                       release["spec"]["version"].as_string() == revision;
    if (is_of)
      newest = std::max(newest, {kube::creation_time(release).value_or(Time::min()), std::string(kube::name(release))});
  }
  if (newest.second.empty()) co_return refuse(fmt::format("there is no Release of version {}", revision));
  co_return newest.second;
}

/// Named by the nonce, so that the same call makes one Approval, whichever process it reaches.
std::string approval_name(const Call& call) {
  const std::string content =
      fmt::format("{}\n{}\n{}", kube::uid(call.pipeline), call.path, call.http.headers.get(kNonceHeader));
  return fmt::format("{}-hook-{}", kube::name(call.pipeline).substr(0, 200), sha256_hex(content).substr(0, 16));
}

Task<Result<http::Response>> approval(Call call) {
  SLIPWAY_CO_TRY_VOID(co_await find_pipeline(call));
  SLIPWAY_CO_TRY_VOID(co_await check_whole_signature(call, call.words[2]));
  SLIPWAY_CO_TRY_VOID(co_await check_key_writer(call));
  SLIPWAY_CO_TRY(said, approval_body(call));
  SLIPWAY_CO_TRY(release, co_await waiting_release(call, call.words[2], call.words[3]));
  const ApprovalSpec spec{.pipeline = std::string(kube::name(call.pipeline)),
                          .environment = call.words[2],
                          .release = release,
                          .gate = said.gate,
                          .decision = said.decision,
                          .comment = said.comment,
                          .by = Author{.user = fmt::format("{}{}", kHookUser, call.secret),
                                       .groups = {},
                                       .time = std::chrono::floor<std::chrono::seconds>(call.context.env.clock.now())}};
  const Object object =
      json::object({{"apiVersion", kApprovalKind.api_version()},
                    {"kind", kApprovalKind.kind},
                    {"metadata", json::object({{"name", approval_name(call)}, {"namespace", kube::ns(call.pipeline)}})},
                    {"spec", json::encode(spec)}});
  const auto made = co_await client::create(call.context.server, kApprovals, object, kHookManager);
  if (!made && made.error().reason == Reason::AlreadyExists) {
    co_return unauthorized(fmt::format("{} was used before", kNonceHeader));
  }
  if (!made) co_return fail(made.error());
  co_return created(*made, kApprovals);
}

/// What CI says of an artifact.
struct Announcement {
  std::string version{};
  std::string digest{};
  std::string commit{};
  std::string author{};
  std::optional<Time> created{};
  std::vector<std::string> images{};
  std::map<std::string, std::string> notes{};

  static void describe(auto& d) {
    d.doc("An artifact that CI has made.");
    d.field("version", &Announcement::version, "Its version.").required().min_length(1).max_length(253);
    d.field("digest", &Announcement::digest, "Of its content.").max_length(253);
    d.field("commit", &Announcement::commit, "Of its source.").max_length(253);
    d.field("author", &Announcement::author, "Who wrote it, as the cluster knows them.").max_length(253);
    d.field("created", &Announcement::created, "When it was made.");
    d.field("images", &Announcement::images, "What it runs.").max_items(100);
    d.field("notes", &Announcement::notes, "Anything else.").max_properties(20);
  }
};

Result<ReleaseSpec> announced(const Call& call, const Announcement& said) {
  const Time now = call.context.env.clock.now();
  if (said.created && *said.created > now + kReplayWindow) {
    Status status;
    status.reason = Reason::Invalid;
    status.message = "created: an artifact of the future: see to the clock of whoever announces it";
    return fail(std::move(status));
  }
  ReleaseSpec spec{.pipeline = std::string(kube::name(call.pipeline)),
                   .version = said.version,
                   .digest = said.digest,
                   .images = said.images,
                   .commit = said.commit,
                   .author = said.author,
                   .artifact_created = said.created,
                   .environment = "",
                   .notes = said.notes};
  spec.notes["announced-by"] = fmt::format("{}{}", kHookUser, call.secret);
  std::ranges::sort(spec.images);
  return spec;
}

/// A Release never changes; when its artifact was made may still become known.
Task<Result<http::Response>> known_release(Call& call, std::string name, ReleaseSpec spec) {
  const kube::ObjectKey key{std::string(kube::ns(call.pipeline)), name};
  SLIPWAY_CO_TRY(known, co_await client::get(call.context.server, kReleases, key));
  const bool is_news = spec.artifact_created && !known["spec"].has("artifactCreated") &&
                       kube::annotation(known, kArtifactCreatedAnnotation).empty();
  if (is_news) {
    const Value annotations = json::object({{kArtifactCreatedAnnotation, to_rfc3339(*spec.artifact_created)}});
    const Value patch = json::object({{"metadata", json::object({{"annotations", annotations}})}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(call.context.server, kReleases, key, patch, kHookManager));
  }
  http::Response response = created(known, kReleases);
  response.status = 200;
  co_return response;
}

/// The name of the newest Release of the pipeline that is the same artifact as far as is known: one that an environment settled
/// at has a digest where CI may announce none, and the other way round. Empty: there is none.
Task<Result<std::string>> same_release(const Call& call, ReleaseSpec spec) {
  client::ListQuery query;
  query.ns = kube::ns(call.pipeline);
  SLIPWAY_CO_TRY(list, co_await client::list(call.context.server, kReleases, query));
  std::pair<Time, std::string> newest{Time::min(), ""};
  for (const Object& one : list["items"].items()) {
    const Value& known = one["spec"];
    if (known["pipeline"].as_string() != kube::name(call.pipeline)) continue;
    if (order_of(known["version"].as_string(), spec.version, known["digest"].as_string(), spec.digest) != Order::Same) continue;
    newest = std::max(newest, {kube::creation_time(one).value_or(Time::min()), std::string(kube::name(one))});
  }
  co_return newest.second;
}

Task<Result<http::Response>> release(Call call) {
  SLIPWAY_CO_TRY_VOID(co_await find_pipeline(call));
  SLIPWAY_CO_TRY_VOID(co_await check_whole_signature(call, ""));
  SLIPWAY_CO_TRY(body, body_of(call));
  SLIPWAY_CO_TRY(said, json::decode<Announcement>(body));
  SLIPWAY_CO_TRY(spec, announced(call, said));
  const std::string name = release_name(kube::name(call.pipeline), kube::uid(call.pipeline), spec, prunings_of(call.pipeline));
  SLIPWAY_CO_TRY(same, co_await same_release(call, spec));
  if (!same.empty()) co_return co_await known_release(call, same, spec);
  const Value owner = json::object({{"apiVersion", kPipelineKind.api_version()},
                                    {"kind", kPipelineKind.kind},
                                    {"name", kube::name(call.pipeline)},
                                    {"uid", kube::uid(call.pipeline)}});
  const Object object = json::object(
      {{"apiVersion", kReleaseKind.api_version()},
       {"kind", kReleaseKind.kind},
       {"metadata",
        json::object({{"name", name}, {"namespace", kube::ns(call.pipeline)}, {"ownerReferences", json::array({owner})}})},
       {"spec", json::encode(spec)}});
  const auto made = co_await client::create(call.context.server, kReleases, object, kHookManager);
  if (!made && made.error().reason == Reason::AlreadyExists) co_return co_await known_release(call, name, spec);
  if (!made) co_return fail(made.error());
  co_return created(*made, kReleases);
}

client::HttpPath row(Route route, std::shared_ptr<HookMemory> memory, Task<Result<http::Response>> (*answer)(Call)) {
  return {.prefix = route.prefix,
          .methods = {"POST"},
          .access = client::HttpPath::Access::Anyone,
          .max_body_bytes = kMaxHookBody,
          .signature_header = std::string(kSignatureHeader),
          .run = [route, memory, answer](ServedContext context, http::Request request,
                                         std::shared_ptr<const kube::UserInfo>) -> Task<Result<http::Response>> {
            auto call = routed(route, context, memory, std::move(request));
            if (!call) co_return fail(call.error());
            co_return co_await answer(std::move(*call));
          }};
}

}  // namespace

std::vector<client::HttpPath> hook_paths(std::shared_ptr<HookMemory> memory) {
  return {row(kPromotionRoute, memory, promotion), row(kApprovalRoute, memory, approval), row(kReleaseRoute, memory, release)};
}

}  // namespace slipway::delivery::pipeline
