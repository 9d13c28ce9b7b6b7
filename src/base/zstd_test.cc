#include "base/zstd.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace slipway {
namespace {

std::string bytes(std::string_view base64) {
  std::string out;
  EXPECT_TRUE(base64_decode(base64, out));
  return out;
}

// Made with the program zstd.
const std::string kShort = bytes("KLUv/QRYuQAAW3sia2luZCI6IkRlcGxveW1lbnQifV2tFvh8");  // [{"kind":"Deployment"}]
const std::string kLong = bytes("KLUv/QRYXAAAGGFiYwEA+v/mbghFAAAIYwEA7MkOhJlF0Jo=");   // "abc" 50,000 times

TEST(Zstd, gives_back_what_went_in) {
  EXPECT_EQ(unzstd(kShort, 1 << 20), R"([{"kind":"Deployment"}])");
  const auto text = unzstd(kLong, 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 150'000U);
  EXPECT_EQ(text->substr(149'997), "abc");
  EXPECT_EQ(unzstd(kShort + kShort, 1 << 20), R"([{"kind":"Deployment"}][{"kind":"Deployment"}])");
}

TEST(Zstd, refuses_what_is_none_too_short_or_too_much) {
  EXPECT_EQ(unzstd("", 1000), std::nullopt);
  EXPECT_EQ(unzstd("no frame at all", 1000), std::nullopt);
  EXPECT_EQ(unzstd(kShort.substr(0, kShort.size() - 5), 1000), std::nullopt);
  EXPECT_EQ(unzstd(kLong, 149'999), std::nullopt);
  EXPECT_TRUE(unzstd(kLong, 150'000));
}

TEST(Zstd, packs_texts_that_are_alike_by_their_dictionary) {
  std::string common;
  for (int i = 0; i < 400; ++i) common += std::to_string(i * i * 7919) + ",";
  const ZstdDictionary dictionary(common);
  ZstdPacker packer;
  const std::string text = "one" + common + "two";
  const std::string alone(packer.pack(text, nullptr));
  const std::string beside(packer.pack(text, &dictionary));
  EXPECT_LT(beside.size(), 60U) << "of " << text.size() << ", alone " << alone.size();
  EXPECT_EQ(packer.unpack(beside, &dictionary), text);
  EXPECT_EQ(packer.unpack(alone, nullptr), text);
  EXPECT_EQ(packer.unpack(std::string(packer.pack("", &dictionary)), &dictionary), "");
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(packer.unpack(std::string(packer.pack(large, &dictionary)), &dictionary), large);
  EXPECT_EQ(packer.unpack(beside, &dictionary), text);
}

}  // namespace
}  // namespace slipway
