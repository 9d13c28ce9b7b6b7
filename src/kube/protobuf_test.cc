#include "kube/protobuf.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "json/text.h"
#include "kube/protobuf_table.h"
#include "kube/protobuf_wire.h"

namespace slipway::kube {
namespace {

std::string bytes_field(std::uint32_t number, std::string_view bytes) {
  std::string out;
  write_bytes_field(out, number, bytes);
  return out;
}

std::string number_field(std::uint32_t number, std::uint64_t value) {
  std::string out;
  write_varint_field(out, number, value);
  return out;
}

std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  const std::string type = bytes_field(1, api_version) + bytes_field(2, kind);
  return std::string("k8s\0", 4) + bytes_field(1, type) + bytes_field(2, raw);
}

const GroupVersionKind kDeployment{"apps", "v1", "Deployment"};

/// An object, to the wire and back.
json::Value there_and_back(std::string_view text) {
  const json::Value object = parsed(text);
  const auto bytes = encode_protobuf(object);
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message);
  if (!bytes) return {};
  const auto again = decode_protobuf(*bytes);
  EXPECT_TRUE(again.has_value()) << (again ? "" : again.error().message);
  return again.value_or(json::Value());
}

TEST(Protobuf, reads_what_kubectl_sends_when_it_creates_a_namespace) {
  // ObjectMeta as Go writes it: strings that are empty, an absent time, then name; spec and status without fields.
  const std::string meta = bytes_field(1, "demo") + bytes_field(2, "") + bytes_field(3, "") + bytes_field(4, "") +
                           bytes_field(5, "") + bytes_field(6, "") + number_field(7, 0) + bytes_field(8, "");
  const std::string raw = bytes_field(1, meta) + bytes_field(2, "") + bytes_field(3, bytes_field(1, ""));
  const auto object = decode_protobuf(envelope("v1", "Namespace", raw));
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_EQ(*object, parsed(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"demo"},"spec":{},"status":{}})"));
}

TEST(Protobuf, keeps_a_zero_that_go_points_to_and_drops_one_it_would_not_write) {
  // spec.replicas is a pointer, spec.minReadySeconds and spec.paused are not.
  const std::string spec = number_field(1, 0) + number_field(5, 0) + number_field(7, 0);
  const auto object = decode_protobuf_as(bytes_field(2, spec), kDeployment);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ((*object)["spec"], parsed(R"({"replicas":0})"));
}

TEST(Protobuf, an_object_comes_back_as_it_went) {
  for (
      const std::string_view text : {
          R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"1","b":""}},
               "spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"250m"}},
               "livenessProbe":{"httpGet":{"path":"/","port":"web"},"periodSeconds":3},
               "readinessProbe":{"tcpSocket":{"port":80}}}],
               "volumes":[{"name":"v","emptyDir":{}},{"name":"s","secret":{"secretName":"x","defaultMode":420}}]}})",
          R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0,"propagationPolicy":"Background",
               "preconditions":{"uid":"u"},"dryRun":["All"]})",
          R"({"kind":"CreateOptions","apiVersion":"v1","fieldManager":"m","dryRun":["All"]})",
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,
               "details":{"name":"x","kind":"pods","causes":[{"reason":"r","message":"m","field":"f"}]}})",
          R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},"spec":{"replicas":3}})",
          R"({"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}})",
          R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{"audiences":["a"],"expirationSeconds":600}})",
          R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1",
               "spec":{"user":"u","groups":["g"],"extra":{"e":["1","2"]},"resourceAttributes":{"verb":"get","resource":"pods"}},
               "status":{"allowed":false}})",
          R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]})",
          R"({"kind":"List","apiVersion":"v1","items":[{"kind":"Own","apiVersion":"a.b/v1","x":[1,2.5,null]}]})",
          R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}})",
          R"({"kind":"Secret","apiVersion":"v1","data":{"k":"AAEC","empty":""},"type":"Opaque"})",
          R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",
               "spec":{"renewTime":"2026-01-02T03:04:05.000006Z","leaseTransitions":0}})",
          R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{"group":"a.b","scope":"Namespaced",
               "versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","nullable":true,
               "properties":{"a":{"type":"array","default":[1],"items":{"type":"string","enum":["x",null]}},
               "b":{"additionalProperties":true,"x-kubernetes-preserve-unknown-fields":true},
               "c":{"additionalProperties":{"x-kubernetes-int-or-string":true}}}}}}]}})",
      }) {
    SCOPED_TRACE(text);
    const json::Value again = there_and_back(text);
    const json::Value object = parsed(text);
    for (const auto [key, value] : object.members()) EXPECT_TRUE(again.has(key)) << key;
    EXPECT_EQ(there_and_back(json::print(again)), again);
    // In CRDs Go writes some members that a client may leave out.
    if (object["kind"].as_string() != "CustomResourceDefinition") EXPECT_EQ(again, object);
  }
}

TEST(Protobuf, a_message_in_two_pieces_is_their_merge) {
  const std::string raw = bytes_field(1, bytes_field(1, "a")) + number_field(9, 1) + bytes_field(1, bytes_field(3, "ns"));
  const auto object = decode_protobuf_as(raw, {"", "v1", "ConfigMap"});
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ((*object)["metadata"], parsed(R"({"name":"a","namespace":"ns"})"));
}

TEST(Protobuf, skips_fields_it_does_not_know) {
  const auto object = decode_protobuf_as(bytes_field(900, "x") + number_field(901, 1), {"", "v1", "Pod"});
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->size(), 2U);
}

TEST(Protobuf, tells_what_is_wrong_with_a_body) {
  const auto message = [](std::string_view body) {
    const auto result = decode_protobuf(body);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(result.error().reason, Reason::BadRequest);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message("{}"), "protobuf: the body does not begin with the bytes of Kubernetes' envelope");
  EXPECT_EQ(message(envelope("", "", "")), "Object 'Kind' is missing in the protobuf body");
  EXPECT_EQ(message(envelope("a.b/v1", "Own", "")), "no kind \"Own\" is registered for version \"a.b/v1\" in protobuf");
  for (const std::string_view kind : {"Duration", "Time", "FieldsV1"}) {
    message(envelope("meta.k8s.io/v1", kind, number_field(1, 1)));
  }
  EXPECT_EQ(message(envelope("v1", "Pod", "\x0a\x7f")), "protobuf: malformed bytes in core.v1.Pod");
  EXPECT_EQ(message(envelope("v1", "Pod", bytes_field(1, bytes_field(1, "\xff")))), "protobuf: a string is not valid UTF-8");
  EXPECT_EQ(message(envelope("v1", "Pod", number_field(1, 1))), "protobuf: field 1 has the wrong wire type");
  EXPECT_EQ(message(std::string("k8s\0\x12\x40", 6)), "protobuf: the envelope is malformed");
}

TEST(Protobuf, refuses_what_is_too_large_or_too_deep) {
  const auto large = decode_protobuf(std::string(kMaxProtobufBytes + 1, 'k'));
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().reason, Reason::RequestEntityTooLarge);
  std::string schema;  // JSONSchemaProps.not is field 26
  for (int i = 0; i < 300; ++i) schema = bytes_field(26, schema);
  const std::string version = bytes_field(4, bytes_field(1, schema));
  const auto deep =
      decode_protobuf_as(bytes_field(2, bytes_field(7, version)), {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().message, "protobuf: nested deeper than 200 messages");
}

TEST(Protobuf, says_which_kinds_have_no_wire_form) {
  EXPECT_FALSE(has_protobuf({"batch.slipway.dev", "v1alpha1", "Workflow"}));
  EXPECT_FALSE(has_protobuf({"apps.example.com", "v1", "Deployment"}));
  EXPECT_FALSE(has_protobuf({"meta.k8s.io", "v1", "Duration"}));
  EXPECT_FALSE(has_protobuf({"", "v1", "ObjectReference"}));
  EXPECT_TRUE(has_protobuf(kDeployment));
  const auto bytes = encode_protobuf(parsed(R"({"kind":"Own","apiVersion":"a.b/v1"})"));
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().reason, Reason::NotAcceptable);
  const auto wrong = encode_protobuf(parsed(R"({"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":"3"}})"));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "protobuf: replicas: a whole number was expected");
}

TEST(Protobuf, an_event_is_one_frame_with_its_length) {
  const auto frame = encode_protobuf_event("ADDED", parsed(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(static_cast<std::size_t>(static_cast<unsigned char>((*frame)[3])) + 4, frame->size());
  const auto event = decode_protobuf(frame->substr(4), {"", "v1", "WatchEvent"});
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(*event, parsed(R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}})"));
}

void collect_names(const ProtoMessage& message, std::set<std::string_view>& names) {
  for (const ProtoField& field : message.fields) {
    if (field.is_embedded) {
      collect_names(*field.message, names);
    } else {
      EXPECT_TRUE(names.insert(field.name).second) << message.name << "." << field.name;
    }
  }
}

TEST(ProtobufTable, embedded_fields_do_not_clash) {
  EXPECT_GT(protobuf_messages().size(), 1000U);
  for (const ProtoMessage& message : protobuf_messages()) {
    std::set<std::string_view> names;
    collect_names(message, names);
  }
}

}  // namespace
}  // namespace slipway::kube
