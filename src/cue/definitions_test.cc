// The definitions of this repository as files: that each says what it is, and what their status texts make of objects.
#include <gtest/gtest.h>

#include "cue/definitions_test.h"
#include "cue/schema.h"

namespace slipway::cue {
namespace {

constexpr const char* kNames[] = {"component/cron-task",   "component/daemon",
                                  "component/raw",         "component/ref-objects",
                                  "component/statefulset", "component/task",
                                  "component/webservice",  "component/worker",
                                  "trait/affinity",        "trait/annotations",
                                  "trait/command",         "trait/configmap",
                                  "trait/container-image", "trait/container-ports",
                                  "trait/cpuscaler",       "trait/env",
                                  "trait/expose",          "trait/gateway",
                                  "trait/hostalias",       "trait/hpa",
                                  "trait/ingress",         "trait/ingress-1-20",
                                  "trait/init-container",  "trait/json-merge-patch",
                                  "trait/json-patch",      "trait/k8s-update-strategy",
                                  "trait/labels",          "trait/lifecycle",
                                  "trait/nocalhost",       "trait/podsecuritycontext",
                                  "trait/pure-ingress",    "trait/resource",
                                  "trait/scaler",          "trait/securitycontext",
                                  "trait/service-account", "trait/service-binding",
                                  "trait/sidecar",         "trait/startup-probe",
                                  "trait/storage",         "trait/topologyspreadconstraints"};

Cursor header_of(const std::string& name) {
  auto program = compile({{name, without_section(testing::file_text("definitions/" + name + ".cue"), "template")}});
  EXPECT_TRUE(program.has_value()) << name << (program ? "" : ": " + describe(program.error()));
  return program ? evaluate(*program).field(name.substr(name.find('/') + 1)) : Cursor();
}

/// `key` of a status text, for a context given as JSON.
Cursor judged(const std::string& name, const char* text, const char* context) {
  std::string source = header_of(name).lookup(std::string("attributes.status.") + text).as_string();
  auto program = compile({{name + "." + text, source}}, {}, {.open_names = {"context", "parameter"}});
  EXPECT_TRUE(program.has_value()) << name << " " << text << (program ? "" : ": " + describe(program.error()));
  return program ? evaluate(*program, {{"context", *json::parse(context)}}) : Cursor();
}

bool is_healthy(const std::string& name, const char* context) {
  Cursor verdict = judged(name, "healthPolicy", context).field("isHealth");
  EXPECT_EQ(verdict.kind(), Kind::Bool) << name << " " << context;
  return verdict.as_bool();
}

std::string message_of(const std::string& name, const char* context) {
  return judged(name, "customStatus", context).field("message").as_string("no message");
}

TEST(Definitions, say_what_they_are) {
  for (std::string name : kNames) {
    Cursor header = header_of(name);
    EXPECT_EQ(header.field("type").as_string(), name.substr(0, name.find('/'))) << name;
    EXPECT_FALSE(header.field("description").as_string().empty()) << name;
    EXPECT_TRUE(header.validate(Demand::Concrete).empty()) << name << describe(header.validate(Demand::Concrete));
  }
}

TEST(Definitions, compile_and_tell_the_schema_of_their_parameters) {
  testing::Definitions definitions;
  for (std::string name : kNames) {
    const Program* program = definitions.find(name);
    ASSERT_NE(program, nullptr) << name;
    json::Value schema = openapi_schema(evaluate(*program).field("parameter"));
    EXPECT_TRUE(schema.has("oneOf") || schema["type"].as_string() == "object") << name << json::print(schema);
  }
}

TEST(Definitions, schema_of_webservice_has_the_usages_of_its_parameters) {
  testing::Definitions definitions;
  json::Value schema = openapi_schema(evaluate(*definitions.find("component/webservice")).field("parameter"));
  EXPECT_EQ(json::print(schema["required"]), R"(["image","exposeType","addRevisionLabel"])");
  EXPECT_EQ(schema["properties"]["image"]["description"].str(), "Image of the container");
  const json::Value& port = schema["properties"]["ports"]["items"];
  EXPECT_EQ(json::print(port["properties"]["protocol"]),
            R"({"type":"string","enum":["TCP","UDP","SCTP"],"default":"TCP","description":"TCP, UDP or SCTP"})");
  EXPECT_EQ(json::print(schema["properties"]["labels"]["additionalProperties"]), R"({"type":"string"})");
}

TEST(Definitions, rolled_out_workloads_are_healthy) {
  const char* ready = R"({"output":{"metadata":{"generation":2},"spec":{"replicas":1},)"
                      R"("status":{"updatedReplicas":1,"readyReplicas":1,"replicas":1,"observedGeneration":2}}})";
  const char* old = R"({"output":{"metadata":{"generation":3},"spec":{"replicas":1},)"
                    R"("status":{"updatedReplicas":1,"readyReplicas":1,"replicas":1,"observedGeneration":2}}})";
  const char* fresh = R"({"output":{"metadata":{"generation":1},"spec":{"replicas":1},"status":{}}})";
  for (const char* name : {"component/webservice", "component/worker", "component/statefulset"}) {
    EXPECT_TRUE(is_healthy(name, ready)) << name;
    EXPECT_FALSE(is_healthy(name, old)) << name;
    EXPECT_FALSE(is_healthy(name, fresh)) << name;
    EXPECT_EQ(message_of(name, ready), "Ready:1/1");
    EXPECT_EQ(message_of(name, fresh), "Ready:0/1");
  }
  EXPECT_TRUE(is_healthy("component/webservice",
                         R"({"output":{"metadata":{"generation":1,"annotations":{"app.oam.dev/disable-health-check":"true"}},)"
                         R"("spec":{"replicas":1},"status":{}}})"));
  EXPECT_TRUE(is_healthy("component/ref-objects", R"({"output":{"apiVersion":"v1","kind":"ConfigMap"}})"));
  EXPECT_FALSE(is_healthy("component/ref-objects",
                          R"({"output":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},)"
                          R"("spec":{"replicas":1},"status":{}}})"));
}

TEST(Definitions, ingresses_of_old_say_where_they_are) {
  const char* pending = R"({"appName":"a","outputs":{"ingress":{"spec":{"rules":[{"host":"h"}]},"status":{}},)"
                        R"("service":{"spec":{"clusterIP":"10.0.0.1"}}}})";
  const char* reached = R"({"appName":"a","outputs":{"ingress":{"spec":{"rules":[{"host":"h"}]},)"
                        R"("status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}}})";
  for (const char* name : {"trait/ingress", "trait/ingress-1-20"}) {
    EXPECT_EQ(message_of(name, pending), "No loadBalancer found, visiting by using 'vela port-forward a'\n") << name;
    EXPECT_EQ(message_of(name, reached), "Visiting URL: h, IP: 1.2.3.4") << name;
    EXPECT_TRUE(is_healthy(name, pending)) << name;
  }
}

TEST(Definitions, a_chart_is_healthy_once_its_criteria_are_met) {
  const std::string health = header_of("component/helmchart").lookup("attributes.status.healthPolicy").as_string();
  auto program = compile({{"health", health}}, {}, {.open_names = {"context", "parameter"}});
  ASSERT_TRUE(program.has_value()) << describe(program.error());
  const auto is_met = [&](const char* parameter) {
    const char* context = R"({"output":{"kind":"Service","metadata":{"name":"s"}},"outputs":{"helm-resource-1":)"
                          R"({"kind":"Deployment","metadata":{"name":"d"},"status":{"conditions":[)"
                          R"({"type":"Available","status":"True"}]}}}})";
    return evaluate(*program, {{"context", *json::parse(context)}, {"parameter", *json::parse(parameter)}})
        .field("isHealth")
        .as_bool();
  };
  EXPECT_TRUE(is_met("{}"));
  EXPECT_TRUE(is_met(R"({"healthStatus":[{"resource":{"kind":"Deployment"},"condition":{"type":"Available"}}]})"));
  EXPECT_FALSE(is_met(R"({"healthStatus":[{"resource":{"kind":"Deployment","name":"x"},"condition":{"type":"Available"}}]})"));
  EXPECT_FALSE(is_met(R"({"healthStatus":[{"resource":{"kind":"Service"},"condition":{"type":"Available"}}]})"));
}

TEST(Definitions, daemons_and_tasks_count_what_they_have) {
  const char* daemon = R"({"output":{"metadata":{"generation":1},"status":{"numberReady":2,"desiredNumberScheduled":2,)"
                       R"("currentNumberScheduled":2,"updatedNumberScheduled":2,"observedGeneration":1}}})";
  EXPECT_TRUE(is_healthy("component/daemon", daemon));
  EXPECT_EQ(message_of("component/daemon", daemon), "Ready:2/2");
  const char* task = R"({"output":{"spec":{"parallelism":1},"status":{"succeeded":1}}})";
  EXPECT_TRUE(is_healthy("component/task", task));
  EXPECT_EQ(message_of("component/task", task), "Active/Failed/Succeeded:0/0/1");
  EXPECT_FALSE(is_healthy("component/task", R"({"output":{"spec":{"parallelism":1},"status":{"failed":1}}})"));
}

TEST(Definitions, services_and_ingresses_say_where_they_are) {
  const char* pending = R"({"outputs":{"service":{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{}}}}})";
  const char* reached =
      R"({"outputs":{"service":{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}}})";
  const char* inside = R"({"outputs":{"service":{"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1"}}}})";
  EXPECT_EQ(message_of("trait/expose", pending), "ExternalIP: Pending");
  EXPECT_EQ(message_of("trait/expose", reached), "ExternalIP: 1.2.3.4");
  EXPECT_EQ(message_of("trait/expose", inside), "ClusterIP: 10.0.0.1");
  EXPECT_FALSE(is_healthy("trait/expose", pending));
  EXPECT_TRUE(is_healthy("trait/expose", reached));
  EXPECT_TRUE(is_healthy("trait/expose", inside));
  const char* ingress =
      R"({"appName":"a","parameter":{},"outputs":{"ingress":{"metadata":{"name":"i"},"spec":{"rules":[{"host":"h"}]},)"
      R"("status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}}})";
  EXPECT_EQ(message_of("trait/gateway", ingress), "Visiting URL: h, IP: 1.2.3.4");
  EXPECT_TRUE(is_healthy("trait/gateway", ingress));
}

}  // namespace
}  // namespace slipway::cue
