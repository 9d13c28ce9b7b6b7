#include "server/field_index.h"

#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class FieldIndexTest : public ServerTest {
 protected:
  static std::string names(const Value& list) {
    std::string text;
    for (const Value& item : list["items"].items()) text += (text.empty() ? "" : " ") + item["metadata"]["name"].str();
    return text;
  }
};

TEST_F(FieldIndexTest, lists_by_a_field_follow_every_change_of_it) {
  define_widgets();
  const auto painted = [](std::string_view name, std::string_view color) {
    return widget(name).with_path({"spec", "color"}, color);
  };
  const auto with = [&](std::string fields, std::string ns = "", std::int64_t limit = 0) {
    Request asked = request(Verb::List, kWidgets, "");
    asked.field_selector = std::move(fields);
    asked.ns = std::move(ns);
    asked.limit = limit;  // pages are read from all that is there
    return names(must(object_of(asked)));
  };
  EXPECT_EQ(with("spec.color=blue"), "");
  for (const char* name : {"a", "b", "c"}) must(create(kWidgets, painted(name, "blue")));
  must(create(kWidgets, widget("d")));
  EXPECT_EQ(with("spec.color=blue"), "a b c");
  EXPECT_EQ(with("spec.color=red"), "d") << "the schema's default";
  EXPECT_EQ(with("spec.color=blue,metadata.name!=b"), "a c");
  EXPECT_EQ(with("spec.color=blue", "elsewhere"), "");
  EXPECT_EQ(with("spec.color=blue", "default"), "a b c");
  Value b = must(get(kWidgets, "b"));
  must(update(kWidgets, b.with_path({"spec", "color"}, "red")));
  must(remove(kWidgets, "c"));
  EXPECT_EQ(with("spec.color=blue"), "a");
  EXPECT_EQ(with("spec.color=red"), "b d");
  for (const char* fields : {"spec.color=blue", "spec.color=red", "spec.color=", "spec.color!=red"}) {
    EXPECT_EQ(with(fields), with(fields, "", 1000)) << fields;
  }
}

TEST_F(FieldIndexTest, a_list_by_a_field_looks_at_no_other_objects) {
  define_widgets();
  for (int i = 0; i < 20; ++i) must(create(kWidgets, widget(fmt::format("w{}", i))));
  must(create(kWidgets, widget("x").with_path({"spec", "color"}, "blue")));
  FieldIndexes indexes(env_, *store_);
  const ServedPtr served = *server_->registry().served(kWidgets);
  Request asked = request(Verb::List, kWidgets, "");
  asked.field_selector = "spec.color=blue";
  const Selection blue = *Selection::of(asked, *served);
  const auto keys = env_.run(indexes.find(served, blue));
  ASSERT_TRUE(keys);
  EXPECT_EQ(*keys, std::vector<std::string>{served->key("default", "x")});
  asked.field_selector = "spec.color!=blue";
  const Selection not_blue = *Selection::of(asked, *served);
  EXPECT_FALSE(env_.run(indexes.find(served, not_blue)));
}

TEST_F(FieldIndexTest, others_write_while_an_index_is_made) {
  define_widgets();
  const auto painted = [](int i, std::string_view color) {
    return widget(fmt::format("w{:03}", i)).with_path({"spec", "color"}, color);
  };
  for (int i = 0; i < 600; ++i) must(create(kWidgets, painted(i, i % 300 == 0 ? "blue" : "red")));
  FieldIndexes indexes(env_, *store_);
  const ServedPtr served = *server_->registry().served(kWidgets);
  Request asked = request(Verb::List, kWidgets, "");
  asked.field_selector = "spec.color=blue";
  const Selection blue = *Selection::of(asked, *served);
  const Value passed = must(get(kWidgets, "w000")), ahead = must(get(kWidgets, "w599"));
  std::vector<std::string> steps;
  env_.spawn(
      [](FieldIndexes& all, const ServedPtr& type, const Selection& asked_for, std::vector<std::string>& order) -> Task<> {
        EXPECT_TRUE(co_await all.find(type, asked_for));
        order.emplace_back("found");
      }(indexes, served, blue, steps));
  for (const auto& [object, color] : {std::pair(passed, "red"), std::pair(ahead, "blue")}) {
    env_.spawn([](FieldIndexTest& test, Value body, std::vector<std::string>& order) -> Task<> {
      order.emplace_back("writes");
      EXPECT_TRUE(co_await test.server_->call(writing(Verb::Update, kWidgets, std::move(body))));
    }(*this, object.with_path({"spec", "color"}, color), steps));
  }
  env_.run_until_idle();
  EXPECT_EQ(steps.back(), "found") << "the index was made in one go";
  EXPECT_EQ(env_.run(indexes.find(served, blue)),
            (std::vector<std::string>{served->key("default", "w300"), served->key("default", "w599")}));
}

}  // namespace
}  // namespace slipway::server
