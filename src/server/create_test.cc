#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Create : public ServerTest {};

TEST_F(Create, fills_in_the_metadata_that_is_the_servers) {
  const Value made = must(create(kPods, yaml(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, uid: mine, generation: 7, creationTimestamp: "2000-01-01T00:00:00Z", deletionGracePeriodSeconds: 4, selfLink: /x}
spec: {containers: [{name: c, image: i}]}
)")
                                            .with_path({"metadata", "namespace"}, "default")));
  const Value& meta = made["metadata"];
  EXPECT_EQ(meta["name"].str(), "p");
  EXPECT_EQ(meta["namespace"].str(), "default");
  EXPECT_EQ(meta["creationTimestamp"].str(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(meta["generation"].as_int(), 1);
  EXPECT_EQ(meta["uid"].str().size(), 36u);
  EXPECT_EQ(meta["uid"].str()[14], '4');
  EXPECT_EQ(kube::revision(made), store_->revision());
  EXPECT_FALSE(meta.has("selfLink"));
  EXPECT_FALSE(meta.has("deletionGracePeriodSeconds"));
  EXPECT_EQ(meta["managedFields"].item(0)["manager"].str(), "tester");
  EXPECT_EQ(must(get(kPods, "p")), made);
}

TEST_F(Create, answers_201_and_other_writes_200) {
  auto reply = call(writing(Verb::Create, kConfigMaps, config_map("a")));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, 201);
  reply = call(writing(Verb::Update, kConfigMaps, config_map("a", "2")));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->code, 200);
}

TEST_F(Create, makes_a_name_of_generate_name) {
  Value body = config_map("x").without_path({"metadata", "name"}).with_path({"metadata", "generateName"}, std::string(70, 'a'));
  const Value made = must(create(kConfigMaps, body));
  const std::string name = made["metadata"]["name"].str();
  EXPECT_EQ(name.size(), 63u);
  EXPECT_EQ(name.substr(0, 58), std::string(58, 'a'));
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 58), std::string::npos);
}

TEST_F(Create, refuses_a_taken_name) {
  must(create(kConfigMaps, config_map("a")));
  const auto again = create(kConfigMaps, config_map("a"));
  EXPECT_EQ(reason(again), "AlreadyExists");
  EXPECT_EQ(message(again), "configmaps \"a\" already exists");
}

TEST_F(Create, says_that_the_holder_of_a_taken_name_is_being_deleted) {
  must(create(kConfigMaps, config_map("a").with_path({"metadata", "finalizers"}, json::array({Value("x.io/f")}))));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(message(create(kConfigMaps, config_map("a"))), "object is being deleted: configmaps \"a\" already exists");
}

TEST_F(Create, needs_a_namespace_that_exists) {
  const auto missing = create(kConfigMaps, config_map("a").with_path({"metadata", "namespace"}, "nowhere"));
  EXPECT_EQ(reason(missing), "NotFound");
  EXPECT_EQ(message(missing), "namespaces \"nowhere\" not found");
}

TEST_F(Create, refuses_content_for_a_namespace_that_ends) {
  must(create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: ns}}")));
  must(remove(kNamespaces, "ns", "", ""));
  const auto late = create(kConfigMaps, config_map("a").with_path({"metadata", "namespace"}, "ns"));
  EXPECT_EQ(reason(late), "Forbidden");
  EXPECT_EQ(message(late),
            "configmaps \"a\" is forbidden: unable to create new content in namespace ns because it is being terminated");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().causes,
            (std::vector<Cause>{{"NamespaceTerminating", "namespace ns is being terminated", "metadata.namespace"}}));
}

TEST_F(Create, refuses_what_does_not_fit_its_address) {
  EXPECT_EQ(message(create(kConfigMaps, config_map("a").with_path({"metadata", "resourceVersion"}, "5"))),
            "resourceVersion should not be set on objects to be created");
  Request other = writing(Verb::Create, kConfigMaps, config_map("a"));
  other.ns = "kube-system";
  EXPECT_EQ(message(object_of(other)), "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(message(create(kConfigMaps, config_map("a").with("apiVersion", "v2"))),
            "the API version in the data (v2) does not match the expected API version (v1)");
  EXPECT_EQ(message(create(kConfigMaps, config_map("a").with("kind", "Pod"))),
            "the kind in the data (Pod) does not match the expected kind (ConfigMap)");
  Request unknown = writing(Verb::Create, {"", "v1", "frobs"}, config_map("a"));
  EXPECT_EQ(message(object_of(unknown)), "the server could not find the requested resource");
  Request sub = writing(Verb::Create, kConfigMaps, config_map("a"));
  sub.subresource = "status";
  EXPECT_EQ(message(object_of(sub)), "the server could not find the requested resource");
}

TEST_F(Create, judges_names_by_kind) {
  EXPECT_EQ(message(create(kConfigMaps, config_map("x").with_path({"metadata", "name"}, "A_b"))),
            "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist "
            "of lower "
            "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex "
            "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  EXPECT_EQ(message(create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: A.b}}"))),
            "Namespace \"A.b\" is invalid: metadata.name: Invalid value: \"A.b\": a lowercase RFC 1123 label must consist of "
            "lower case "
            "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
            "'123-abc', regex "
            "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  EXPECT_EQ(message(create(kConfigMaps, config_map("x").without_path({"metadata", "name"}))),
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required");
}

TEST_F(Create, judges_metadata) {
  const auto with = [](const char* key, std::string_view value) {
    return config_map("a").with_path({"metadata", key}, yaml(value));
  };
  EXPECT_EQ(message(create(kConfigMaps, with("finalizers", "[mine]"))),
            "ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer "
            "name nor is "
            "it fully qualified");
  EXPECT_EQ(message(create(kConfigMaps, with("ownerReferences", "[{apiVersion: v1, kind: Pod, name: p, uid: ''}]"))),
            "ConfigMap \"a\" is invalid: metadata.ownerReferences[0].uid: Invalid value: \"\": must not be empty");
  const Value huge = config_map("a").with_path({"metadata", "annotations", "big"}, std::string(300'000, 'x'));
  EXPECT_EQ(message(create(kConfigMaps, huge)),
            "ConfigMap \"a\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes");
  const auto label = create(kConfigMaps, with("labels", "{a: '!'}"));
  EXPECT_EQ(reason(label), "Invalid");
  EXPECT_TRUE(
      message(label).starts_with("ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"!\": a valid label must be"))
      << message(label);
  EXPECT_EQ(must(list(kConfigMaps))["items"].size(), 0u);
}

TEST_F(Create, drops_unknown_fields_and_says_so_when_asked) {
  define_widgets();
  const Value body = widget("w").with_path({"spec", "wheels"}, 4).with_path({"spec", "doors"}, 2);
  Request asked = writing(Verb::Create, kWidgets, body);
  asked.field_validation = "Strict";
  EXPECT_EQ(message(object_of(asked)),
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.doors\", "
            "unknown field "
            "\"spec.wheels\"");
  asked.field_validation = "Warn";
  const auto reply = call(asked);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->warnings, (std::vector<std::string>{"unknown field \"spec.doors\"", "unknown field \"spec.wheels\""}));
  EXPECT_EQ(reply->object["spec"], yaml("{size: 1, color: red}"));
  asked.field_validation = "Loud";
  EXPECT_EQ(
      message(object_of(asked)),
      "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Loud\": supported values: \"Ignore\", "
      "\"Strict\", \"Warn\"");
}

TEST_F(Create, dry_run_does_everything_but_write) {
  const auto before = store_->revision();
  Request asked = writing(Verb::Create, kConfigMaps, config_map("a"));
  asked.dry_run = true;
  const Value made = must(object_of(asked));
  EXPECT_EQ(made["metadata"]["uid"].str().size(), 36u);
  EXPECT_FALSE(made["metadata"].has("resourceVersion"));
  EXPECT_EQ(store_->revision(), before);
  EXPECT_EQ(reason(get(kConfigMaps, "a")), "NotFound");
  asked.body = asked.body.with_path({"metadata", "name"}, "B");
  EXPECT_EQ(reason(object_of(asked)), "Invalid");
}

TEST_F(Create, refuses_bodies_and_objects_beyond_the_limits) {
  must(create(kConfigMaps, config_map("b")));
  Request big = request(Verb::Patch, kConfigMaps, "b");
  big.body = json::object({{"data", json::object({{"k", std::string(4 << 20, 'x')}})}});
  EXPECT_EQ(reason(object_of(big)), "RequestEntityTooLarge");
  EXPECT_EQ(message(object_of(big)), "Request entity too large: limit is 3145728");
  define_widgets();
  Value fat = widget("w");
  for (int i = 0; i < 8; ++i) fat = fat.with_path({"spec", "color"}, std::string(2 << 20, 'x'));
  const auto object = create(kWidgets, fat);
  EXPECT_EQ(message(object), "Request entity too large: limit is 1572864");
  EXPECT_EQ(must(list(kWidgets))["items"].size(), 0u);
}

TEST_F(Create, drops_status_of_kinds_with_a_status_endpoint) {
  define_widgets();
  const Value made = must(create(kWidgets, widget("w").with("status", yaml("{phase: Done}"))));
  EXPECT_FALSE(made.has("status"));
}

TEST_F(Create, a_failing_disk_leaves_nothing_behind) {
  vfs_.set_full(true);
  const auto failed = create(kConfigMaps, config_map("a").with_path({"data", "k"}, std::string(100'000, 'x')));
  EXPECT_EQ(reason(failed), "ServiceUnavailable") << message(failed);
  EXPECT_EQ(reason(get(kConfigMaps, "a")), "NotFound");
  vfs_.set_full(false);
  EXPECT_EQ(must(create(kConfigMaps, config_map("a")))["data"]["k"].str(), "1");
}

TEST_F(Create, tells_nothing_that_a_failing_disk_takes_back) {
  vfs_.set_full(true);
  std::vector<std::string> reasons;
  for (int i = 0; i < 2; ++i) {
    env_.spawn([](Create& test, std::vector<std::string>& into) -> Task<> {
      const Value body = config_map("a").with_path({"data", "k"}, std::string(100'000, 'x'));
      const auto reply = co_await test.server_->call(writing(Verb::Create, kConfigMaps, body));
      into.emplace_back(reply ? "created" : to_string(reply.error().reason));
    }(*this, reasons));
  }
  env_.run_until([&] { return reasons.size() == 2; });
  // The second met the first's object, which was never to be: AlreadyExists would have been a lie.
  EXPECT_EQ(reasons, (std::vector<std::string>{"ServiceUnavailable", "ServiceUnavailable"}));
}

TEST_F(Create, works_again_after_a_restart) {
  must(create(kConfigMaps, config_map("a")));
  define_widgets();
  const Value made = must(create(kWidgets, widget("w")));
  reopen();
  EXPECT_EQ(must(get(kWidgets, "w")), made);
  EXPECT_EQ(reason(create(kConfigMaps, config_map("a"))), "AlreadyExists");
}

}  // namespace
}  // namespace slipway::server
