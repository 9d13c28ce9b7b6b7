#include "json/yaml_place.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::json {
namespace {

constexpr std::string_view kText = R"(# two documents
a: 1
---
apiVersion: v1
spec:
  components:
    - name: web
      properties: {image: nginx,
        port: 80}
    - name: db
      properties:
        a.b: x
)";

TEST(YamlPlace, is_the_line_of_the_member_or_of_what_is_around_it) {
  const auto documents = parse_yaml_all(kText);
  ASSERT_TRUE(documents);
  const std::size_t begin = documents->at(1).line;
  const struct {
    const char* path;
    std::size_t line;
  } cases[] = {{"", 4},
               {"apiVersion", 4},
               {"spec", 5},
               {"spec.components[0]", 7},
               {"spec.components[0].properties.image", 8},
               {"spec.components[0].properties.port", 9},
               {"spec.components[1].properties[\"a.b\"]", 12},
               {"spec.components[1].properties.none", 11},
               {"spec.components[7].name", 6},
               {"spec.components.1.name", 10},
               {"nothing", 4}};
  for (const auto& [path, line] : cases) EXPECT_EQ(yaml_line(kText, begin, path), line) << path;
  EXPECT_EQ(yaml_line(kText, documents->at(0).line, "a"), 2U);
  EXPECT_EQ(yaml_line("{\"a\":\n {\"b\": 1}}", 1, "a.b"), 2U);
  EXPECT_EQ(yaml_line("a: [", 1, "a"), 1U);
}

}  // namespace
}  // namespace slipway::json
