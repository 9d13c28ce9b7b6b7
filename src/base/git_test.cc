#include "base/git.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(GitCredentials, are_read_by_the_keys_of_flux_and_weave) {
  const auto https = GitCredentials::of_secret({{"username", "bot"}, {"password", "p"}, {"token", "t"}, {"caFile", "pem"}});
  EXPECT_EQ(https.username, "bot");
  EXPECT_EQ(https.password, "p");
  EXPECT_EQ(https.ca_bundle, "pem");
  EXPECT_EQ(GitCredentials::of_secret({{"token", "t"}}).password, "t");
  const auto ssh =
      GitCredentials::of_secret({{"identity", "key"}, {"known_hosts", "hosts"}, {"password", "p"}, {"identity.pub", "x"}});
  EXPECT_EQ(ssh.ssh_private_key, "key");
  EXPECT_EQ(ssh.ssh_passphrase, "p");
  EXPECT_EQ(ssh.known_hosts, "hosts");
  EXPECT_TRUE(ssh.password.empty());
}

}  // namespace
}  // namespace slipway
