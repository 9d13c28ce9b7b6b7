#include "delivery/application/revision.h"

#include <gtest/gtest.h>

#include "base/gzip.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

TEST(RevisionPacker, packs_the_whole_content_whatever_was_packed_before) {
  RevisionPacker packer;
  for (const char* text : {R"({"application":{"spec":{"components":[]}},"componentDefinitions":{"web":{"spec":{"a":1}}}})",
                           R"({"application":{"spec":{"components":[1,2]}},"componentDefinitions":{"web":{"spec":{"a":1}}}})",
                           R"({"application":{"spec":{}},"componentDefinitions":{"web":{"spec":{"a":2}}},"policies":{"p":{}}})",
                           R"({"application":{"spec":{}}})"}) {
    const std::string packed = packer.pack(*json::parse(text));
    EXPECT_EQ(gunzip(packed, 1 << 20), text);
    EXPECT_EQ(packer.pack(*json::parse(text)), packed);
  }
}

}  // namespace
}  // namespace slipway::delivery::application
