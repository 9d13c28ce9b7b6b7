#include "delivery/pipeline/credentials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/digest.h"

namespace slipway::delivery::pipeline {
namespace {

std::string kubeconfig(const std::string& user) {
  return fmt::format(
      "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: other, user: {{}}}}, "
      "{{name: "
      "u, user: {{{}}}}}]\n",
      user);
}

TEST(Credentials, a_token_tells_when_it_ends) {
  const auto token = [](const std::string& claims) {
    return "token: " + base64url_encode("{\"alg\":\"x\"}") + "." + base64url_encode(claims) + ".s";
  };
  const auto expiry = expiry_of(kubeconfig(token("{\"exp\":1767225600}")));
  ASSERT_TRUE(expiry.has_value());
  EXPECT_EQ(expiry->what, "token");
  EXPECT_EQ(to_rfc3339(expiry->at), "2026-01-01T00:00:00Z");
  EXPECT_FALSE(expiry_of(kubeconfig(token("{}"))));
  EXPECT_FALSE(expiry_of(kubeconfig("token: opaque")));
  EXPECT_FALSE(expiry_of(kubeconfig("client-certificate-data: bm90IGEgY2VydGlmaWNhdGU=")));
  EXPECT_FALSE(expiry_of("{"));
}

TEST(Credentials, the_three_keys_of_a_secret_are_read_in_order) {
  const auto secret = [](const std::string& data) {
    return json::object({{"data", json::object({{data, base64_encode("text of " + data)}})}});
  };
  for (const char* key : {"value", "value.yaml", "kubeconfig"}) {
    EXPECT_EQ(kubeconfig_in(secret(key)), fmt::format("text of {}", key));
  }
  EXPECT_EQ(kubeconfig_in(secret("token")), "");
  EXPECT_EQ(kubeconfig_in(json::object({{"data", json::object({{"value", ""}, {"kubeconfig", base64_encode("k")}})}})), "k");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
