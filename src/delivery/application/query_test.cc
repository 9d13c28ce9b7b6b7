#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/query_providers.h"
#include "delivery/application/query_tree.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

struct EndpointRow {
  const char* object;
  const char* endpoints;  // "protocol host:port path", an inner one in brackets
};

std::string picture(const Value& endpoint) {
  const std::string text = fmt::format("{} {}:{}{}", endpoint["appProtocol"].as_string(), endpoint["host"].as_string(),
                                       endpoint["port"].as_int(), endpoint["path"].as_string());
  return endpoint["inner"].as_bool() ? "(" + text + ")" : text;
}

TEST(Query, endpoints_are_where_services_and_ingresses_are_reached) {
  const EndpointRow rows[] = {
      {"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {type: ClusterIP, ports: [{port: 8080}]}}",
       "(http a.shop:8080)"},
      {"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {ports: [{port: 5}, {port: 443}]}}",
       "( a.shop:5), (https a.shop:443)"},
      {"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}",
       "http 10.0.0.1:30080"},
      {"{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 3306}]}, "
       "status: {loadBalancer: {ingress: [{hostname: db.example}, {ip: 1.2.3.4}]}}}",
       "mysql db.example:3306, mysql 1.2.3.4:3306"},
      {"{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 80}]}}", ""},
      {"{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {rules: [{host: h, http: {paths: [{path: /a}, {path: /b}]}}]}}",
       "http h:80/a, http h:80/b"},
      {"{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {tls: [{hosts: [h]}], "
       "rules: [{host: h, http: {paths: [{path: /}]}}, {host: i, http: {paths: [{path: /}]}}]}}",
       "https h:443/, http i:80/"},
      {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}", ""},
  };
  for (const EndpointRow& row : rows) {
    std::vector<std::string> seen;
    for (const Value& one : endpoints_of(yaml(row.object), "10.0.0.1")) seen.push_back(picture(one));
    EXPECT_EQ(fmt::format("{}", fmt::join(seen, ", ")), row.endpoints) << row.object;
  }
}

struct HealthRow {
  const char* object;
  const char* health;  // "statusCode reason message"
};

TEST(Query, health_of_a_node_is_that_of_its_kind) {
  const HealthRow rows[] = {
      {"{apiVersion: v1, kind: Pod, status: {phase: Succeeded}}", "Healthy||"},
      {"{apiVersion: v1, kind: Pod, status: {phase: Pending, message: no room}}", "Progressing||no room"},
      {"{apiVersion: v1, kind: Pod, status: {phase: Failed, containerStatuses: [{name: c, state: {terminated: {exitCode: "
       "3}}}]}}",
       "UnHealthy||container \"c\" failed with exit code 3"},
      {"{apiVersion: v1, kind: Pod, spec: {restartPolicy: Always}, "
       "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}",
       "Healthy|all containers are ready|"},
      {"{apiVersion: v1, kind: Pod, spec: {restartPolicy: Always}, "
       "status: {phase: Running, containerStatuses: [{lastState: {terminated: {exitCode: 1}}}]}}",
       "UnHealthy||"},
      {"{apiVersion: v1, kind: Pod, spec: {restartPolicy: Never}, status: {phase: Running}}", "Progressing||"},
      {"{apiVersion: v1, kind: Pod, status: {}}", "Unknown||"},
      {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {generation: 2}, status: {observedGeneration: 1}}",
       "Progressing||the newest generation has not been looked at yet"},
      {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {generation: 1}, spec: {replicas: 2}, "
       "status: {observedGeneration: 1, availableReplicas: 1}}",
       "Progressing||1 of 2 replicas are available"},
      {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {generation: 1}, spec: {replicas: 2}, "
       "status: {observedGeneration: 1, availableReplicas: 2}}",
       "Healthy||"},
      {"{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Lost}}", "UnHealthy||"},
      {"{apiVersion: v1, kind: Service, spec: {type: LoadBalancer}}", "Progressing||"},
      {"{apiVersion: v1, kind: ConfigMap}", "Healthy||"},
  };
  for (const HealthRow& row : rows) {
    const Value health = health_status(yaml(row.object));
    EXPECT_EQ(
        fmt::format("{}|{}|{}", health["statusCode"].as_string(), health["reason"].as_string(), health["message"].as_string()),
        row.health)
        << row.object;
  }
}

}  // namespace
}  // namespace slipway::delivery::application
