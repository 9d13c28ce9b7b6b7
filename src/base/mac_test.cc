#include "base/mac.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

/// Test case 2 of RFC 4231.
TEST(Mac, is_that_of_the_rfc_for_each_hash) {
  const std::string_view text = "what do ya want for nothing?";
  EXPECT_EQ(hmac_hex(MacHash::Sha224, "Jefe", text), "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44");
  EXPECT_EQ(hmac_hex(MacHash::Sha256, "Jefe", text), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_hex(MacHash::Sha384, "Jefe", text),
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649");
  EXPECT_EQ(hmac_hex(MacHash::Sha512, "Jefe", text),
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd"
            "caeab1a34d4a6b4b636e070a38bce737");
}

TEST(Mac, hashes_are_known_by_the_names_of_headers) {
  EXPECT_EQ(mac_hash("sha512"), MacHash::Sha512);
  EXPECT_EQ(mac_hash("SHA512"), std::nullopt);
  EXPECT_EQ(mac_hash("sha1"), std::nullopt);
}

TEST(Mac, secrets_are_the_same_when_every_byte_is) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_TRUE(is_same_secret("", ""));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "ab"));
}

}  // namespace
}  // namespace slipway
