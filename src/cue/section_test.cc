#include "cue/section.h"

#include <gtest/gtest.h>

namespace slipway::cue {
namespace {

TEST(Section, keeps_the_body_in_its_place_with_the_imports_it_uses) {
  const char* text =
      "import (\n\t\"strconv\"\n\ts \"strings\"\n)\nweb: {\n\ttype: \"x\"\n}\ntemplate: {\n\ta: \"\\(s.ToLower({b: "
      "\"}\"}.b))\" // }\n}\n";
  EXPECT_EQ(section(text, "template"),
            "import (\n          \n s \"strings\"\n)\n      \n          \n \n           \n\ta: \"\\(s.ToLower({b: "
            "\"}\"}.b))\" // }\n \n");
}

TEST(Section, is_the_value_of_a_shorthand_too) {
  EXPECT_EQ(section("x: 1\n\"template\": output: kind: \"A\"\n", "template"), "    \n            output: kind: \"A\"\n");
}

TEST(Section, is_empty_when_the_name_only_stands_deeper) { EXPECT_EQ(section("x: {template: {a: 1}}", "template"), ""); }

TEST(Section, leaves_the_rest_of_the_file) {
  EXPECT_EQ(without_section("import \"list\"\nx: {a: 1}\ntemplate: {\n b: list\n}\n", "template"),
            "             \nx: {a: 1}\n           \n        \n \n");
}

}  // namespace
}  // namespace slipway::cue
