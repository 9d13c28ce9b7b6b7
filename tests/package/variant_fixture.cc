#include "variant_fixture.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/names.h"

namespace slipway::package_test {

using namespace delivery::package;

pipeline_test::Repository& Packages::add_repository(const std::string& name, Deployment deployment, std::string_view labels) {
  auto made = std::make_unique<pipeline_test::Repository>(folder_ / (name + ".git"));
  made->commit({{"README.md", "packages\n"}}, "first");
  make(fmt::format(R"(
apiVersion: config.porch.kpt.dev/v1alpha1
kind: Repository
metadata: {{name: {}, labels: {}}}
spec: {{type: git, deployment: {}, git: {{repo: '{}', branch: main}}}}
)",
                   name, labels, deployment == Deployment::Yes ? "true" : "false", made->path()));
  return *(repositories_[name] = std::move(made));
}

void Packages::change(const std::string& revision, const std::function<Value(const Value&)>& change,
                      const std::string& subresource) {
  client::Request request;
  request.verb = client::Verb::Update;
  request.resource = kRevisions;
  request.ns = "default";
  request.name = revision;
  request.subresource = subresource;
  request.field_manager = request.user_agent = "tester";
  request.body = change(this->revision(revision));
  // The answer to an approval comes once the remote has taken it.
  const auto reply = env_->run(client(kHub).call(std::move(request)));
  EXPECT_TRUE(reply) << revision << ": " << reply.error().message;
}

std::string Packages::draft(const std::string& repository, const std::string& package, const std::string& workspace,
                            const Files& files) {
  std::string newest;
  for (const Value& one : list(kHub, kRevisions, "default")) {
    const Value& spec = one["spec"];
    const bool is_of_it = spec["repository"].as_string() == repository && spec["packageName"].as_string() == package;
    if (is_of_it && one["status"]["latest"].as_bool()) newest = std::string(kube::name(one));
  }
  const std::string task = newest.empty() ? "{type: init, init: {description: a test}}"
                                          : fmt::format("{{type: edit, edit: {{sourceRef: {{name: {}}}}}}}", newest);
  const std::string yaml = fmt::format(R"(
apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata: {{namespace: default}}
spec: {{packageName: {}, repository: {}, workspaceName: {}, tasks: [{}]}}
)",
                                       package, repository, workspace, task);
  const auto made = env_->run(client::create(client(kHub), kRevisions, json::parse_yaml(yaml).value(), "tester"));
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return "";
  const std::string name(kube::name(*made));
  edit(name, [&](Files& there) {
    for (const auto& [path, text] : files) there[path] = text;
  });
  return name;
}

std::int64_t Packages::publish(const std::string& repository, const std::string& package, const std::string& workspace,
                               const Files& files) {
  const std::string name = draft(repository, package, workspace, files);
  propose(name);
  approve(name);
  return revision(name)["spec"]["revision"].as_int();
}

void Packages::propose(const std::string& revision) {
  change(revision, [](const Value& one) { return one.with_path({"spec", "lifecycle"}, "Proposed"); });
}

void Packages::approve(const std::string& revision) {
  change(revision, [](const Value& one) { return one.with_path({"spec", "lifecycle"}, "Published"); }, "approval");
}

std::string Packages::lifecycle(const std::string& name) { return revision(name)["spec"]["lifecycle"].str(); }

std::string Packages::condition_in(const Value& object, const std::string& type) {
  for (const Value& one : object["status"]["conditions"].items()) {
    if (one["type"].as_string() == type) return fmt::format("{} {}", one["status"].as_string(), one["reason"].as_string());
  }
  return "";
}

std::string Packages::condition(const std::string& name, const std::string& type) { return condition_in(revision(name), type); }

Files Packages::files(const std::string& revision) {
  Files out;
  const Value object = get(kHub, kResources, revision);
  for (const auto& [path, text] : object["spec"]["resources"].members()) out.emplace(path, text.str());
  return out;
}

void Packages::edit(const std::string& revision, const std::function<void(Files&)>& change) {
  Files there = files(revision);
  const Files before = there;
  change(there);
  if (there == before) return;
  Value resources = Value::empty_object();
  for (const auto& [path, text] : there) resources = resources.with(path, text);
  const Value object = get(kHub, kResources, revision).with_path({"spec", "resources"}, resources);
  const auto written = env_->run(client::update(client(kHub), kResources, object, "tester"));
  EXPECT_TRUE(written) << revision << ": " << written.error().message;
}

void Packages::say(const std::string& revision, const std::string& type, const std::string& status, const std::string& actor) {
  const std::string yaml = fmt::format(R"(
apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevision
metadata: {{name: {}, namespace: default}}
status: {{conditions: [{{type: {}, status: '{}', reason: Said}}]}}
)",
                                       revision, type, status);
  const auto said = env_->run(client::apply(client(kHub), kRevisions, json::parse_yaml(yaml).value(), actor));
  EXPECT_TRUE(said) << revision << ": " << said.error().message;
}

std::vector<std::string> Packages::revisions(const std::string& lifecycle) {
  std::vector<std::string> names;
  for (const Value& one : list(kHub, kRevisions, "default")) {
    if (lifecycle.empty() || one["spec"]["lifecycle"].as_string() == lifecycle) names.emplace_back(kube::name(one));
  }
  return names;
}

}  // namespace slipway::package_test
