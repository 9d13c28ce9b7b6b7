#include "git/trust.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "git/test_repository.h"

namespace slipway::git {
namespace {

const std::string kKey = "the bytes of a key";

std::string line(const std::string& host, const std::string& type = "ssh-ed25519") {
  return host + " " + type + " " + base64_encode(kKey) + " a comment\n";
}

bool is_known(const std::string& text, const std::string& host, int port = 22) {
  return is_known_host(text, host, port, "ssh-ed25519", kKey);
}

TEST(KnownHosts, a_host_is_known_by_name_port_and_key) {
  EXPECT_TRUE(is_known(line("example.org"), "example.org"));
  EXPECT_TRUE(is_known("# comment\n\n" + line("other,example.org"), "example.org"));
  EXPECT_TRUE(is_known(line("[example.org]:2222"), "example.org", 2222));
  EXPECT_TRUE(is_known(line("*.example.org,!bad.example.org"), "a.example.org"));
  EXPECT_FALSE(is_known(line("*.example.org,!bad.example.org"), "bad.example.org"));
  EXPECT_FALSE(is_known(line("example.org"), "example.org", 2222));
  EXPECT_FALSE(is_known(line("example.org", "ssh-rsa"), "example.org"));
  EXPECT_FALSE(is_known_host(line("example.org"), "example.org", 22, "ssh-ed25519", "another key"));
  EXPECT_FALSE(is_known("@cert-authority " + line("example.org"), "example.org"));
  EXPECT_FALSE(is_known("", "example.org"));
}

TEST(KnownHosts, a_revoked_key_is_not_known_wherever_the_line_stands) {
  EXPECT_FALSE(is_known(line("example.org") + "@revoked " + line("*"), "example.org"));
}

/// Made with `ssh-keygen -H` so that the hash is the one that OpenSSH writes.
TEST(KnownHosts, hashed_names_are_those_of_ssh_keygen) {
  const TemporaryFolder folder;
  const std::string file = folder / "known_hosts";
  shell("ssh-keygen -q -t ed25519 -N '' -f " + folder / "key");
  const std::string key = shell("cut -d' ' -f2 " + folder / "key.pub");
  shell("printf '[example.org]:2222 ssh-ed25519 %s\\n' " + key + " > " + file + " && ssh-keygen -q -H -f " + file);
  std::string bytes;
  ASSERT_TRUE(base64_decode(key, bytes));
  const std::string text = shell("cat " + file);
  ASSERT_TRUE(text.starts_with("|1|")) << text;
  EXPECT_TRUE(is_known_host(text, "example.org", 2222, "ssh-ed25519", bytes));
  EXPECT_FALSE(is_known_host(text, "example.org", 22, "ssh-ed25519", bytes));
}

TEST(Certificate, is_checked_against_the_bundle_and_the_hosts_name) {
  const TemporaryFolder folder;
  shell("cd " + folder.path() +
        " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj "
        "/CN=ca "
        "&& openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key -out s.csr -subj /CN=s "
        "&& printf 'subjectAltName=DNS:git.example.org,IP:127.0.0.1\\n' > s.ext "
        "&& openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile s.ext -out s.pem "
        "&& openssl x509 -in s.pem -outform DER -out s.der");
  const std::string ca = shell("cat " + folder / "ca.pem");
  std::ifstream in(folder / "s.der", std::ios::binary);
  const std::string der(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(check_certificate(ca, der, "git.example.org"));
  EXPECT_TRUE(check_certificate(ca, der, "127.0.0.1"));
  EXPECT_EQ(check_certificate(ca, der, "example.org").error().reason, Reason::Unauthorized);
  EXPECT_EQ(check_certificate("nonsense", der, "git.example.org").error().reason, Reason::BadRequest);
  const std::string other =
      shell("cd " + folder.path() +
            " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -out "
            "o.pem -days 2 -subj /CN=o 2>/dev/null && cat o.pem");
  EXPECT_EQ(check_certificate(other, der, "git.example.org").error().reason, Reason::Unauthorized);
}

}  // namespace
}  // namespace slipway::git
