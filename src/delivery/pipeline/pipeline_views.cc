#include "delivery/pipeline/pipeline_views.h"

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/kinds.h"
#include "delivery/pipeline/reader_access.h"

namespace slipway::delivery::pipeline {
namespace {

using client::Reply;
using client::Request;
using client::ServedContext;
using client::Verb;
using json::Value;

/// What of the Pipeline's metadata is not its owner's business alone.
Value metadata_of(const Value& pipeline) { return pipeline["metadata"].without("managedFields").without("annotations"); }

/// REQUIRES: `access` outlives it. Without a user it is the process itself, which may see all.
Task<Result<Value>> shown(ReaderAccess& access, ServedContext context, std::shared_ptr<const kube::UserInfo> user,
                          Value pipeline) {
  Value status = pipeline["status"];
  if (user != nullptr) {
    SLIPWAY_CO_TRY(seen, co_await access.seen(context.server, user, pipeline));
    status = seen;
  }
  const Value view = json::object({{"apiVersion", kPipelineViewKind.api_version()},
                                   {"kind", kPipelineViewKind.kind},
                                   {"metadata", metadata_of(pipeline)},
                                   {"spec", pipeline["spec"]}});
  co_return status.is_null() ? view : view.with("status", status);
}

/// The same request about Pipelines, by the process: whether the user may ask for views has been looked at.
Request about_pipelines(Request request) {
  request.resource = kPipelines;
  request.user = nullptr;
  request.form = client::Form::Whole;
  return request;
}

Task<Result<Reply>> get_view(ServedContext context, Request request) {
  const std::shared_ptr<const kube::UserInfo> user = request.user;
  auto found = co_await context.server.call(about_pipelines(request));
  if (!found && found.error().reason == Reason::NotFound) co_return fail(kube::not_found(kPipelineViews, request.name));
  if (!found) co_return fail(std::move(found).error());
  ReaderAccess access(context.env);
  SLIPWAY_CO_TRY(view, co_await shown(access, context, user, found->object));
  co_return Reply{view, {}, 200};
}

Task<Result<Reply>> list_views(ServedContext context, Request request) {
  const std::shared_ptr<const kube::UserInfo> user = request.user;
  SLIPWAY_CO_TRY(list, co_await context.server.call(about_pipelines(std::move(request))));
  ReaderAccess access(context.env);
  json::ArrayBuilder items;
  for (const Value& pipeline : list.object["items"].items()) {
    SLIPWAY_CO_TRY(view, co_await shown(access, context, user, pipeline));
    items.add(view);
  }
  co_return Reply{list.object.with("items", items.build()), {}, 200};
}

/// The watch of Pipelines, each as the user may see it when it comes: what rights they have is asked again after a minute at
/// most.
class ViewWatch : public client::Watch {
 public:
  ViewWatch(ServedContext context, std::shared_ptr<const kube::UserInfo> user, std::unique_ptr<client::Watch> pipelines)
      : context_(context), user_(std::move(user)), access_(context.env), pipelines_(std::move(pipelines)) {}

  Task<Result<std::vector<client::WatchEvent>>> next() override {
    SLIPWAY_CO_TRY(events, co_await pipelines_->next());
    for (client::WatchEvent& event : events) {
      if (event.type == client::WatchEvent::Type::Bookmark) {
        event.object = event.object.with("apiVersion", kPipelineViewKind.api_version()).with("kind", kPipelineViewKind.kind);
        continue;
      }
      SLIPWAY_CO_TRY(view, co_await shown(access_, context_, user_, event.object));
      event.object = view;
    }
    co_return events;
  }
  void close() override { pipelines_->close(); }

 private:
  ServedContext context_;
  std::shared_ptr<const kube::UserInfo> user_;
  ReaderAccess access_;
  std::unique_ptr<client::Watch> pipelines_;
};

Task<Result<std::unique_ptr<client::Watch>>> watch_views(ServedContext context, Request request) {
  const std::shared_ptr<const kube::UserInfo> user = request.user;
  SLIPWAY_CO_TRY(pipelines, co_await context.server.watch(about_pipelines(std::move(request))));
  co_return std::make_unique<ViewWatch>(context, user, std::move(pipelines));
}

}  // namespace

client::AnsweredKind pipeline_view_kind() {
  client::AnsweredKind kind{.type = pipeline_view_type(), .schema = pipeline_schema()};
  kind.verbs = {{Verb::Get, "", get_view}, {Verb::List, "", list_views}};
  kind.watch = watch_views;
  return kind;
}

}  // namespace slipway::delivery::pipeline
