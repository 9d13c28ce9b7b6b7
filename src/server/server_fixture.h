// A server over a real store in memory, under virtual time: what the tests of this room stand on.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/manual_env.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "server/server.h"
#include "store/memory_vfs.h"
#include "store/store.h"

namespace slipway::server {

using client::Reply;
using client::Request;
using client::Verb;
using json::Value;

using kube::kConfigMaps;
using kube::kJobs;
using kube::kNamespaces;
using kube::kPods;
using kube::kSecrets;
inline const kube::Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
inline const kube::Resource kWidgets{"example.com", "v1", "widgets"};

/// YAML or JSON text to a value; a test with a typo fails loudly.
inline Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  if (!value) ADD_FAILURE() << value.error().message << "\n" << text;
  return value ? *value : Value();
}

inline Value config_map(std::string_view name, std::string_view value = "1") {
  return yaml(fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}, namespace: default}}, data: {{k: '{}'}}}}",
                          name, value));
}

class ServerTest : public testing::Test {
 public:
  void SetUp() override { open({}); }
  void TearDown() override { env_.drop_all(); }

  void open(Options options) {
    store::Options at;
    at.path = "/data/store.db";
    auto opened = store::Store::open(env_, at);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    server_ = std::make_unique<Server>(env_, *store_, std::move(options));
    auto started = env_.run(server_->start());
    ASSERT_TRUE(started) << started.error().message;
  }
  /// The process ends and begins again over the same file.
  void reopen(Options options = {}) {
    env_.run(store_->close());
    env_.drop_all();
    server_.reset();
    store_.reset();
    open(std::move(options));
  }

  Result<Reply> call(Request request) { return env_.run(server_->call(std::move(request))); }

  static Request request(Verb verb, const kube::Resource& resource, std::string name, std::string ns = "default") {
    Request made;
    made.verb = verb;
    made.resource = resource;
    made.name = std::move(name);
    made.ns = std::move(ns);
    made.user_agent = "tester/1.0";
    return made;
  }
  static Request writing(Verb verb, const kube::Resource& resource, Value body) {
    Request made = request(verb, resource, verb == Verb::Create ? "" : body["metadata"]["name"].str(),
                           body["metadata"]["namespace"].str());
    made.body = std::move(body);
    return made;
  }

  Result<Value> object_of(Request made) {
    auto reply = call(std::move(made));
    if (!reply) return fail(std::move(reply).error());
    return std::move(reply->object);
  }
  Result<Value> create(const kube::Resource& resource, Value body) {
    return object_of(writing(Verb::Create, resource, std::move(body)));
  }
  Result<Value> update(const kube::Resource& resource, Value body) {
    return object_of(writing(Verb::Update, resource, std::move(body)));
  }
  Result<Value> update_status(const kube::Resource& resource, Value body) {
    Request made = writing(Verb::Update, resource, std::move(body));
    made.subresource = "status";
    return object_of(std::move(made));
  }
  Result<Value> get(const kube::Resource& resource, std::string name, std::string ns = "default") {
    return object_of(request(Verb::Get, resource, std::move(name), std::move(ns)));
  }
  Result<Value> list(const kube::Resource& resource, std::string ns = "default") {
    return object_of(request(Verb::List, resource, "", std::move(ns)));
  }
  Result<Value> remove(const kube::Resource& resource, std::string name, std::string_view options = "",
                       std::string ns = "default") {
    Request made = request(Verb::Delete, resource, std::move(name), std::move(ns));
    if (!options.empty()) made.body = yaml(options);
    return object_of(std::move(made));
  }
  Result<Value> patch(const kube::Resource& resource, std::string name, client::PatchType type, std::string_view body,
                      std::string manager = "", std::string ns = "default") {
    Request made = request(Verb::Patch, resource, std::move(name), std::move(ns));
    made.patch_type = type;
    made.body = yaml(body);
    made.field_manager = std::move(manager);
    return object_of(std::move(made));
  }
  /// The object, or a failure of the test.
  static Value must(Result<Value> result) {
    if (!result) ADD_FAILURE() << result.error().message;
    return result ? *result : Value();
  }
  static std::string message(const Result<Value>& result) {
    return result ? "succeeded: " + json::print(*result) : result.error().message;
  }
  static std::string reason(const Result<Value>& result) {
    return result ? "succeeded" : std::string(to_string(result.error().reason));
  }

  /// Defines widgets.example.com: spec.size (integer), spec.color (string, default "red"), a status subresource.
  Value define_widgets() { return must(create(kCrds, widgets_definition())); }
  static Value widgets_definition() {
    return yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    selectableFields:
    - jsonPath: .spec.color
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 0}
              color: {type: string, default: red}
          status:
            type: object
            properties:
              phase: {type: string}
)");
  }
  static Value widget(std::string_view name, int size = 1) {
    return yaml(fmt::format(
        "{{apiVersion: example.com/v1, kind: Widget, metadata: {{name: '{}', namespace: default}}, spec: {{size: {}}}}}", name,
        size));
  }

  store::MemoryVfs vfs_;
  ManualEnv env_{ManualEnv::Options{.vfs = vfs_.vfs()}};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Server> server_;
};

}  // namespace slipway::server
