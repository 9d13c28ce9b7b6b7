// prerender.#HelmTemplate and #KustomizePatch (steps helm-template and kustomize-patch): the Application is rendered from a
// template in git and written back, until there is nothing to write (pre_render.h).
#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/pre_render.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/template_programs.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

constexpr Duration kTimeout = std::chrono::seconds{60};

/// Of a repository or a template: it may be put right, so it is tried again.
Answer ended_render(const Status& error) {
  return error.reason == Reason::NotImplemented ? failed(error.message) : Answer::error(error);
}

bool is_pre_render(const AppRun& run, const workflow::Step* step) {
  return std::ranges::any_of(run.parsed().steps.steps, [&](const workflow::Step& one) {
    const bool is_member = std::ranges::any_of(one.sub_steps, [&](const workflow::Step& sub) { return &sub == step; });
    return one.is_pre_render && (&one == step || is_member);
  });
}

/// Why the step may not do its work here; empty: it may.
std::string refusal(AppRun& run, const ProviderCall& call) {
  if (!is_pre_render(run, call.step)) return "it writes the Application, so it needs stage: pre-render";
  if (!kube::annotation(run.application(), kPublishVersion).empty()) {
    return fmt::format(
        "{} is set: what runs is a recorded spec, which nothing that is written back would change. Remove the "
        "annotation or the step",
        kPublishVersion);
  }
  if (run.tools().env.git == nullptr) return "this process has no git: run Slipway with a data folder";
  if (run.tools().env.programs == nullptr) return "this process runs no programs";
  return "";
}

/// What the template says now.
struct Rendered {
  Value spec;
  std::string inputs;  // digest of all that it was made from
};

Task<Result<Rendered>> render_source(AppRun& run, ProviderCall call, std::string with) {
  const bool is_helm = with == "helm";
  SLIPWAY_CO_TRY(path, source_path(call.params["path"].str()));
  SLIPWAY_CO_TRY(credentials, co_await git_credentials(run, call.params["credentials"]));
  TemplateOrder order{.application = std::string(kube::name(run.application())),
                      .ns = std::string(kube::ns(run.application())),
                      .path = path,
                      .parameters = call.params[is_helm ? "parameters" : "patch"],
                      .timeout = kTimeout};
  TemplateSource source{
      .remote = {.url = call.params["source"].str(), .space = order.ns, .credentials = std::move(credentials)},
      .branch = call.params["branch"].str(),
      .path = path};
  Programs& programs = *run.tools().env.programs;
  SLIPWAY_CO_TRY(files, co_await read_source(*run.tools().env.git, source, is_helm ? Reach::folder : Reach::repository));
  if (!is_helm) SLIPWAY_CO_TRY_VOID(check_kustomizations(files.files));
  std::string program = with;
  if (!is_helm) {
    SLIPWAY_CO_TRY(found, kustomize_program(programs));
    program = std::move(found);
  }
  ProgramCall asked = is_helm ? helm_call(order, files) : kustomize_call(order, files, program);
  SLIPWAY_CO_TRY(text, co_await rendered_by(programs, std::move(asked)));
  SLIPWAY_CO_TRY(application, rendered_application(text));
  co_return Rendered{.spec = application["spec"],
                     .inputs = sha256_hex(fmt::format("{}\n{}", json::print(call.params), files.commit)).substr(0, 16)};
}

/// The Application as the server would have it with this spec: names filled in, defaults. Nothing is written.
Task<Result<Value>> tried(client::Client& hub, Value application) {
  client::Request request;
  request.verb = client::Verb::Update;
  request.resource = kApplications;
  request.ns = kube::ns(application);
  request.name = kube::name(application);
  request.body = std::move(application);
  request.field_manager = kManager;
  request.dry_run = true;
  SLIPWAY_CO_TRY(reply, co_await hub.call(std::move(request)));
  co_return std::move(reply.object);
}

Task<Result<void>> write(client::Client& hub, Value application, std::string step, PreRenderRecord record) {
  PreRenderRecords records = read_records(kube::annotation(application, kPreRender));
  records[step] = std::move(record);
  application = application.with_path({"metadata", "annotations", kPreRender}, print_records(records));
  SLIPWAY_CO_TRY_VOID(co_await client::update(hub, kApplications, std::move(application), kManager));
  co_return Result<void>{};
}

Answer told(std::string message) { return Answer::done(json::object({{"message", std::move(message)}})); }

/// A conflict: the Application has just been changed, and the next look is at that.
Answer passed(const Status& error) {
  return error.reason == Reason::Conflict ? Answer::wait("the Application has been changed meanwhile") : Answer::error(error);
}

Task<Answer> write_back(AppRun& run, ProviderCall call, Rendered rendered) {
  auto hub = run.on(kHub);
  if (!hub) co_return Answer::error(hub.error());
  auto live = co_await client::get(**hub, kApplications, kube::key_of(run.application()));
  if (!live) co_return Answer::error(live.error());
  // Steps that come after this one would otherwise deliver what this run began with.
  if (kube::generation(*live) != kube::generation(run.application()) || kube::uid(*live) != kube::uid(run.application())) {
    co_return Answer::wait("the Application has been changed meanwhile");
  }
  auto spec = merged_spec((*live)["spec"], rendered.spec);
  if (!spec) co_return Answer::error(spec.error());
  const Value wanted = live->with("spec", *spec);
  auto would_be = *spec == (*live)["spec"] ? Result<Value>(*live) : co_await tried(**hub, wanted);
  if (!would_be) co_return passed(would_be.error());
  const bool is_same = (*would_be)["spec"] == (*live)["spec"];
  const auto records = read_records(kube::annotation(*live, kPreRender));
  const auto known = records.find(call.step->name);
  const WriteBack next = decide_write_back(known == records.end() ? nullptr : &known->second, rendered.inputs,
                                           sha256_hex(json::print((*would_be)["spec"])).substr(0, 16), is_same);
  if (next.kind == WriteBack::Kind::Stop) co_return failed(next.message);
  if (next.kind == WriteBack::Kind::Done) co_return told("the Application says what the template renders");
  auto written = co_await write(**hub, next.kind == WriteBack::Kind::Write ? wanted : *live, call.step->name, next.record);
  if (!written) co_return passed(written.error());
  if (next.kind == WriteBack::Kind::Settle) co_return told("the Application says what the template renders");
  co_return Answer::wait("written back: the new spec is read before anything else runs");
}

Task<Answer> render_and_write(AppRun& run, ProviderCall call, std::string with) {
  if (std::string why = refusal(run, call); !why.empty()) co_return failed(std::move(why));
  auto rendered = co_await render_source(run, call, std::move(with));
  if (!rendered) co_return ended_render(rendered.error());
  co_return co_await write_back(run, std::move(call), std::move(*rendered));
}

Task<Answer> helm_template(AppRun& run, ProviderCall call) { return render_and_write(run, std::move(call), "helm"); }
Task<Answer> kustomize_patch(AppRun& run, ProviderCall call) { return render_and_write(run, std::move(call), "kustomize"); }

}  // namespace

std::vector<ProviderRow> pre_render_rows() {
  return {{"prerender", "helm-template", {"source", "branch", "path", "credentials", "parameters"}, helm_template},
          {"prerender", "kustomize-patch", {"source", "branch", "path", "credentials", "patch"}, kustomize_patch}};
}

}  // namespace slipway::delivery::application
