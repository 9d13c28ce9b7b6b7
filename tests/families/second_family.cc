#include "second_family.h"

#include <fmt/format.h>

#include "json/text.h"
#include "kube/crd_schema.h"

namespace slipway::families_test {
namespace {

using delivery::Verdict;
using json::Value;
using kube::Object;

const char* const kWorkflow = "Workflow";

Value parsed(std::string_view text) { return *json::parse(text); }

Value definition(const char* kind, const kube::Resource& resource, const char* spec_schema) {
  kube::CrdSpec spec;
  spec.group = resource.group;
  spec.version = resource.version;
  spec.kind = kind;
  spec.plural = resource.plural;
  spec.doc = "Of a test.";
  spec.spec_schema = parsed(spec_schema);
  spec.status_schema = parsed(R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})");
  return kube::make_crd(spec);
}

/// Keeps a Note for each workflow, and ends those that are approved.
class SecondController : public control::Controller {
 public:
  explicit SecondController(Env& env) : env_(env) {}
  std::string name() const override { return "second"; }
  void watch(control::Watches& watches) override { workflows_ = &watches.primary(kApprovals); }

  Task<control::Outcome> reconcile(control::Reconcile& run) override {
    const Object workflow = workflows_->get(run.key);
    if (workflow.is_null() || kube::is_deleting(workflow)) co_return control::Outcome::settled();
    const Value meta = json::object({{"name", run.key.name + "-note"},
                                     {"namespace", run.key.ns},
                                     {"ownerReferences", json::array({kube::owner_reference(workflow)})}});
    const auto noted = co_await client::create(
        run.client, kNotes,
        json::object(
            {{"apiVersion", "second.example.test/v1"}, {"kind", "Note"}, {"metadata", meta}, {"spec", Value::empty_object()}}),
        "second");
    if (!noted && noted.error().reason != Reason::AlreadyExists) co_return control::Outcome::failed(noted.error());
    if (!workflow["spec"]["approved"].as_bool() || kube::is_true(workflow, "Complete")) co_return control::Outcome::settled();
    const Value conditions = kube::set_condition({}, {"Complete", "True", "Approved", "it was approved"}, env_.clock.now());
    const auto ended = co_await client::merge_patch(run.client, kApprovals, run.key,
                                                    json::object({{"status", json::object({{"conditions", conditions}})}}),
                                                    "second", "status");
    co_return ended ? control::Outcome::settled() : control::Outcome::failed(ended.error());
  }

 private:
  Env& env_;
  control::Informer* workflows_ = nullptr;
};

delivery::KindRow row() {
  delivery::KindRow row{.group = kApprovals.group, .kind = kWorkflow};
  row.verdict = [](const Object& workflow) -> std::optional<Verdict> {
    if (!kube::is_true(workflow, "Complete")) return std::nullopt;
    return delivery::ended_by(kube::condition(workflow, "Complete"));
  };
  row.news = [](const Object& before, const Object& after) -> std::vector<delivery::News> {
    if (after["spec"]["by"] == before["spec"]["by"]) return {};
    return {{.part = "", .text = fmt::format("asked of {}", after["spec"]["by"].as_string())}};
  };
  row.summary = [](const Object& workflow, const control::View&) {
    return fmt::format("approval of {} by {}\n", kube::name(workflow), workflow["spec"]["by"].as_string());
  };
  row.describe = [](const Object& workflow, const control::View& view, const std::vector<Object>& events) {
    const auto notes = view.owned_by(workflow, {kNotes.group, kNotes.version, "Note"});
    return fmt::format("Approval: {}\nNotes: {}\nEvents: {}\n", kube::name(workflow), notes.size(), events.size());
  };
  row.actions.push_back(
      {.verb = "approve",
       .help = "approve a workflow",
       .options = {{"by", "who approves"}},
       .run = [](delivery::ActionCall call) -> Task<Result<delivery::CommandAnswer>> {
         const auto by = call.options.find("by");
         const Value name = by == call.options.end() ? Value("somebody") : Value(by->second);
         const Value patch = json::object({{"spec", json::object({{"approved", true}, {"by", name}})}});
         SLIPWAY_CO_TRY(patched, co_await client::merge_patch(call.client, call.resource, call.key, patch, "second-approve"));
         co_return delivery::CommandAnswer{.text = fmt::format("{} approved\n", kube::name(patched))};
       }});
  return row;
}

Value page(const std::string& name, const std::string& ns) {
  return json::object(
      {{"metadata", json::object({{"name", name}, {"namespace", ns}, {"labels", json::object({{"page", name}})}})},
       {"spec", json::object({{"text", "text of " + name}})}});
}

Task<Result<client::Reply>> get_page(client::ServedContext, client::Request request) {
  if (request.name != "one" && request.name != "two") co_return fail(kube::not_found(kPages, request.name));
  co_return client::Reply{page(request.name, request.ns), {}, 200};
}

Task<Result<client::Reply>> list_pages(client::ServedContext, client::Request request) {
  const std::string ns = request.ns.empty() ? "default" : request.ns;
  co_return client::Reply{json::object({{"items", json::array({page("one", ns), page("two", ns)})}}), {}, 200};
}

/// Writes what it was sent to a ConfigMap, as the process itself.
Task<Result<client::Reply>> create_page(client::ServedContext context, client::Request request) {
  const Value meta = json::object({{"name", kube::name(request.body)}, {"namespace", request.ns}});
  const Value map = json::object({{"apiVersion", "v1"},
                                  {"kind", "ConfigMap"},
                                  {"metadata", meta},
                                  {"data", json::object({{"by", request.user ? request.user->name : "the process"}})}});
  const auto written = co_await client::create(context.server, {"", "v1", "configmaps"}, map, "second");
  if (!written) co_return fail(written.error());
  co_return client::Reply{request.body, {"kept elsewhere"}, 200};
}

Task<Result<client::Reply>> get_text(client::ServedContext, client::Request request) {
  co_return client::Reply{page(request.name, request.ns)["spec"], {}, 200};
}

client::AnsweredKind pages() {
  client::AnsweredKind kind;
  kind.type.resource = kPages;
  kind.type.kind = {kPages.group, kPages.version, "Page"};
  kind.type.list_kind = "PageList";
  kind.type.singular = "page";
  kind.type.short_names = {"pg"};
  kind.type.columns = {{.name = "Text", .type = "string", .format = "", .description = "its text", .json_path = ".spec.text"}};
  kind.schema =
      parsed(R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {"text": {"type": "string"}}}}})");
  kind.verbs = {{client::Verb::Get, "", get_page},
                {client::Verb::List, "", list_pages},
                {client::Verb::Create, "", create_page},
                {client::Verb::Get, "text", get_text}};
  return kind;
}

Task<Result<http::Response>> answer_hook(client::ServedContext, http::Request request,
                                         std::shared_ptr<const kube::UserInfo> user) {
  http::Response response;
  response.status = 202;
  response.headers.add("Content-Type", "text/plain");
  response.body = fmt::format("{} {} from {}: {}", request.method, request.target, user->name, request.body);
  co_return response;
}

delivery::Family make() {
  delivery::Family family{.name = "second", .groups = {kApprovals.group}};
  family.definitions = {
      definition(kWorkflow, kApprovals,
                 R"({"type": "object", "properties": {"approved": {"type": "boolean"}, "by": {"type": "string"}}})"),
      definition("Note", kNotes, R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})")};
  family.admission = [](const delivery::AdmissionContext&) {
    return std::vector<kube::AdmissionRow>{
        {.group = kApprovals.group,
         .kind = kWorkflow,
         .mutate = [](const Object& object,
                      const Object&) { return object["spec"].has("by") ? object : object.with_path({"spec", "by"}, "nobody"); },
         .validate =
             [](const Object& object, const Object&) {
               std::vector<Cause> causes;
               if (object["spec"]["by"].as_string() == "robot") {
                 causes.push_back(field::invalid("spec.by", "\"robot\"", "must be a person"));
               }
               return causes;
             }}};
  };
  family.explain = [] {
    return std::vector<control::ExplainRow>{
        control::ExplainRow::without_parts(kApprovals.group, kWorkflow, [](const Object& object, const control::View&) {
          if (object["spec"]["approved"].as_bool()) return std::vector<control::Wait>{};
          return std::vector<control::Wait>{{.on = "approval",
                                             .reason = "NotApproved",
                                             .message = "nobody has approved it",
                                             .since = std::nullopt,
                                             .next = {},
                                             .part = ""}};
        })};
  };
  family.controllers = [](const delivery::ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    made.push_back(std::make_unique<SecondController>(context.env));
    return made;
  };
  family.kinds = {row()};
  family.answered = {pages()};
  family.paths = []() -> std::vector<client::HttpPath> {
    return {{.prefix = "/hooks/second",
             .methods = {"POST"},
             .access = client::HttpPath::Access::Anyone,
             .max_body_bytes = 8,
             .run = answer_hook},
            {.prefix = "/second", .methods = {"GET"}, .run = answer_hook}};
  };
  return family;
}

}  // namespace

const delivery::Family& second_family() {
  static const delivery::Family family = make();
  return family;
}

}  // namespace slipway::families_test
