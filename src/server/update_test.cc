#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Update : public ServerTest {};

TEST_F(Update, replaces_the_object_and_keeps_what_is_the_servers) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  env_.advance(std::chrono::seconds{5});
  const Value next = must(update(kConfigMaps, config_map("a", "2")));
  EXPECT_EQ(next["data"], yaml("{k: '2'}"));
  EXPECT_EQ(next["metadata"]["uid"], made["metadata"]["uid"]);
  EXPECT_EQ(next["metadata"]["creationTimestamp"], made["metadata"]["creationTimestamp"]);
  EXPECT_EQ(kube::revision(next), kube::revision(made) + 1);
  EXPECT_EQ(must(get(kConfigMaps, "a")), next);
}

TEST_F(Update, with_an_old_revision_conflicts) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  must(update(kConfigMaps, made.with_path({"data", "k"}, "2")));
  const auto late = update(kConfigMaps, made.with_path({"data", "k"}, "3"));
  EXPECT_EQ(reason(late), "Conflict");
  EXPECT_EQ(message(late),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the "
            "latest "
            "version and try again");
  EXPECT_EQ(must(get(kConfigMaps, "a"))["data"]["k"].str(), "2");
}

TEST_F(Update, of_another_object_of_that_name_conflicts) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  const auto other = update(kConfigMaps, config_map("a", "2").with_path({"metadata", "uid"}, "123"));
  EXPECT_EQ(reason(other), "Conflict");
  EXPECT_EQ(message(other),
            fmt::format("Operation cannot be fulfilled on configmaps \"a\": Precondition failed: UID in precondition: 123, "
                        "UID in object meta: {}",
                        kube::uid(made)));
}

TEST_F(Update, of_a_custom_resource_needs_a_revision) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  EXPECT_EQ(message(update(kWidgets, widget("w", 2))),
            "Widget.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update");
}

TEST_F(Update, may_leave_out_what_the_address_says) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  Request asked = request(Verb::Update, kConfigMaps, "a");
  asked.body = yaml("{apiVersion: v1, kind: ConfigMap, data: {k: '2'}}");
  const Value next = must(object_of(asked));
  EXPECT_EQ(next["metadata"]["name"].str(), "a");
  EXPECT_EQ(next["metadata"]["namespace"].str(), "default");
  EXPECT_EQ(kube::uid(next), kube::uid(made));
}

TEST_F(Update, of_status_is_pruned_and_checked_too) {
  define_widgets();
  const Value made = must(create(kWidgets, widget("w")));
  const Value next = must(update_status(kWidgets, made.with("status", yaml("{phase: Done, wheels: 4}"))));
  EXPECT_EQ(next["status"], yaml("{phase: Done}"));
  const auto bad = update_status(kWidgets, next.with("status", yaml("{phase: 7}")));
  EXPECT_EQ(message(bad),
            "Widget.example.com \"w\" is invalid: status.phase: Invalid value: \"integer\": status.phase in body must be of "
            "type string: "
            "\"integer\"");
}

TEST_F(Update, of_nothing_is_not_found) {
  EXPECT_EQ(message(update(kConfigMaps, config_map("a"))), "configmaps \"a\" not found");
}

TEST_F(Update, that_changes_nothing_writes_nothing) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  const auto before = store_->revision();
  env_.advance(std::chrono::minutes{5});
  EXPECT_EQ(must(update(kConfigMaps, config_map("a"))), made);
  EXPECT_EQ(must(update(kConfigMaps, made)), made);
  EXPECT_EQ(store_->revision(), before);
}

TEST_F(Update, moves_the_generation_only_with_the_spec) {
  define_widgets();
  Value made = must(create(kWidgets, widget("w")));
  made = must(update(kWidgets, made.with_path({"metadata", "labels", "a"}, "b")));
  EXPECT_EQ(kube::generation(made), 1);
  made = must(update_status(kWidgets, made.with_path({"status", "phase"}, "Done")));
  EXPECT_EQ(kube::generation(made), 1);
  made = must(update(kWidgets, made.with_path({"spec", "size"}, 2).with_path({"metadata", "generation"}, 40)));
  EXPECT_EQ(kube::generation(made), 2);
}

TEST_F(Update, keeps_status_and_spec_apart) {
  define_widgets();
  const Value made = must(create(kWidgets, widget("w")));
  const Value both =
      made.with_path({"spec", "size"}, 7).with_path({"status", "phase"}, "Done").with_path({"metadata", "labels", "a"}, "b");
  const Value status = must(update_status(kWidgets, both));
  EXPECT_EQ(status["spec"], yaml("{size: 1, color: red}"));
  EXPECT_EQ(status["status"], yaml("{phase: Done}"));
  EXPECT_FALSE(status["metadata"].has("labels"));
  const Value main = must(update(kWidgets, status.with_path({"spec", "size"}, 8).with_path({"status", "phase"}, "Lost")));
  EXPECT_EQ(main["spec"]["size"].as_int(), 8);
  EXPECT_EQ(main["status"], yaml("{phase: Done}"));
}

TEST_F(Update, records_who_owns_what) {
  define_widgets();
  const Value made = must(create(kWidgets, widget("w")));
  Request asked = writing(Verb::Update, kWidgets, made.with_path({"status", "phase"}, "Done"));
  asked.subresource = "status";
  asked.field_manager = "controller";
  const Value next = must(object_of(asked));
  const Value& managed = next["metadata"]["managedFields"];
  ASSERT_EQ(managed.size(), 2u);
  EXPECT_EQ(managed.item(0)["manager"].str(), "controller");
  EXPECT_EQ(managed.item(0)["subresource"].str(), "status");
  EXPECT_EQ(managed.item(0)["fieldsV1"], yaml("{f:status: {.: {}, f:phase: {}}}")) << json::print(managed);
  EXPECT_EQ(managed.item(1)["manager"].str(), "tester");
}

TEST_F(Update, refuses_to_change_identity) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(
      message(update(kConfigMaps, made.with_path({"metadata", "creationTimestamp"}, "2000-01-01T00:00:00Z"))),
      "ConfigMap \"a\" is invalid: metadata.creationTimestamp: Invalid value: \"2000-01-01T00:00:00Z\": field is immutable");
  Request renamed = writing(Verb::Update, kConfigMaps, made.with_path({"metadata", "name"}, "b"));
  renamed.name = "a";
  EXPECT_EQ(message(object_of(renamed)), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(Update, adds_no_finalizer_to_what_is_being_deleted) {
  must(create(kConfigMaps, config_map("a").with_path({"metadata", "finalizers"}, json::array({Value("x.io/f")}))));
  const Value going = must(remove(kConfigMaps, "a"));
  EXPECT_EQ(message(update(kConfigMaps,
                           going.with_path({"metadata", "finalizers"}, json::array({Value("x.io/f"), Value("x.io/g")})))),
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            "deleted, "
            "found new finalizers []string{\"x.io/g\"}");
}

TEST_F(Update, validates_against_the_schema_and_tolerates_what_was_there) {
  define_widgets();
  const Value made = must(create(kWidgets, widget("w")));
  const auto bad = update(kWidgets, made.with_path({"spec", "size"}, -1));
  EXPECT_EQ(reason(bad), "Invalid");
  EXPECT_EQ(message(bad),
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or "
            "equal to 0");
  EXPECT_EQ(must(get(kWidgets, "w")), made);
}

TEST_F(Update, dry_run_writes_nothing) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  Request asked = writing(Verb::Update, kConfigMaps, config_map("a", "2"));
  asked.dry_run = true;
  EXPECT_EQ(must(object_of(asked))["data"]["k"].str(), "2");
  EXPECT_EQ(must(get(kConfigMaps, "a")), made);
}

TEST_F(Update, runs_admission_rows_of_the_kind) {
  Options options;
  options.admission.push_back(
      {.group = "",
       .kind = "ConfigMap",
       .mutate = [](const kube::Object& object, const kube::Object&) { return object.with_path({"data", "seen"}, "yes"); },
       .validate =
           [](const kube::Object& object, const kube::Object& old) {
             std::vector<Cause> causes;
             if (!old.is_null() && object["data"]["k"] != old["data"]["k"]) {
               causes.push_back(field::forbidden("data.k", "may not change"));
             }
             return causes;
           }});
  reopen(std::move(options));
  const Value made = must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(made["data"], yaml("{k: '1', seen: 'yes'}"));
  EXPECT_EQ(message(update(kConfigMaps, config_map("a", "2"))),
            "ConfigMap \"a\" is invalid: data.k: Forbidden: may not change");
}

TEST_F(Update, of_two_writers_at_once_one_wins) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  int won = 0;
  int lost = 0;
  for (int i = 0; i < 20; ++i) {
    env_.spawn([](Update& test, Value body, int& wins, int& losses) -> Task<> {
      const auto reply = co_await test.server_->call(writing(Verb::Update, kConfigMaps, body));
      ++(reply ? wins : losses);
      if (!reply) EXPECT_EQ(to_string(reply.error().reason), "Conflict");
    }(*this, made.with_path({"data", "k"}, fmt::format("w{}", i)), won, lost));
  }
  env_.run_until_idle();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 19);
}

}  // namespace
}  // namespace slipway::server
