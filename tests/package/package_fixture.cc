#include "package_fixture.h"

#include <fmt/format.h>

#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::package_test {

using namespace delivery::package;
using client::PatchType;
using client::Request;
using client::Verb;

Value must(const Result<Value>& result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : Value();
}

std::string fault(const Result<Value>& result) {
  return result ? "none" : fmt::format("{}: {}", to_string(result.error().reason), result.error().message);
}

Slipway::Slipway(ManualEnv& env, std::string store) {
  plane::ApiServer::Options options;
  options.store.path = std::move(store);
  auto api = env.run(plane::ApiServer::open(env, options));
  SLIPWAY_CHECK(api.has_value(), api ? "" : api.error().message);
  api_ = std::move(*api);
  plane::Controllers::Options controllers;
  controllers.pods = plane::PodRuntimeKind::None;
  controllers_ = std::make_unique<plane::Controllers>(env.env(), api_->server(), controllers);
  controllers_->start();
}

Slipway::~Slipway() = default;

void PackageTest::open() {
  git_ = std::make_unique<git::Repositories>(env_->env(), std::vector<Lane*>{&env_->env().compute},
                                             std::vector<Lane*>{&env_->env().compute},
                                             git::RepositoriesOptions{.folder = folder_ / "mirrors"});
  env_->env().git = git_.get();
  slipway_ = std::make_unique<Slipway>(*env_, fmt::format("/data/cluster{}.db", life_));
}

void PackageTest::close() {
  env_->drop_all();
  slipway_.reset();
  git_.reset();
}

bool PackageTest::until(const std::function<bool()>& holds, Duration limit) {
  for (Duration spent{0}; spent < limit; spent += seconds{1}) {
    if (holds()) return true;
    advance(seconds{1});
  }
  return holds();
}

Repository& PackageTest::repository(const std::string& name, Deployment deployment, const std::string& more) {
  auto& made = repositories_[name];
  made = std::make_unique<Repository>(folder_ / (name + life_ + ".git"));
  made->commit({{"README.md", "packages\n"}}, "begin");
  register_repository(name, deployment, more);
  return *made;
}

void PackageTest::register_repository(const std::string& name, Deployment deployment, const std::string& more) {
  must(
      create(fmt::format("{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {{name: {}}}, spec: {{type: "
                         "git, deployment: {}, git: {{repo: '{}'}}{}}}}}",
                         name, deployment == Deployment::Yes, repositories_.at(name)->path(), more)));
  advance(seconds{2});
}

Result<client::Reply> PackageTest::call(Request request, As as) {
  if (request.ns.empty()) request.ns = "default";
  if (!as.user.empty()) {
    kube::UserInfo who;
    who.name = as.user;
    who.groups = {as.is_admin ? "system:masters" : "system:authenticated"};
    request.user = std::make_shared<const kube::UserInfo>(who);
  }
  return env_->run(slipway_->server().call(std::move(request)));
}

Result<Value> PackageTest::create(std::string_view yaml, As as) {
  Request request;
  request.verb = Verb::Create;
  SLIPWAY_TRY(body, json::parse_yaml(yaml));
  request.body = body;
  SLIPWAY_TRY(kind, kube::GroupVersionKind::of(request.body));
  std::string plural = kind.kind == "Repository" ? "repositories" : kind.kind + "s";
  for (char& c : plural) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  request.resource = {kind.group, kind.version, plural};
  SLIPWAY_TRY(reply, call(std::move(request), as));
  return reply.object;
}

Result<Value> PackageTest::try_get(const kube::Resource& resource, const std::string& name) {
  Request request;
  request.verb = Verb::Get;
  request.resource = resource;
  request.name = name;
  SLIPWAY_TRY(reply, call(std::move(request)));
  return reply.object;
}

Value PackageTest::get(const kube::Resource& resource, const std::string& name) {
  return try_get(resource, name).value_or(Value());
}

std::string PackageTest::file(const std::string& name, const std::string& path) {
  return files(name)["spec"]["resources"][path].str();
}

std::vector<Value> PackageTest::list(const kube::Resource& resource, const std::string& fields, const std::string& labels) {
  Request request;
  request.verb = Verb::List;
  request.resource = resource;
  request.field_selector = fields;
  request.label_selector = labels;
  auto reply = call(std::move(request));
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
  if (!reply) return {};
  const auto items = reply->object["items"].items();
  return {items.begin(), items.end()};
}

std::vector<std::string> PackageTest::names(const kube::Resource& resource, const std::string& fields) {
  std::vector<std::string> all;
  for (const Value& one : list(resource, fields)) all.emplace_back(kube::name(one));
  return all;
}

Result<Value> PackageTest::put(const kube::Resource& resource, const Value& object, const std::string& subresource, As as) {
  Request request;
  request.verb = Verb::Update;
  request.resource = resource;
  request.name = kube::name(object);
  request.subresource = subresource;
  request.body = object;
  SLIPWAY_TRY(reply, call(std::move(request), as));
  return reply.object;
}

Result<Value> PackageTest::patch(const kube::Resource& resource, const std::string& name, std::string_view yaml, PatchType type,
                                 const std::string& manager, As as, const std::string& subresource) {
  Request request;
  request.verb = Verb::Patch;
  request.resource = resource;
  request.name = name;
  request.subresource = subresource;
  SLIPWAY_TRY(body, json::parse_yaml(yaml));
  request.body = body;
  request.patch_type = type;
  request.field_manager = manager;
  SLIPWAY_TRY(reply, call(std::move(request), as));
  return reply.object;
}

Result<Value> PackageTest::remove(const kube::Resource& resource, const std::string& name, As as) {
  Request request;
  request.verb = Verb::Delete;
  request.resource = resource;
  request.name = name;
  SLIPWAY_TRY(reply, call(std::move(request), as));
  return reply.object;
}

std::string PackageTest::draft(const std::string& repository, const std::string& package, const std::string& workspace,
                               const std::string& task) {
  const Value made =
      must(create(fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: "
                              "whatever}}, spec: {{packageName: {}, repository: {}, workspaceName: {}, tasks: "
                              "[{}]}}}}",
                              package, repository, workspace, task)));
  return std::string(kube::name(made));
}

std::string PackageTest::init(const std::string& repository, const std::string& package, const std::string& workspace) {
  return draft(repository, package, workspace, "{type: init, init: {description: a test}}");
}

Result<Value> PackageTest::push(const std::string& name, const std::string& path, const std::string& text) {
  const Value now = files(name);
  return put(kResources, now.with_path({"spec", "resources", path}, text));
}

Result<Value> PackageTest::move(const std::string& name, const std::string& lifecycle, const std::string& subresource, As as) {
  return put(kRevisions, revision(name).with_path({"spec", "lifecycle"}, lifecycle), subresource, as);
}

std::string PackageTest::condition(const std::string& name, const std::string& type) {
  const Value object = revision(name);
  const Value& found = kube::condition(object, type);
  if (found.is_null()) return "absent";
  const std::string reason = found["reason"].str();
  return found["status"].str() + (reason.empty() ? "" : " (" + reason + ")");
}

}  // namespace slipway::package_test
