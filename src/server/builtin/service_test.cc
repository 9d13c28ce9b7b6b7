// Services: their numbers, types and what may change.
#include <set>

#include "kube/well_known.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using kube::kServices;

class Services : public ServerTest {
 public:
  static Value service(std::string_view name, std::string_view spec) {
    return yaml(
        fmt::format("{{apiVersion: v1, kind: Service, metadata: {{name: {}, namespace: default}}, spec: {}}}", name, spec));
  }
  Value made(std::string_view name, std::string_view spec) { return must(create(kServices, service(name, spec))); }
  std::string fault(std::string_view spec) {
    const std::string text = message(create(kServices, service("s", spec)));
    const std::string head = "Service \"s\" is invalid: ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  }
};

TEST_F(Services, a_service_is_completed) {
  const Value one = made("a", "{selector: {app: a}, ports: [{port: 80}]}");
  EXPECT_EQ(one["spec"], yaml("{selector: {app: a}, ports: [{port: 80, protocol: TCP, targetPort: 80}], type: ClusterIP, "
                              "sessionAffinity: None, internalTrafficPolicy: Cluster, clusterIP: 10.96.1.0, clusterIPs: "
                              "[10.96.1.0], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}"));
  EXPECT_EQ(one["status"], yaml("{loadBalancer: {}}"));
  EXPECT_EQ(must(update(kServices, one)), one);
}

TEST_F(Services, the_service_of_the_api_server_has_the_first_address) {
  EXPECT_EQ(must(get(kServices, "kubernetes"))["spec"]["clusterIP"].str(), "10.96.0.1");
}

TEST_F(Services, no_two_services_share_an_address_nor_a_port_also_after_a_restart) {
  EXPECT_EQ(made("a", "{type: NodePort, ports: [{port: 80}]}")["spec"]["ports"].item(0)["nodePort"].as_int(), 30086);
  EXPECT_EQ(
      fault("{clusterIP: 10.96.1.0, ports: [{port: 80}]}"),
      "spec.clusterIPs: Invalid value: [\"10.96.1.0\"]: failed to allocate IP 10.96.1.0: provided IP is already allocated");
  EXPECT_EQ(fault("{type: NodePort, ports: [{port: 80, nodePort: 30086}]}"),
            "spec.ports[0].nodePort: Invalid value: 30086: provided port is already allocated");
  reopen();
  EXPECT_EQ(fault("{type: NodePort, ports: [{port: 80, nodePort: 30086}]}"),
            "spec.ports[0].nodePort: Invalid value: 30086: provided port is already allocated");
  EXPECT_NE(made("b", "{ports: [{port: 80}]}")["spec"]["clusterIP"].str(), "10.96.1.0");
  must(remove(kServices, "a"));
  EXPECT_EQ(made("c", "{type: NodePort, clusterIP: 10.96.1.0, ports: [{port: 80, nodePort: 30086}]}")["spec"]["type"].str(),
            "NodePort");
}

TEST_F(Services, numbers_go_back_when_a_write_fails_or_is_a_dry_run) {
  Request dry = writing(Verb::Create, kServices, service("a", "{type: NodePort, ports: [{port: 80, nodePort: 30100}]}"));
  dry.dry_run = true;
  must(object_of(dry));
  vfs_.fail_syncs(1);
  EXPECT_FALSE(create(kServices, service("b", "{type: NodePort, clusterIP: 10.96.0.7, ports: [{port: 80, nodePort: 30100}]}")));
  made("c", "{type: NodePort, clusterIP: 10.96.0.7, ports: [{port: 80, nodePort: 30100}]}");
}

TEST_F(Services, two_services_planned_at_once_get_numbers_of_their_own) {
  std::vector<int> ports;
  const auto make = [](Server& server, Request asked, std::vector<int>& into) -> Task<> {
    const auto reply = co_await server.call(std::move(asked));
    EXPECT_TRUE(reply);
    if (reply) into.push_back(static_cast<int>(reply->object["spec"]["ports"].item(0)["nodePort"].as_int()));
  };
  for (const char* name : {"a", "b"}) {
    env_.spawn(make(*server_, writing(Verb::Create, kServices, service(name, "{type: NodePort, ports: [{port: 80}]}")), ports));
  }
  env_.run_until_idle();
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_NE(ports[0], ports[1]);
}

TEST_F(Services, a_service_with_several_node_ports_gets_different_ones) {
  const Value one = made(
      "a", "{type: NodePort, ports: [{name: one, port: 80}, {name: two, port: 81, nodePort: 30086}, {name: three, port: 82}]}");
  std::set<std::int64_t> numbers;
  for (const Value& port : one["spec"]["ports"].items()) numbers.insert(port["nodePort"].as_int());
  EXPECT_EQ(numbers.size(), 3U);
}

TEST_F(Services, a_service_is_judged) {
  EXPECT_EQ(fault("{}"), "spec.ports: Required value");
  EXPECT_EQ(fault("{ports: [{port: 0}]}"),
            "[spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid "
            "value: 0: must be between 1 and 65535, inclusive]");
  EXPECT_EQ(fault("{ports: [{port: 1, name: a}, {port: 2}]}"), "spec.ports[1].name: Required value");
  EXPECT_EQ(fault("{ports: [{port: 1, name: a}, {port: 2, name: a}]}"), "spec.ports[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(fault("{type: Other, ports: [{port: 1}]}"),
            "spec.type: Unsupported value: \"Other\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", "
            "\"NodePort\"");
  EXPECT_EQ(fault("{type: ExternalName}"), "spec.externalName: Required value");
  EXPECT_EQ(fault("{type: NodePort, clusterIP: None, ports: [{port: 1}]}"),
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services");
  EXPECT_EQ(fault("{ports: [{port: 1, nodePort: 30000}]}"),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'");
  EXPECT_EQ(fault("{type: NodePort, ports: [{port: 1, nodePort: 80}]}"),
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is "
            "30000-32767");
  EXPECT_EQ(fault("{clusterIP: 1.2.3.4, ports: [{port: 1}]}"),
            "spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in "
            "the valid range. The range of valid IPs is 10.96.0.0/16");
}

TEST_F(Services, an_address_is_kept_and_may_not_change) {
  made("a", "{ports: [{port: 80}]}");
  const Value kept = must(update(kServices, service("a", "{ports: [{port: 81}]}")));
  EXPECT_EQ(kept["spec"]["clusterIP"].str(), "10.96.1.0");
  EXPECT_EQ(message(patch(kServices, "a", client::PatchType::Merge, "{spec: {clusterIP: 10.96.0.9, clusterIPs: null}}")),
            "Service \"a\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.0.9\"]: may not change once set");
}

TEST_F(Services, what_belongs_to_a_type_goes_with_it) {
  const Value balanced = made("a", "{type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}");
  EXPECT_NE(balanced["spec"]["healthCheckNodePort"].as_int(), 0);
  EXPECT_EQ(balanced["spec"]["allocateLoadBalancerNodePorts"], Value(true));
  const Value plain = must(patch(kServices, "a", client::PatchType::Merge, "{spec: {type: ClusterIP}}"));
  EXPECT_EQ(plain["spec"], yaml("{ports: [{port: 80, protocol: TCP, targetPort: 80}], type: ClusterIP, sessionAffinity: None, "
                                "internalTrafficPolicy: Cluster, clusterIP: 10.96.1.0, clusterIPs: [10.96.1.0], ipFamilies: "
                                "[IPv4], ipFamilyPolicy: SingleStack}"));
  const Value named =
      must(patch(kServices, "a", client::PatchType::Merge, "{spec: {type: ExternalName, externalName: example.com}}"));
  EXPECT_FALSE(named["spec"].has("clusterIP"));
}

TEST_F(Services, a_headless_service_has_no_address) {
  EXPECT_EQ(made("a", "{clusterIP: None}")["spec"]["clusterIPs"], yaml("[None]"));
}

TEST_F(Services, a_name_begins_with_a_letter) {
  const std::string text = message(create(kServices, service("1a", "{ports: [{port: 80}]}")));
  EXPECT_TRUE(text.starts_with("Service \"1a\" is invalid: metadata.name: Invalid value: \"1a\": a DNS-1035 label")) << text;
}

}  // namespace
}  // namespace slipway::server
