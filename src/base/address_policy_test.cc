#include "base/address_policy.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

Result<void> check(const AddressPolicy& policy, std::string_view address, std::uint16_t port = 80) {
  const auto bytes = parse_address(address);
  EXPECT_TRUE(bytes) << address;
  return policy.check(bytes.value_or(AddressBytes{}), port);
}

TEST(AddressPolicy, RefusesWhatMeansThisMachineOrItsLink) {
  const AddressPolicy policy;
  for (const char* address : {"127.0.0.1", "127.128.0.1", "0.0.0.0", "0.1.2.3", "169.254.169.254", "::", "::1", "fe80::1",
                              "febf::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
                              "2002:7f00:1::", "fd00:ec2::254", "100.100.100.200"}) {
    const auto checked = check(policy, address);
    ASSERT_FALSE(checked) << address;
    EXPECT_EQ(checked.error().reason, Reason::Forbidden) << address;
  }
}

TEST(AddressPolicy, LetsOtherAddressesBeCalled) {
  const AddressPolicy policy;
  for (const char* address : {"10.0.0.1", "192.168.1.1", "128.0.0.1", "126.255.255.255", "169.253.0.1", "1.1.1.1", "fec0::1",
                              "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fd00::1"}) {
    EXPECT_TRUE(check(policy, address)) << address;
  }
}

TEST(AddressPolicy, SaysHowAnAddressIsAllowed) {
  const AddressPolicy policy;
  EXPECT_EQ(check(policy, "::ffff:127.0.0.1", 9911).error().message,
            "127.0.0.1:9911 is loopback: not called for users. --allow-outgoing 127.0.0.1:9911 allows it");
  EXPECT_EQ(check(policy, "::1", 80).error().message,
            "[::1]:80 is loopback: not called for users. --allow-outgoing [::1]:80 allows it");
}

TEST(AddressPolicy, AllowsWhatIsNamed) {
  AddressPolicy policy;
  for (const char* text : {"127.0.0.1:9090", "[::1]:9091", "169.254.0.0/16", "127.128.0.0/9"})
    EXPECT_TRUE(policy.allow(text)) << text;
  EXPECT_TRUE(check(policy, "127.0.0.1", 9090));
  EXPECT_TRUE(check(policy, "::ffff:127.0.0.1", 9090));
  EXPECT_FALSE(check(policy, "127.0.0.1", 9091));
  EXPECT_TRUE(check(policy, "::1", 9091));
  EXPECT_FALSE(check(policy, "::1", 9090));
  EXPECT_TRUE(check(policy, "169.254.169.254"));
  EXPECT_TRUE(check(policy, "127.128.0.1"));
  EXPECT_TRUE(check(policy, "127.255.255.254"));
  EXPECT_FALSE(check(policy, "127.127.255.255"));
}

TEST(AddressPolicy, LocalhostIsLoopbackOfBothFamilies) {
  AddressPolicy policy;
  ASSERT_TRUE(policy.allow("localhost:8080"));
  EXPECT_TRUE(check(policy, "127.0.0.1", 8080));
  EXPECT_TRUE(check(policy, "::1", 8080));
  EXPECT_FALSE(check(policy, "::1", 8081));
}

TEST(AddressPolicy, RefusesExceptionsThatCannotBeRead) {
  AddressPolicy policy;
  for (const char* text : {"", ":", ":80", "x", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "10.0.0.0/33",
                           "::1/129", "10.0.0.0/", "[", "[]", "[::1", "[::1]x", "10.0.0.0/8/8", "example.org"}) {
    const auto allowed = policy.allow(text);
    ASSERT_FALSE(allowed) << text;
    EXPECT_EQ(allowed.error().reason, Reason::BadRequest) << text;
  }
}

TEST(AddressPolicy, RefusesListenersOfThisProcess) {
  AddressPolicy policy;
  policy.refuse_listener(*parse_address("10.0.0.5"), 6443, {});
  EXPECT_FALSE(check(policy, "10.0.0.5", 6443));
  EXPECT_TRUE(check(policy, "10.0.0.5", 6444));
  policy.refuse_listener(*parse_address("0.0.0.0"), 7443, {*parse_address("10.0.0.6"), *parse_address("fd00::6")});
  EXPECT_FALSE(check(policy, "10.0.0.6", 7443));
  EXPECT_FALSE(check(policy, "fd00::6", 7443));
  EXPECT_TRUE(check(policy, "10.0.0.7", 7443));
  ASSERT_TRUE(policy.allow("10.0.0.6:7443"));
  EXPECT_TRUE(check(policy, "10.0.0.6", 7443));
}

}  // namespace
}  // namespace slipway
