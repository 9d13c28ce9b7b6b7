#include "kube/selector.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::kube {
namespace {

bool matches(std::string_view selector, std::string_view labels) {
  return LabelSelector::parse(selector)->matches(parsed(labels));
}
std::string refusal(std::string_view selector) {
  const auto made = LabelSelector::parse(selector);
  return made ? "" : made.error().message;
}

TEST(LabelSelector, matches_by_every_operator) {
  constexpr std::string_view kLabels = R"({"x":"a","n":"5"})";
  for (const char* selector :
       {"", "x", "x=a", "x==a", "x!=b", "y!=b", "!y", "x in (a,b)", "x notin (b)", "y notin (a)", "n>4", "n<6", "x=a,n>4"}) {
    EXPECT_TRUE(matches(selector, kLabels)) << selector;
  }
  for (const char* selector : {"y", "x=b", "x!=a", "!x", "x in (b)", "x notin (a,b)", "n>5", "x>1", "y<1", "x=a,y"}) {
    EXPECT_FALSE(matches(selector, kLabels)) << selector;
  }
  EXPECT_TRUE(LabelSelector::parse("!x")->matches({}));
}

TEST(LabelSelector, is_refused_in_upstreams_words) {
  EXPECT_EQ(refusal("a,"), "found '', expected: identifier after ','");
  EXPECT_EQ(refusal("x=a y"), "found 'y', expected: ',' or 'end of string'");
  EXPECT_EQ(refusal("=a"), "found '=', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(refusal("x ! y"), "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(refusal("x in y"), "unable to parse requirement: found 'y' expected: '('");
  EXPECT_EQ(refusal("x in (a b)"), "unable to parse requirement: found 'b', expected: ',' or ')'");
  EXPECT_EQ(
      refusal("x>a"),
      "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer");
  EXPECT_TRUE(refusal("a/b/c=d").starts_with(
      "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a qualified name must consist of"));
  EXPECT_EQ(LabelSelector::parse("(").error().reason, Reason::BadRequest);
}

TEST(LabelSelector, of_an_object_selects_all_when_empty_and_none_when_null) {
  EXPECT_TRUE(LabelSelector::from_object(parsed("{}"))->matches_everything());
  EXPECT_FALSE(LabelSelector::from_object({})->matches({}));
  const auto made = LabelSelector::from_object(parsed(
      R"({"matchLabels":{"b":"1"},"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]},{"key":"c","operator":"DoesNotExist"}]})"));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->to_string(), "a in (x,y),b=1,!c");
  EXPECT_TRUE(made->matches(parsed(R"({"a":"x","b":"1"})")));
  EXPECT_FALSE(LabelSelector::from_object(parsed(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})")).has_value());
}

TEST(FieldSelector, reads_fields_by_path) {
  const auto selector = FieldSelector::parse("metadata.name=a,status.phase!=Failed,spec.unschedulable=true");
  ASSERT_TRUE(selector.has_value());
  EXPECT_TRUE(
      selector->matches(parsed(R"({"metadata":{"name":"a"},"status":{"phase":"Running"},"spec":{"unschedulable":true}})")));
  EXPECT_FALSE(
      selector->matches(parsed(R"({"metadata":{"name":"a"},"status":{"phase":"Failed"},"spec":{"unschedulable":true}})")));
  EXPECT_TRUE(FieldSelector::parse("spec.nodeName=")->matches(parsed("{}")));
}

TEST(FieldSelector, tells_the_value_that_it_demands_of_a_field) {
  const auto selector = FieldSelector::parse("metadata.name==a\\,b,status.phase!=Failed");
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->demanded("metadata.name"), "a,b");
  EXPECT_EQ(selector->demanded("status.phase"), std::nullopt);
  EXPECT_EQ(selector->demanded("metadata.namespace"), std::nullopt);
}

TEST(FieldSelector, knows_upstreams_names_that_are_no_paths) {
  EXPECT_TRUE(FieldSelector::parse("source=kubelet")->matches(parsed(R"({"kind":"Event","source":{"component":"kubelet"}})")));
  EXPECT_TRUE(FieldSelector::parse("status.successful=2")->matches(parsed(R"({"kind":"Job","status":{"succeeded":2}})")));
  EXPECT_TRUE(FieldSelector::parse("spec.hostNetwork=false")->matches(parsed(R"({"kind":"Pod"})")));
}

TEST(FieldSelector, takes_only_supported_fields) {
  const auto selector = FieldSelector::parse("metadata.namespace=n,spec.x=1");
  EXPECT_TRUE(selector->check({"spec.x"}).has_value());
  EXPECT_EQ(selector->check({}).error().message, "field label not supported: spec.x");
  EXPECT_EQ(FieldSelector::parse("a=b,c").error().message, "invalid selector: 'a=b,c'; can't understand 'c'");
  EXPECT_EQ(FieldSelector::parse("a=b=c").error().message, "invalid field selector: unescaped character in value: 61");
}

}  // namespace
}  // namespace slipway::kube
