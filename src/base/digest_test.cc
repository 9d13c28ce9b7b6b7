#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway {
namespace {

TEST(Digest, gives_the_published_vectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(fnv1a_32("foobar"), 0xbf9cf968U);
}

TEST(Digest, base64_round_trips_every_length) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    std::string back;
    ASSERT_TRUE(base64_decode(base64_encode(bytes), back));
    EXPECT_EQ(back, bytes);
    ASSERT_TRUE(base64_decode(base64url_encode(bytes), back));
    EXPECT_EQ(back, bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(base64_encode("a"), "YQ==");
  std::string back;
  EXPECT_FALSE(base64_decode("YQ=Q", back));
  EXPECT_FALSE(base64_decode("Y", back));
}

TEST(Digest, name_hashes_fit_names_and_differ) {
  std::set<std::string> seen;
  for (int i = 0; i < 10000; ++i) seen.insert(name_hash(std::to_string(i)));
  EXPECT_EQ(seen.size(), 10000U);
  EXPECT_EQ(seen.begin()->size(), 10U);
}

}  // namespace
}  // namespace slipway
