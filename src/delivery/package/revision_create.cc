// POST of a PackageRevision: the content that its task gives, one commit with the gates and conditions that it begins with, and
// one append. So no reader sees a draft without them.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/package/metadata_merge.h"
#include "delivery/package/new_content.h"
#include "delivery/package/outside_changes.h"
#include "delivery/package/render_content.h"
#include "delivery/package/render_result.h"
#include "delivery/package/revision_verbs.h"

namespace slipway::delivery::package {
namespace {

using client::Reply;
using client::Request;
using client::ServedContext;
using json::Value;

struct Asked {
  RevisionSpec spec{};
  Conditions conditions{};
};

Result<Asked> read_asked(const Request& request) {
  const std::string name(kube::name(request.body));
  auto spec = json::decode<RevisionSpec>(request.body["spec"], "spec", {.allow_unknown = true});
  if (!spec) return fail(kube::invalid(kRevisionKind, name, spec.error().causes));
  spec->package_name = plain_path(spec->package_name);
  Asked asked{.spec = std::move(*spec)};
  const Value& conditions = request.body["status"]["conditions"];
  if (conditions.empty()) return asked;
  auto status = json::decode<RevisionStatus>(json::object({{"conditions", conditions}}), "status", {.allow_unknown = true});
  if (!status) return fail(kube::invalid(kRevisionKind, name, status.error().causes));
  for (const Condition& one : status->conditions) {
    if (!is_computed(one.type)) asked.conditions.push_back(one);
  }
  return asked;
}

std::vector<std::string> named_sources(const RevisionSpec& spec) {
  std::vector<std::string> names;
  for (const RevisionTask& task : spec.tasks) {
    if (task.clone && task.clone->upstream.revision) names.push_back(task.clone->upstream.revision->name);
    if (task.edit && task.edit->source) names.push_back(task.edit->source->name);
    if (!task.upgrade) continue;
    for (const NameRef* one : {&task.upgrade->old_upstream, &task.upgrade->new_upstream, &task.upgrade->local}) {
      names.push_back(one->name);
    }
  }
  return names;
}

/// The names are free, and the task fits what is there.
Task<Result<void>> check_there(ServedContext context, std::string ns, RevisionSpec spec) {
  SLIPWAY_CO_TRY(there, co_await list_existing(context.server, ns, fmt::format("spec.repository={}", spec.repository)));
  std::vector<std::string> other_paths;
  for (const Existing& one : there) {
    if (one.package != spec.package_name) other_paths.push_back(one.package);
  }
  for (const std::string& name : named_sources(spec)) {
    if (std::ranges::find(there, name, &Existing::name) != there.end()) continue;
    auto source = co_await list_existing(context.server, ns, fmt::format("metadata.name={}", name));
    if (source && !source->empty()) there.push_back(source->front());
  }
  SLIPWAY_CO_TRY_VOID(check_task(spec, there));
  co_return check_nesting(spec.package_name, other_paths);
}

Result<void> check_names(const Request& request, const Asked& asked, const OpenRepository& repository) {
  const RevisionKey key{{asked.spec.repository, asked.spec.package_name}, asked.spec.workspace};
  std::vector<Cause> causes = create_causes(asked.spec, request.body["metadata"]["labels"]);
  for (Cause& one : name_causes(key, repository.place.branch)) causes.push_back(std::move(one));
  if (causes.empty()) return {};
  const std::string sent(kube::name(request.body));
  return fail(kube::invalid(kRevisionKind, sent.empty() ? key.object_name() : sent, std::move(causes)));
}

/// The pipeline of what was copied is run; where it fails the draft is there as it was copied, and says so.
Task<Rendered> render_new(ServedContext context, std::string ns, const Content& content, std::string path) {
  return render_content(context, std::move(ns), content.texts(), std::move(path));
}

struct Built {
  RevisionRecord record{};
  Content content{};
};

/// What a variant writes into the revision is in its first commit.
Result<void> put_variant(Asked& asked, NewContent& made) {
  if (!asked.spec.variant) return {};
  SLIPWAY_TRY(written, with_variant(made.content.texts(), *asked.spec.variant));
  made.content = made.content.with_texts(written.files);
  for (Condition& one : written.conditions) made.conditions.push_back(std::move(one));
  for (const std::string& gate : written.gates) asked.spec.gates.push_back({.type = gate});
  asked.spec.variant.reset();
  return {};
}

/// The record, with a Kptfile that says what it says.
Result<Built> build(const Asked& asked, const NewContent& made, const Rendered& rendered, const OpenRepository& repository,
                    const Requester& who, GateRight right) {
  Built built{.content = made.content.with_texts(rendered.files)};
  SLIPWAY_TRY(said, verdicts_of(built.content.files));
  Conditions conditions = made.conditions;
  conditions.insert(conditions.end(), asked.conditions.begin(), asked.conditions.end());
  const auto ask_of = [&](const ContentView& content) {
    return CreateAsk{.spec = asked.spec,
                     .content = content,
                     .source = made.source ? &made.source->record : nullptr,
                     .upstream = made.upstream ? &made.upstream->record : nullptr,
                     .old_upstream = made.old_upstream ? &made.old_upstream->record : nullptr,
                     .gates = said.gates.value_or(std::vector<std::string>{}),
                     .conditions = conditions,
                     .render = rendered.outcome,
                     .is_deployment = repository.spec.is_deployment,
                     .gate_right = right};
  };
  const ContentView first(built.content.files);
  SLIPWAY_TRY_VOID(check_new(ask_of(first), who));
  const RevisionRecord begun = create_revision(ask_of(first), repository.place, who);
  std::string& kptfile = built.content.files[kKptfile];
  kptfile = with_verdicts(kptfile, begun.gates, begun.conditions);
  // The same once more: conditions and digests are about the content with its gates.
  const ContentView whole(built.content.files);
  built.record = create_revision(ask_of(whole), repository.place, who);
  built.record.upstream_lock = made.upstream_lock;
  built.record.render_error = rendered.status.error;
  built.record.render_status = kept_render(rendered.status);
  built.record.exported = verdicts_digest(built.record);
  return built;
}

GitId source_commit(const NewContent& made, const RevisionSpec& spec) {
  const bool is_same = made.source && made.source->record.key().package == PackageKey{spec.repository, spec.package_name};
  return is_same ? made.source->record.commit : "";
}

/// `published` is the commit of the revision of the same package that it goes on from; "": it begins it.
Task<Result<RevisionRecord>> committed(Git& git, OpenRepository repository, Built built, Requester who, GitId published) {
  RevisionRecord& record = built.record;
  SLIPWAY_CO_TRY(tip, co_await branch_tip(git, repository));
  DraftCommit draft{.parent = tip,
                    .from = {},
                    .to = std::move(built.content),
                    .path = record.path,
                    .workspace = record.workspace,
                    .user = who.user,
                    .now = who.now.time()};
  if (tip) {
    auto there = co_await read_content(git, repository.remote, repository.folder_of(record.path), *tip);
    if (there) draft.from = std::move(*there);
    if (!there && there.error().reason != Reason::NotFound) co_return fail(std::move(there).error());
  }
  if (tip) {
    SLIPWAY_CO_TRY(outside, co_await outside_changes(git, repository, record.path, *tip, {std::move(published)}));
    record.outside = std::move(outside);
  }
  SLIPWAY_CO_TRY(made, co_await commit_draft(git, repository, std::move(draft)));
  record.commit = made;
  record.intents.back().commit = made;
  record.intents.back().seen.clear();
  const std::string ref = ref_of(record.key(), record.revision, record.lifecycle, repository.place.folder);
  record.self_lock = repository.lock(record.path, ref, made);
  co_return std::move(record);
}

}  // namespace

Task<Result<Reply>> create_one(ServedContext context, Request request) {
  SLIPWAY_CO_TRY(asked, read_asked(request));
  SLIPWAY_CO_TRY(git, git_of(context.env));
  SLIPWAY_CO_TRY(repository, co_await open_repository(context.server, request.ns, asked.spec.repository));
  SLIPWAY_CO_TRY_VOID(check_names(request, asked, repository));
  SLIPWAY_CO_TRY_VOID(co_await check_there(context, request.ns, asked.spec));
  SLIPWAY_CO_TRY(made, co_await new_content(context, repository, {request.ns, request.user}, asked.spec));
  SLIPWAY_CO_TRY_VOID(put_variant(asked, made));
  const Rendered rendered = co_await render_new(context, request.ns, made.content, asked.spec.package_name);
  const Requester who = requester_of(context, request);
  GateRight right = GateRight::Own;
  if (std::ranges::any_of(asked.spec.gates, [](const ReadinessGate& one) { return !one.owner.empty() || one.at; })) {
    const RevisionKey key{{asked.spec.repository, asked.spec.package_name}, asked.spec.workspace};
    SLIPWAY_CO_TRY(may, co_await may_approve(context, request.user, {request.ns, key.object_name()}));
    if (may) right = GateRight::Any;
  }
  SLIPWAY_CO_TRY(built, build(asked, made, rendered, repository, who, right));
  SLIPWAY_CO_TRY(record, co_await committed(*git, repository, std::move(built), who, source_commit(made, asked.spec)));
  const Value& metadata = request.body["metadata"];
  if (!metadata["ownerReferences"].empty()) record.owners = metadata["ownerReferences"];
  SLIPWAY_CO_TRY(stored, co_await create_record(context.server, who.now.time(), request.ns, std::move(record), metadata,
                                                trial_of(request)));
  Reply reply{shown_revision(stored, context.env.clock.now()), made.warnings, 201};
  if (rendered.outcome == Render::Failed)
    reply.warnings.push_back("the package could not be rendered: " + rendered.status.error);
  co_return reply;
}

}  // namespace slipway::delivery::package
