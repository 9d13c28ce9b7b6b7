#include "serve/list_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "json/text.h"

namespace slipway::serve {
namespace {

using json::Value;

Value list_of(int items) {
  json::ArrayBuilder made;
  for (int i = 0; i < items; ++i) {
    made.add(json::object({{"metadata", json::object({{"name", fmt::format("n{}", i)}})}, {"data", std::string(900, 'x')}}));
  }
  return json::object({{"kind", "ConfigMapList"},
                       {"metadata", json::object({{"resourceVersion", "7"}})},
                       {"none", Value::empty_array()},
                       {"items", made.build()},
                       {"last", true}});
}

TEST(ListStream, is_for_answers_with_many_items) {
  EXPECT_FALSE(is_long_list(list_of(3)));
  EXPECT_TRUE(is_long_list(list_of(200)));
  EXPECT_FALSE(is_long_list(Value("text")));
}

TEST(ListStream, gives_the_text_of_the_answer_in_pieces) {
  ManualEnv env;
  for (const int items : {0, 1, 500}) {
    const auto stream = list_stream(list_of(items));
    std::string text;
    int pieces = 0;
    for (;; ++pieces) {
      const auto piece = env.run(stream->next());
      ASSERT_TRUE(piece.has_value());
      if (!*piece) break;
      EXPECT_FALSE((*piece)->empty());
      text += **piece;
    }
    EXPECT_EQ(text, json::print(list_of(items)) + "\n");
    if (items == 500) {
      EXPECT_GT(pieces, 5);
    }
  }
}

TEST(ListStream, ends_when_the_reader_has_gone) {
  ManualEnv env;
  const auto stream = list_stream(list_of(500));
  ASSERT_TRUE(env.run(stream->next()).has_value());
  stream->close();
  EXPECT_EQ(*env.run(stream->next()), std::nullopt);
}

}  // namespace
}  // namespace slipway::serve
