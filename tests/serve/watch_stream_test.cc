// Watches on the wire: lines of JSON, tables, bookmarks, clean ends and ERROR events.
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

class Watches : public WireTest {
 public:
  static std::string type(const Value& event) { return event["type"].str(); }
  static std::string name(const Value& event) { return event["object"]["metadata"]["name"].str(); }
};

TEST_F(Watches, events_come_one_per_line_as_they_happen) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    auto events = co_await watch(std::string(kMaps) + "?watch=true");
    const Value first = co_await events->next();
    EXPECT_EQ(type(first) + " " + name(first), "ADDED a");
    co_await send("POST", kMaps, config_map("b"));
    EXPECT_EQ(name(co_await events->next()), "b");
    co_await send("DELETE", std::string(kMaps) + "/b");
    EXPECT_EQ(type(co_await events->next()), "DELETED");
    events->close();
  });
}

TEST_F(Watches, the_deprecated_form_watches_one_object) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    co_await send("POST", kMaps, config_map("b"));
    auto events = co_await watch("/api/v1/watch/namespaces/default/configmaps/b");
    EXPECT_EQ(name(co_await events->next()), "b");
    events->close();
  });
}

TEST_F(Watches, a_time_out_is_a_clean_end) {
  serve([this]() -> Task<> {
    auto events = co_await watch(std::string(kMaps) + "?watch=1&timeoutSeconds=1");
    EXPECT_TRUE((co_await events->next()).is_null());
  });
}

TEST_F(Watches, tables_have_their_columns_in_the_first_event_only) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    co_await send("POST", kMaps, config_map("b"));
    auto events = co_await watch(std::string(kMaps) + "?watch=true", kTable);
    const Value first = (co_await events->next())["object"];
    const Value second = (co_await events->next())["object"];
    EXPECT_EQ(first["kind"].as_string(), "Table");
    EXPECT_FALSE(first["columnDefinitions"].empty());
    EXPECT_TRUE(second["columnDefinitions"].empty());
    EXPECT_EQ(second["rows"].item(0)["cells"].item(0).as_string(), "b");
    EXPECT_EQ(second["rows"].size(), 1U);
    events->close();
  });
}

TEST_F(Watches, rows_follow_the_columns_of_the_definition_as_it_is_now) {
  serve([this]() -> Task<> {
    co_await define_widgets();
    const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
    for (const char* name : {"a", "b"}) {
      co_await send("POST", widgets,
                    fmt::format(R"({{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{}"}}}})", name));
    }
    std::vector<Value> cells;  // of the second row, whose text is kept
    for (int round = 0; round < 2; ++round) {
      auto events = co_await watch(widgets + "?watch=true", kTable);
      co_await events->next();
      cells.push_back((co_await events->next())["object"]["rows"].item(0)["cells"].item(1));
      events->close();
      co_await send("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
                    R"([{"op":"remove","path":"/spec/versions/0/additionalPrinterColumns"}])",
                    {{"Content-Type", "application/json-patch+json"}});
    }
    EXPECT_TRUE(cells[0].is_null());                   // Size
    EXPECT_TRUE(cells[1].as_string().ends_with("s"));  // Age, which a definition without columns has
  });
}

TEST_F(Watches, a_watch_list_marks_the_end_of_its_state) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    auto events = co_await watch(
        std::string(kMaps) + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    EXPECT_EQ(type(co_await events->next()), "ADDED");
    const Value mark = co_await events->next();
    EXPECT_EQ(type(mark), "BOOKMARK");
    EXPECT_EQ(mark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"].as_string(), "true");
    events->close();
  });
}

TEST_F(Watches, a_revision_that_is_gone_is_told_by_an_error_event) {
  serve([this]() -> Task<> {
    for (int i = 0; i < 3; ++i) co_await send("POST", kMaps, config_map(fmt::format("m{}", i)));
    const auto compacted = co_await plane().store().compact(plane().store().revision());
    CO_ASSERT(compacted.has_value());
    auto events = co_await watch(std::string(kMaps) + "?watch=true&resourceVersion=2");
    const Value error = co_await events->next();
    EXPECT_EQ(type(error), "ERROR");
    EXPECT_EQ(error["object"]["code"].as_int(), 410);
    EXPECT_EQ(error["object"]["reason"].as_string(), "Expired");
    EXPECT_TRUE((co_await events->next()).is_null());
  });
}

TEST_F(Watches, all_watchers_of_a_kind_hear_the_same_in_the_same_order) {
  serve([this]() -> Task<> {
    std::vector<std::unique_ptr<Events>> all;
    for (int i = 0; i < 20; ++i) all.push_back(co_await watch(std::string(kMaps) + "?watch=true&resourceVersion=0"));
    for (int i = 0; i < 5; ++i) co_await send("POST", kMaps, config_map(fmt::format("m{}", i)));
    for (auto& events : all) {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(name(co_await events->next()), fmt::format("m{}", i));
    }
    for (auto& events : all) events->close();
  });
}

}  // namespace
}  // namespace slipway::serve
