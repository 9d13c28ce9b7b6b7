#include "delivery/application/revision.h"

#include <gtest/gtest.h>

#include "delivery/application/compressed.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

TEST(RevisionPacker, packs_the_whole_content_whatever_was_packed_before) {
  RevisionPacker packer;
  const std::pair<const char*, const char*> contents[] = {
      {R"({"application":{"spec":{"components":[]}}})", R"({"componentDefinitions":{"web":{"spec":{"a":1}}}})"},
      {R"({"application":{"spec":{"components":[1,2]}}})", R"({"componentDefinitions":{"web":{"spec":{"a":1}}}})"},
      {R"({"application":{"spec":{}}})", R"({"componentDefinitions":{"web":{"spec":{"a":2}}},"policies":{"p":{}}})"},
      {R"({"application":{"spec":{}}})", "{}"}};
  for (const auto& [first, rest] : contents) {
    const Value content = *json::parse(rest);
    const RevisionPacker::Rest& packed = packer.rest(rest, [&] { return content; });
    EXPECT_EQ(packed.text_bytes, std::string(rest).size());
    const std::string data = RevisionPacker::join(*json::parse(first), packed);
    Value whole = *json::parse(first);
    for (const auto& [name, value] : content.members()) whole = whole.with(name, value);
    EXPECT_EQ(uncompressed(json::object({{"compression", json::object({{"type", "gzip"}, {"data", data}})}})), whole);
    EXPECT_TRUE(data.ends_with(packed.data));
  }
}

TEST(RevisionPacker, makes_the_rest_once_for_each_key) {
  RevisionPacker packer;
  int made = 0;
  const auto make = [&] {
    ++made;
    return json::object({{"componentDefinitions", json::object({})}});
  };
  packer.rest("a", make);
  packer.rest("a", make);
  EXPECT_EQ(made, 1);
  packer.rest("b", make);
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace slipway::delivery::application
