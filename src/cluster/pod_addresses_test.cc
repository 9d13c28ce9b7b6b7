#include "cluster/pod_addresses.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::cluster {
namespace {

TEST(PodAddresses, differ_from_each_other_and_from_the_machine_s_own) {
  PodAddresses addresses(127);
  std::set<std::string> seen;
  for (int i = 0; i < 20'000; ++i) {
    const std::string address = addresses.take("uid-" + std::to_string(i));
    EXPECT_TRUE(address.starts_with("127.")) << address;
    EXPECT_NE(address, "127.0.0.1");
    EXPECT_TRUE(seen.insert(address).second) << address << " was given out twice";
  }
}

TEST(PodAddresses, stay_with_their_pod_until_released) {
  PodAddresses addresses(127);
  const std::string first = addresses.take("a");
  EXPECT_EQ(addresses.take("a"), first);
  EXPECT_EQ(addresses.find("a"), first);
  addresses.release("a");
  EXPECT_EQ(addresses.find("a"), "");
}

TEST(PodAddresses, are_not_given_out_again_after_a_restart) {
  const std::string liked = PodAddresses(127).take("a");
  PodAddresses addresses(127);
  addresses.keep("older", liked);
  EXPECT_EQ(addresses.find("older"), liked);
  EXPECT_NE(addresses.take("a"), liked);
}

TEST(PodAddresses, leave_alone_what_is_no_address_of_theirs) {
  PodAddresses addresses(127);
  for (const char* text :
       {"", "127.0.0.1", "10.200.0.1", "127.200.0.0", "127.200.0.256", "127.200.0", "127.200.0.1.2", "pod"}) {
    addresses.keep("a", text);
    EXPECT_EQ(addresses.find("a"), "") << text;
  }
  addresses.keep("a", "127.255.255.254");
  EXPECT_EQ(addresses.find("a"), "127.255.255.254");
}

}  // namespace
}  // namespace slipway::cluster
