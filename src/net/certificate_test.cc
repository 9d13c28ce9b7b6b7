#include "net/certificate.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "net/jwt.h"
#include "net/tls.h"

namespace slipway::net {
namespace {

constexpr Time kNow{std::chrono::seconds{1'800'000'000}};

TEST(Certificate, an_authority_issues_for_servers_and_clients) {
  const KeyPair authority = make_authority("slipway-ca", kNow);
  const auto about_authority = describe(authority.certificate_pem);
  ASSERT_TRUE(about_authority);
  EXPECT_TRUE(about_authority->is_authority);
  EXPECT_EQ(about_authority->common_name, "slipway-ca");
  EXPECT_EQ(about_authority->not_before, kNow - std::chrono::minutes{1});

  const auto server = issue(
      authority, {.common_name = "kubernetes", .names = server_names({"10.0.0.1", "localhost", "api.example"}), .now = kNow});
  ASSERT_TRUE(server);
  const auto about_server = describe(server->certificate_pem);
  ASSERT_TRUE(about_server);
  EXPECT_EQ(about_server->names, (std::vector<std::string>{"127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default",
                                                           "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
                                                           "10.0.0.1", "api.example"}));
  EXPECT_FALSE(about_server->is_authority);
  EXPECT_EQ(about_server->not_after, kNow + std::chrono::hours{24 * 365});

  const auto client = issue(authority, {.common_name = "admin",
                                        .organizations = {"system:masters", "dev"},
                                        .use = CertificateRequest::Use::client,
                                        .now = kNow,
                                        .validity = std::chrono::hours{1}});
  ASSERT_TRUE(client);
  const auto about_client = describe(client->certificate_pem);
  ASSERT_TRUE(about_client);
  EXPECT_EQ(about_client->common_name, "admin");
  EXPECT_EQ(about_client->organizations, (std::vector<std::string>{"system:masters", "dev"}));
  EXPECT_EQ(about_client->sha256.size(), 64U);
  EXPECT_NE(about_client->sha256, about_server->sha256);
}

TEST(Certificate, refuses_names_and_texts_it_cannot_use) {
  const KeyPair authority = make_authority("slipway-ca", kNow);
  for (const std::string& name : {std::string("a,DNS:b"), std::string(), std::string("a b"), std::string(254, 'a')}) {
    EXPECT_FALSE(issue(authority, {.common_name = "x", .names = {name}, .now = kNow})) << name;
  }
  EXPECT_FALSE(issue(authority, {.common_name = std::string(100, 'a'), .now = kNow}));
  EXPECT_FALSE(read_certificates(""));
  EXPECT_FALSE(read_certificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_FALSE(read_certificates(authority.certificate_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_EQ(read_certificates(authority.certificate_pem + authority.certificate_pem)->size(), 2U);
  EXPECT_FALSE(read_key(authority.certificate_pem));
  const KeyPair other = make_authority("other", kNow);
  EXPECT_FALSE(
      TlsContext::server({.certificate_pem = authority.certificate_pem, .key_pem = other.key_pem, .client_authority_pem = ""}));
}

TEST(Jwt, is_believed_only_as_it_was_signed) {
  const std::string key = make_signing_key();
  const std::string other = make_signing_key();
  const auto token = sign_token(key, R"({"sub":"system:serviceaccount:default:x"})");
  ASSERT_TRUE(token);
  EXPECT_EQ(verify_token({other, *public_key(key)}, *token), R"({"sub":"system:serviceaccount:default:x"})");
  EXPECT_EQ(verify_token({key}, *token), R"({"sub":"system:serviceaccount:default:x"})");
  EXPECT_EQ(verify_token({other}, *token).error().reason, Reason::Unauthorized);
  EXPECT_EQ(verify_token({}, *token).error().reason, Reason::Unauthorized);
  EXPECT_NE(*key_id(key), *key_id(other));
  EXPECT_EQ(*key_id(key), *key_id(*public_key(key)));

  const std::string claims = base64url_encode(R"({"sub":"admin"})");
  const std::string head = token->substr(0, token->find('.'));
  const std::string signature = token->substr(token->rfind('.'));
  const std::string none = base64url_encode(R"({"alg":"none"})");
  for (const std::string& forged :
       {head + "." + claims + signature, none + "." + claims + ".", none + "." + claims, std::string("a.b.c"),
        std::string("..") + std::string(86, 'A'), *token + "A", std::string()}) {
    EXPECT_EQ(verify_token({key}, forged).error().reason, Reason::Unauthorized) << forged;
  }
}

}  // namespace
}  // namespace slipway::net
