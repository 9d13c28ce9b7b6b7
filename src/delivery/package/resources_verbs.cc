#include "delivery/package/resources_verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/metadata_merge.h"
#include "delivery/package/render_content.h"
#include "delivery/package/render_result.h"
#include "delivery/package/unknown_fields.h"
#include "json/patch.h"
#include "krm/paths.h"

namespace slipway::delivery::package {
namespace {

using client::PatchType;
using client::Reply;
using client::Request;
using client::ServedContext;
using client::Verb;
using json::Value;
using Texts = std::map<std::string, std::string>;

/// Of the annotation's true, which Porch's clients set.
constexpr std::string_view kPushOnFailure = "porch.kpt.dev/push-on-render-failure";

/// What a GET shows of a record.
struct Shown {
  StoredRecord stored{};
  OpenRepository repository{};
  Content content{};  // as in Git
  Texts texts{};      // with the record's verdicts in the Kptfile
};

Texts with_verdicts(Texts texts, const RevisionRecord& record) {
  if (const auto kptfile = texts.find(kKptfile); kptfile != texts.end()) {
    kptfile->second = package::with_verdicts(kptfile->second, record.gates, record.conditions);
  }
  return texts;
}

Status about_resources(Status status) {
  if (status.kind == kRevisions.plural) {
    status.kind = kResources.plural;
    const std::string was = kRevisions.group_resource();
    if (status.message.starts_with(was)) status.message = kResources.group_resource() + status.message.substr(was.size());
  }
  return status;
}

Task<Result<Shown>> shown_of(ServedContext context, StoredRecord stored) {
  SLIPWAY_CO_TRY(git, git_of(context.env));
  SLIPWAY_CO_TRY(repository, co_await open_repository(context.server, stored.key().ns, stored.record.repository));
  SLIPWAY_CO_TRY(content, co_await content_of(*git, repository, stored.record));
  Texts texts = with_verdicts(content.texts(), stored.record);
  co_return Shown{std::move(stored), std::move(repository), std::move(content), std::move(texts)};
}

/// What is known of the last rendering: its outcome, and why it failed.
std::optional<RenderStatus> last_render(const RevisionRecord& record) {
  if (record.render_status) return record.render_status;
  if (record.render != Render::Failed) return std::nullopt;
  RenderStatus status{.error = record.render_error};
  status.result = {.api_version = "kpt.dev/v1", .kind = "FunctionResultList", .exit_code = 1};
  return status;
}

Value object_of(const StoredRecord& stored, const Texts& texts, const std::optional<RenderStatus>& render) {
  return resources_object(stored.record, shown_metadata(stored), texts, render);
}

std::vector<std::string> hidden_warning(const Content& content) {
  const auto hidden = content.hidden();
  if (hidden.empty()) return {};
  return {"not shown, as they are no text, and kept as they are: " + joined(hidden, ", ")};
}

/// The files that a request means, over what it had read.
struct SentFiles {
  StoredRecord base{};
  Texts texts{};
};

Result<Texts> texts_in(const Value& object) {
  auto spec = json::decode<ResourcesSpec>(object["spec"], "spec", {.allow_unknown = true});
  if (!spec) return fail(kube::invalid(kResourcesKind, kube::name(object), spec.error().causes));
  return std::move(spec->resources);
}

Task<Result<SentFiles>> sent_files(ServedContext context, Request request, Shown shown) {
  Value object = request.body;
  if (request.verb == Verb::Patch) {
    const Value live = object_of(shown.stored, shown.texts, last_render(shown.stored.record));
    if (request.patch_type == PatchType::Json) {
      SLIPWAY_CO_TRY(patched, json::apply_json_patch(live, request.body));
      object = patched;
    } else if (request.patch_type == PatchType::Merge && request.body.is_object()) {
      object = json::apply_merge_patch(live, request.body);
    } else {
      co_return fail(Reason::UnsupportedMediaType,
                     "the body of the request was in an unknown format - accepted media types include: "
                     "application/json-patch+json, application/merge-patch+json");
    }
  }
  const std::string version = object["metadata"]["resourceVersion"].str();
  if (version.empty()) {
    co_return fail(kube::invalid(kResourcesKind, request.name,
                                 {field::invalid("metadata.resourceVersion", "\"\"", "must be specified for an update")}));
  }
  const std::string_view uid = object["metadata"]["uid"].as_string();
  if (!uid.empty() && uid != shown.stored.uid()) {
    co_return fail(kube::conflict(
        kResources, request.name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, shown.stored.uid())));
  }
  SLIPWAY_CO_TRY(base, co_await record_at(context.server, shown.stored, version));
  SLIPWAY_CO_TRY(texts, texts_in(object));
  co_return SentFiles{std::move(base), std::move(texts)};
}

Result<void> check_paths(const std::string& name, const Texts& texts) {
  std::vector<Cause> causes;
  for (const auto& [path, text] : texts) {
    if (!krm::is_file_path(path)) {
      causes.push_back(field::invalid(fmt::format("spec.resources[{}]", path), fmt::format("{:?}", path),
                                      "is no path of a file in the package"));
    }
  }
  if (!texts.contains(kKptfile)) causes.push_back(field::required("spec.resources[Kptfile]", "a package has a Kptfile"));
  if (causes.empty()) return {};
  return fail(kube::invalid(kResourcesKind, name, std::move(causes)));
}

Status render_failed(const std::string& name, const RenderStatus& rendered) {
  Status status = fail(Reason::InternalError, "").error();
  status.message = fmt::format(
      "Internal error occurred: error rendering package in kpt function pipeline: {}. Nothing was stored; annotate {} with "
      "{}=true "
      "to store it all the same",
      rendered.error, name, kPushOnFailure);
  for (const std::string& line : error_lines(rendered.result)) status.message += "\n" + line;
  return status;
}

/// What is told in the answer.
struct Told {
  std::optional<RenderStatus> render{};
  std::vector<std::string> warnings{};
};

/// The sender's Kptfile with the gates and conditions that Git has: what is left to differ is content.
Texts as_content(Texts texts, const Content& in_git) {
  const auto kptfile = texts.find(kKptfile);
  const auto was = in_git.files.find(kKptfile);
  if (kptfile == texts.end() || was == in_git.files.end()) return texts;
  const auto said = verdicts_of({{kKptfile, was->second}});
  if (!said) return texts;
  const Gates gates = gates_of(said->gates.value_or(std::vector<std::string>{}), kPackageSource);
  kptfile->second = package::with_verdicts(kptfile->second, gates, said->conditions.value_or(Conditions{}));
  return texts;
}

struct Wanted {
  Texts texts{};
  Verdicts said{};
  Rendered rendered{};
};

Task<Result<Wanted>> wanted_of(ServedContext context, std::string name, StoredRecord current, Texts sent) {
  SLIPWAY_CO_TRY_VOID(check_paths(name, sent));
  Wanted wanted;
  auto said = verdicts_of(sent);
  if (!said) co_return fail(Reason::BadRequest, fmt::format("spec.resources[Kptfile]: {}", said.error().message));
  wanted.said = std::move(*said);
  wanted.rendered = co_await render_content(context, current.key().ns, std::move(sent), current.record.path);
  const bool is_allowed = kube::annotation(current.object, kPushOnFailure) == "true";
  if (wanted.rendered.outcome == Render::Failed && !is_allowed) {
    co_return fail(render_failed(name, wanted.rendered.status));
  }
  // Functions write gates and conditions too.
  auto after = verdicts_of(wanted.rendered.files);
  if (after && after->gates) wanted.said.gates = after->gates;
  if (after && after->conditions) wanted.said.conditions = after->conditions;
  wanted.texts = wanted.rendered.files;
  co_return wanted;
}

/// The record with the commit of what it should hold.
Task<Result<RevisionRecord>> stored_content(ServedContext context, Shown shown, RevisionRecord record, Content to,
                                            std::string user) {
  SLIPWAY_CO_TRY(git, git_of(context.env));
  to.files[kKptfile] = package::with_verdicts(to.files[kKptfile], record.gates, record.conditions);
  if (to.files == shown.content.files) co_return record;
  const ContentView view(to.files);
  DraftCommit draft{.parent = shown.stored.record.commit,
                    .from = shown.content,
                    .to = std::move(to),
                    .path = record.path,
                    .workspace = record.workspace,
                    .user = user,
                    .now = context.env.clock.now(),
                    .notes = record.notes};
  SLIPWAY_CO_TRY(made, co_await commit_draft(*git, shown.repository, std::move(draft)));
  // put_content() has recorded its Save with no commit yet.
  if (record.intents.size() > shown.stored.record.intents.size()) record.intents.pop_back();
  record.commit = shown.stored.record.commit;
  record = with_saved(std::move(record), view, made, shown.repository.place);
  record.exported = verdicts_digest(record);
  co_return record;
}

/// While the Kptfile could not be read it showed nothing of the record's: what the mended one lacks was not taken back.
Verdicts with_unshown(Verdicts said, const RevisionRecord& read) {
  if (read.render != Render::Unreadable) return said;
  for (const ReadinessGate& one : read.gates) {
    if (said.gates && std::ranges::find(*said.gates, one.type) == said.gates->end()) said.gates->push_back(one.type);
  }
  for (const Condition& one : read.conditions) {
    if (said.conditions && find(*said.conditions, one.type) == nullptr) said.conditions->push_back(one);
  }
  return said;
}

/// A Kptfile without the list of gates, or of conditions, takes back what its sender was shown of them.
Verdicts with_taken_back(Verdicts said, const RevisionRecord& read) {
  if (read.render == Render::Unreadable) return said;
  if (!said.gates) said.gates.emplace();
  if (!said.conditions) said.conditions.emplace();
  return said;
}

Task<Result<Change>> change_of(ServedContext context, Request request, StoredRecord current, std::shared_ptr<Told> told) {
  SLIPWAY_CO_TRY_VOID(check_content(current.record.lifecycle));
  SLIPWAY_CO_TRY(shown, co_await shown_of(context, current));
  SLIPWAY_CO_TRY(sent, co_await sent_files(context, request, shown));
  SLIPWAY_CO_TRY(wanted, co_await wanted_of(context, request.name, current, sent.texts));
  wanted.said = with_taken_back(with_unshown(std::move(wanted.said), sent.base.record), sent.base.record);
  const Requester who = requester_of(context, request);
  const Content content = shown.content.with_texts(as_content(wanted.texts, shown.content));
  const ContentView view(content.files);
  ContentAsk ask{.base = sent.base.record,
                 .current = current.record,
                 .content = view,
                 .conditions = wanted.said.conditions,
                 .gates = wanted.said.gates,
                 .render = wanted.rendered.outcome};
  if (needs_gate_right(ask, who)) {
    SLIPWAY_CO_TRY(may, co_await may_approve(context, request.user, current.key()));
    if (may) ask.gate_right = GateRight::Any;
  }
  SLIPWAY_CO_TRY(made, put_content(ask, shown.repository.place, who));
  made.record.render_error = wanted.rendered.status.error;
  made.record.render_status = kept_render(wanted.rendered.status);
  SLIPWAY_CO_TRY(record, co_await stored_content(context, shown, std::move(made.record), content, who.user));
  told->render = wanted.rendered.status;
  told->warnings = hidden_warning(shown.content);
  co_return Change{.record = std::move(record), .metadata = current.object["metadata"]};
}

}  // namespace

Task<Result<Reply>> get_resources(ServedContext context, Request request) {
  auto stored = co_await get_record(context.server, key_of(request));
  if (!stored) co_return fail(about_resources(std::move(stored).error()));
  SLIPWAY_CO_TRY(shown, co_await shown_of(context, std::move(*stored)));
  co_return Reply{object_of(shown.stored, shown.texts, last_render(shown.stored.record)), hidden_warning(shown.content), 200};
}

Task<Result<Reply>> list_resources(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(records, co_await list_records(context.server, request.ns, request.field_selector));
  json::ArrayBuilder items;
  std::vector<std::string> warnings;
  for (StoredRecord& one : records) {
    const std::string name = one.key().name;
    auto shown = co_await shown_of(context, std::move(one));
    if (shown) {
      items.add(object_of(shown->stored, shown->texts, last_render(shown->stored.record)));
    } else {
      warnings.push_back(fmt::format("{} cannot be read: {}", name, shown.error().message));
    }
  }
  co_return Reply{json::object({{"items", items.build()}}), std::move(warnings), 200};
}

Task<Result<Reply>> write_resources(ServedContext context, std::shared_ptr<WriterTurns> turns, Request request) {
  const auto told = std::make_shared<Told>();
  const auto change = [context, request, told](StoredRecord current) {
    return change_of(context, request, std::move(current), told);
  };
  auto written = co_await change_record(context, turns, key_of(request), trial_of(request), change);
  if (!written) co_return fail(about_resources(std::move(written).error()));
  auto shown = co_await shown_of(context, *written);
  if (!shown) co_return fail(std::move(shown).error());
  co_return Reply{object_of(*written, shown->texts, told->render), told->warnings, 200};
}

client::AnsweredKind resources_kind(std::shared_ptr<WriterTurns> turns) {
  client::AnsweredKind kind{.type = resources_type(), .schema = resources_schema()};
  const auto write = [turns](ServedContext context, Request request) {
    return write_resources(context, turns, std::move(request));
  };
  kind.verbs = {{Verb::Get, "", get_resources},
                {Verb::List, "", list_resources},
                with_known_fields({Verb::Update, "", write}, kind.schema),
                with_known_fields({Verb::Patch, "", write}, kind.schema)};
  return kind;
}

}  // namespace slipway::delivery::package
