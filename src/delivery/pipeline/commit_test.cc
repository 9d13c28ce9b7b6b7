#include "delivery/pipeline/commit.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

const MarkerKey kProd{"default", "podinfo", "prod"};

MarkedEdit edit(const std::string& text, const std::string& version = "6.3.0", const std::string& name = "app.yaml") {
  return set_marked_fields({{.path = name, .content = text}}, kProd, version);
}

/// The new text; "problem: …" or "unchanged" in place of one.
std::string after(const std::string& text, const std::string& version = "6.3.0") {
  const MarkedEdit made = edit(text, version);
  if (!made.problems.empty()) return "problem: " + made.problems.front();
  return made.changes.empty() ? "unchanged" : *made.changes.front().content;
}

std::string marked(const std::string& before, const std::string& ending = "") {
  return before + " # {\"$promotion\": \"default:podinfo:prod" + ending + "\"}\n";
}

TEST(MarkedFields, a_marked_field_is_set_and_every_other_byte_stays) {
  const std::string text = "# a head\n\napiVersion: v2   # c\nspec:\n    chart:  {name: \"podinfo\"}\n" +
                           marked("    version:   6.2.0") + "tail: [ 1,2 ]";
  EXPECT_EQ(after(text), "# a head\n\napiVersion: v2   # c\nspec:\n    chart:  {name: \"podinfo\"}\n" +
                             marked("    version:   6.3.0") + "tail: [ 1,2 ]");
  const MarkedEdit made = edit(text);
  EXPECT_EQ(made.set, (std::vector<MarkedField>{{"app.yaml", 6, "6.2.0", "6.3.0"}}));
}

TEST(MarkedFields, quotes_line_ends_anchors_and_lists_are_kept) {
  EXPECT_EQ(after(marked("v: \"6.2.0\"")), marked("v: \"6.3.0\""));
  EXPECT_EQ(after(marked("v: '6.2.0'")), marked("v: '6.3.0'"));
  EXPECT_EQ(after(marked("v: &it 6.2.0") + "w: *it\n"), marked("v: &it 6.3.0") + "w: *it\n");
  EXPECT_EQ(after(marked("v: !!str 6.2.0")), marked("v: !!str 6.3.0"));
  EXPECT_EQ(after(marked("- a\n- 6.2.0")), marked("- a\n- 6.3.0"));
  EXPECT_EQ(after("v: 6.2.0 # {\"$promotion\": \"default:podinfo:prod\"}\r\nw: 1\r\n"),
            "v: 6.3.0 # {\"$promotion\": \"default:podinfo:prod\"}\r\nw: 1\r\n");
  EXPECT_EQ(after(marked("v: 'it''s' ")), marked("v: '6.3.0' "));
  EXPECT_EQ(after("v: 6.2.0 #{\"$promotion\":\"default:podinfo:prod\"}"),
            "v: 6.3.0 #{\"$promotion\":\"default:podinfo:prod\"}");
}

TEST(MarkedFields, what_would_not_be_text_gets_quotes) {
  EXPECT_EQ(after(marked("v: 1.9.0"), "1.10"), marked("v: \"1.10\""));
  EXPECT_EQ(after(marked("v: 1.9.0"), "1e3"), marked("v: \"1e3\""));
  EXPECT_EQ(after(marked("v: 1.9"), "1.10.0"), marked("v: 1.10.0"));
  EXPECT_EQ(after(marked("v: a"), "x: #y"), marked("v: \"x: #y\""));
}

TEST(MarkedFields, every_document_and_every_marker_counts) {
  const std::string text = marked("a: 1.0.0") + "---\n" + marked("b: 2.0.0") + marked("c: 6.3.0") + "---\n# nothing\n";
  const MarkedEdit made = edit(text);
  EXPECT_EQ(made.set.size(), 2U);
  EXPECT_EQ(made.current.size(), 1U);
  EXPECT_EQ(*made.changes.front().content,
            marked("a: 6.3.0") + "---\n" + marked("b: 6.3.0") + marked("c: 6.3.0") + "---\n# nothing\n");
}

TEST(MarkedFields, a_value_that_is_there_already_changes_nothing) {
  EXPECT_EQ(after(marked("v: 6.3.0")), "unchanged");
  EXPECT_TRUE(edit(marked("v: 6.3.0")).has_marker());
}

TEST(MarkedFields, other_environments_and_other_comments_are_left_alone) {
  EXPECT_FALSE(edit("v: 1 # {\"$promotion\": \"default:podinfo:dev\"}\n").has_marker());
  EXPECT_FALSE(edit("v: 1 # {\"$promotion\": \"default:podinfo:production\"}\n").has_marker());
  EXPECT_FALSE(edit("v: 1 # {\"$promotion\": \"default:podinfo:prod:digest\"}\n").has_marker());
  EXPECT_FALSE(edit("v: 1 # {\"$imagepolicy\": \"default:podinfo:prod\"}\n").has_marker());
  EXPECT_FALSE(edit(marked("v: 1"), "6.3.0", "README.md").has_marker());
}

TEST(MarkedFields, parts_of_an_image_are_set_by_name_and_tag) {
  const std::string image = "registry.example:5000/app:1.2.3";
  EXPECT_EQ(after(marked("tag: 1.0.0", ":tag"), image), marked("tag: 1.2.3", ":tag"));
  EXPECT_EQ(after(marked("name: app", ":name"), image), marked("name: registry.example:5000/app", ":name"));
  EXPECT_EQ(after(marked("image: app:1"), image), marked("image: " + image));
  EXPECT_EQ(after(marked("tag: 1.0.0", ":tag"), "1.2.3"), marked("tag: 1.2.3", ":tag"));
  EXPECT_EQ(after(marked("name: app", ":name"), "1.2.3"),
            "problem: app.yaml:1: marker default:podinfo:prod:name asks for the name of an image, but 1.2.3 has none");
}

TEST(MarkedFields, what_cannot_be_set_is_a_problem_with_its_place_and_leaves_the_file) {
  EXPECT_EQ(after("a: b: c\n" + marked("v: 1")),
            "problem: app.yaml: yaml: line 1, column 5: mapping values are not allowed in this context");
  for (const std::string& text : {marked("v:"), marked("v: |") + "  1\n", marked("v: {a: 1}"), marked("v: [1, 2]"),
                                  marked("x: &a 1\nv: *a").substr(8), marked("v: x\n "), "t: |\n  " + marked("v: 1")}) {
    EXPECT_TRUE(after(text).starts_with("problem: ")) << text << after(text);
  }
  EXPECT_EQ(after("v: 1 # {\"$promotion\": \"default:podinfo:prod\"} keep this\n"),
            "problem: app.yaml:1: the marker is not a JSON object and nothing else");
  const MarkedEdit made = edit(marked("a: 1.0.0") + marked("v: [1, 2]"));
  EXPECT_TRUE(made.changes.empty());
  EXPECT_TRUE(made.set.empty());
}

TEST(MarkedFields, a_marker_inside_a_text_is_no_marker) {
  const std::string quoted = "v: \"1 # {'$promotion': 'x'}\"\nw: 'a # {\"$promotion\": \"default:podinfo:prod\"}'\n";
  EXPECT_TRUE(edit(quoted).changes.empty());
}

TEST(PromotionText, has_a_subject_and_trailers) {
  const PromotionText text{"podinfo", "6.3.0", "abc", kProd};
  EXPECT_EQ(text.message(),
            "promote podinfo 6.3.0 to prod\n\nSlipway-Promotion: abc\nSlipway-Pipeline: default/podinfo\nSlipway-Environment: "
            "prod\nSlipway-Version: 6.3.0\n");
  EXPECT_EQ(trailer_of(text.message(), kPromotionTrailer), "abc");
  EXPECT_EQ(trailer_of("x\r\nSlipway-Promotion: abc\r\n", kPromotionTrailer), "abc");
  EXPECT_EQ(trailer_of("mentions Slipway-Promotion: abc", kPromotionTrailer), "");
  const PromotionText forged{"podinfo", "1\nSlipway-Promotion: other", "abc", kProd};
  EXPECT_EQ(trailer_of(forged.message(), kPromotionTrailer), "abc");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
