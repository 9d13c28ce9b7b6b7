#include "serve/list_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/manual_env.h"
#include "json/text.h"
#include "kube/builtin.h"

namespace slipway::serve {
namespace {

using json::Value;

server::TypePtr config_maps() {
  server::Registry registry;
  for (const kube::ResourceType& type : kube::builtin_types()) registry.put(type);
  return *registry.find({"", "v1", "configmaps"});
}

Value item(int number, std::size_t bytes = 20) {
  return json::object(
      {{"metadata", json::object({{"name", fmt::format("n{}", number)}, {"namespace", "default"}})},
       {"data", json::object({{"text", "two\nlines: [\"x\"]\n"}, {"more", std::string(bytes, 'x')}, {"none", ""}})}});
}

/// `items` of them in pages of seven.
server::ListReply list_of(int items, std::size_t bytes = 20) {
  server::ListReply list;
  list.frame = json::object({{"kind", "ConfigMapList"},
                             {"apiVersion", "v1"},
                             {"metadata", json::object({{"resourceVersion", "7"}})},
                             {"items", Value::empty_array()}});
  json::ArrayBuilder page;
  for (int i = 0; i < items; ++i) {
    page.add(item(i, bytes));
    if (i % 7 != 6 && i + 1 < items) continue;
    list.pages.push_back(page.build());
    page = {};
  }
  return list;
}

Value whole(const server::ListReply& list) {
  json::ArrayBuilder items;
  for (const Value& page : list.pages) {
    for (const Value& one : page.items()) items.add(one);
  }
  return list.frame.with("items", items.build());
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Shape shape : {Shape::Object, Shape::Table, Shape::MetadataList}) {
    all.push_back({.encoding = Encoding::Json, .shape = shape});
    all.push_back({.encoding = Encoding::Json, .shape = shape, .is_pretty = true});
    all.push_back({.encoding = Encoding::Yaml, .shape = shape});
  }
  return all;
}

TEST(ListText, is_the_text_of_the_list_in_one_piece_in_every_form) {
  const server::TypePtr type = config_maps();
  const Time now{std::chrono::seconds{1'800'000'000}};
  for (const Form& form : forms()) {
    for (const int items : {0, 1, 2, 7, 40, 100}) {
      auto text = ListText::of(list_of(items), type, form, now);
      ASSERT_TRUE(text);
      std::string made;
      while (!text->is_over()) text->add_to(made);
      EXPECT_EQ(made, encoded(*shaped(whole(list_of(items)), *type, form, now), form))
          << items << " items, shape " << static_cast<int>(form.shape);
    }
  }
}

TEST(ListText, is_refused_in_the_form_of_one_object) {
  const auto refused = ListText::of(list_of(1), config_maps(), {.shape = Shape::Metadata}, Time{});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::NotAcceptable);
}

TEST(ListStream, sends_a_short_list_as_a_plain_body) {
  ManualEnv env;
  const http::Response response = list_response(env, *ListText::of(list_of(3), config_maps(), {}, Time{}), {});
  EXPECT_EQ(response.stream, nullptr);
  EXPECT_EQ(response.body, json::print(whole(list_of(3))) + "\n");
}

TEST(ListStream, sends_a_long_list_in_pieces_of_bounded_size) {
  ManualEnv env;
  http::Response response = list_response(env, *ListText::of(list_of(500, 900), config_maps(), {}, Time{}), {});
  ASSERT_NE(response.stream, nullptr);
  std::string text;
  int pieces = 0;
  for (;; ++pieces) {
    const auto piece = env.run(response.stream->next());
    ASSERT_TRUE(piece.has_value());
    if (!*piece) break;
    EXPECT_FALSE((*piece)->empty());
    EXPECT_LT((*piece)->size(), 66U * 1024);
    text += **piece;
  }
  EXPECT_EQ(text, json::print(whole(list_of(500, 900))) + "\n");
  EXPECT_GT(pieces, 5);
}

TEST(ListStream, ends_when_the_reader_has_gone) {
  ManualEnv env;
  http::Response response = list_response(env, *ListText::of(list_of(500, 900), config_maps(), {}, Time{}), {});
  ASSERT_TRUE(env.run(response.stream->next()).has_value());
  response.stream->close();
  EXPECT_EQ(*env.run(response.stream->next()), std::nullopt);
}

}  // namespace
}  // namespace slipway::serve
