#include "base/digest.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Read : public ServerTest {
 protected:
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      Value body = config_map(fmt::format("m{:02}", i)).with_path({"metadata", "labels", "odd"}, i % 2 == 0 ? "no" : "yes");
      must(create(kConfigMaps, body));
    }
  }
  static std::string names(const Value& list) {
    std::string text;
    for (const Value& item : list["items"].items()) text += (text.empty() ? "" : " ") + item["metadata"]["name"].str();
    return text;
  }
  Result<Value> list_with(std::function<void(Request&)> edit) {
    Request asked = request(Verb::List, kConfigMaps, "");
    edit(asked);
    return object_of(std::move(asked));
  }
};

TEST_F(Read, names_what_is_missing) {
  EXPECT_EQ(message(get(kConfigMaps, "x")), "configmaps \"x\" not found");
  EXPECT_EQ(message(get(kJobs, "x")), "jobs.batch \"x\" not found");
  EXPECT_EQ(message(get({"batch", "v2", "jobs"}, "x")), "the server could not find the requested resource");
  EXPECT_EQ(message(get(kConfigMaps, "x", "")), "an empty namespace may not be set when a resource name is provided");
  const auto missing = get(kJobs, "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, "jobs");
  EXPECT_EQ(missing.error().group, "batch");
}

TEST_F(Read, lists_in_the_order_of_names_with_the_revision_of_the_state) {
  fill(3);
  const Value all = must(list(kConfigMaps));
  EXPECT_EQ(all["kind"].str(), "ConfigMapList");
  EXPECT_EQ(all["apiVersion"].str(), "v1");
  EXPECT_EQ(names(all), "m00 m01 m02");
  EXPECT_EQ(kube::revision(all), store_->revision());
  EXPECT_EQ(names(must(list(kConfigMaps, ""))), "m00 m01 m02");
  EXPECT_EQ(names(must(list(kConfigMaps, "kube-system"))), "");
}

TEST_F(Read, selects_by_labels_and_fields) {
  fill(4);
  EXPECT_EQ(names(must(list_with([](Request& r) { r.label_selector = "odd=yes"; }))), "m01 m03");
  EXPECT_EQ(names(must(list_with([](Request& r) { r.field_selector = "metadata.name=m02"; }))), "m02");
  EXPECT_EQ(names(must(list_with([](Request& r) { r.field_selector = "metadata.name!=m02"; }))), "m00 m01 m03");
  EXPECT_EQ(names(must(list_with([](Request& r) { r.field_selector = "metadata.name=m"; }))), "");
  EXPECT_EQ(message(list_with([](Request& r) { r.field_selector = "spec.x=1"; })), "field label not supported: spec.x");
  EXPECT_EQ(reason(list_with([](Request& r) { r.label_selector = "a in b"; })), "BadRequest");
}

TEST_F(Read, selects_by_the_fields_a_definition_names) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  must(create(kWidgets, widget("x").with_path({"spec", "color"}, "blue")));
  Request asked = request(Verb::List, kWidgets, "");
  asked.field_selector = "spec.color=blue";
  EXPECT_EQ(names(must(object_of(asked))), "x");
}

TEST_F(Read, pages_show_one_snapshot) {
  fill(5);
  const Value first = must(list_with([](Request& r) { r.limit = 2; }));
  EXPECT_EQ(names(first), "m00 m01");
  EXPECT_EQ(first["metadata"]["remainingItemCount"].as_int(), 3);
  must(create(kConfigMaps, config_map("m015")));
  must(remove(kConfigMaps, "m03"));
  const Value second = must(list_with([&](Request& r) {
    r.limit = 2;
    r.continue_token = first["metadata"]["continue"].str();
  }));
  EXPECT_EQ(names(second), "m02 m03");
  EXPECT_EQ(kube::revision(second), kube::revision(first));
  const Value third = must(list_with([&](Request& r) {
    r.limit = 2;
    r.continue_token = second["metadata"]["continue"].str();
  }));
  EXPECT_EQ(names(third), "m04");
  EXPECT_FALSE(third["metadata"].has("continue"));
  EXPECT_FALSE(third["metadata"].has("remainingItemCount"));
}

TEST_F(Read, pages_of_a_selection_are_full_and_count_nothing) {
  fill(6);
  const Value first = must(list_with([](Request& r) {
    r.limit = 2;
    r.label_selector = "odd=yes";
  }));
  EXPECT_EQ(names(first), "m01 m03");
  EXPECT_FALSE(first["metadata"].has("remainingItemCount"));
  const Value second = must(list_with([&](Request& r) {
    r.limit = 2;
    r.label_selector = "odd=yes";
    r.continue_token = first["metadata"]["continue"].str();
  }));
  EXPECT_EQ(names(second), "m05");
}

TEST_F(Read, refuses_continue_tokens_that_are_none) {
  const auto with = [&](std::string token) { return message(list_with([&](Request& r) { r.continue_token = token; })); };
  EXPECT_EQ(with("%%%"), "invalid continue token: continue key is not valid: it is no base64url text");
  EXPECT_EQ(with(base64url_encode(R"({"v":"v9","rv":1,"start":"a"})")),
            "invalid continue token: continue key is not valid: server does not recognize this encoded version \"v9\"");
  EXPECT_EQ(
      with(base64url_encode(R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})")),
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
}

TEST_F(Read, a_token_whose_snapshot_is_compacted_has_expired) {
  fill(3);
  const Value first = must(list_with([](Request& r) { r.limit = 1; }));
  must(create(kConfigMaps, config_map("z")));
  ASSERT_TRUE(env_.run(store_->compact(store_->revision())));
  const auto late = list_with([&](Request& r) { r.continue_token = first["metadata"]["continue"].str(); });
  EXPECT_EQ(reason(late), "Expired");
  EXPECT_EQ(
      message(late),
      "The provided continue parameter is too old to display a consistent list result. You must start a new list without the "
      "continue parameter.");
}

TEST_F(Read, exact_shows_the_past_until_it_is_compacted) {
  fill(2);
  const std::string then = std::to_string(store_->revision());
  must(remove(kConfigMaps, "m00"));
  const auto exactly = [&] {
    return list_with([&](Request& r) {
      r.resource_version = then;
      r.resource_version_match = "Exact";
    });
  };
  EXPECT_EQ(names(must(exactly())), "m00 m01");
  EXPECT_EQ(names(must(list_with([&](Request& r) { r.resource_version = then; }))), "m01");
  EXPECT_EQ(names(must(list_with([&](Request& r) {
              r.resource_version = then;
              r.limit = 5;
            }))),
            "m00 m01");
  ASSERT_TRUE(env_.run(store_->compact(store_->revision())));
  EXPECT_EQ(reason(exactly()), "Expired");
  EXPECT_EQ(message(exactly()), "The resourceVersion for the provided list is too old.");
}

TEST_F(Read, waits_three_seconds_for_a_revision_and_gives_up) {
  const Time before = env_.now();
  Request asked = request(Verb::Get, kConfigMaps, "m");
  asked.resource_version = std::to_string(store_->revision() + 1);
  const auto missed = call(asked);
  ASSERT_FALSE(missed);
  EXPECT_EQ(env_.now() - before, std::chrono::seconds{3});
  EXPECT_EQ(to_string(missed.error().reason), "Timeout");
  EXPECT_EQ(missed.error().message,
            fmt::format("Too large resource version: {}, current: {}", store_->revision() + 1, store_->revision()));
  EXPECT_EQ(missed.error().causes, (std::vector<Cause>{{"ResourceVersionTooLarge", "Too large resource version", ""}}));
  EXPECT_EQ(missed.error().retry_after_seconds, 1);
}

TEST_F(Read, refuses_what_upstream_refuses_of_resource_versions) {
  const auto with = [&](std::string version, std::string match, std::string token, std::optional<bool> initial) {
    return message(list_with([&](Request& r) {
      r.resource_version = version;
      r.resource_version_match = match;
      r.continue_token = token;
      r.send_initial_events = initial;
    }));
  };
  const std::string head = "ListOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_EQ(with("", "Exact", "", {}),
            head + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
  EXPECT_EQ(with("0", "Exact", "", {}),
            head + "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  EXPECT_EQ(with("1", "Exact", "abc", {}),
            head + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided");
  EXPECT_EQ(with("1", "Near", "", {}),
            head + "resourceVersionMatch: Unsupported value: \"Near\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
  EXPECT_EQ(with("", "", "", true), head + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  EXPECT_EQ(with("abc", "", "", {}),
            head + "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax");
  EXPECT_EQ(with("5", "", "abc", {}), "specifying resource version is not allowed when using continue");
}

TEST_F(Read, watch_is_no_call) {
  EXPECT_EQ(message(object_of(request(Verb::Watch, kConfigMaps, ""))),
            "the server does not allow this method on the requested resource");
}

}  // namespace
}  // namespace slipway::server
