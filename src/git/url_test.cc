#include "git/url.h"

#include <gtest/gtest.h>

namespace slipway::git {
namespace {

std::string shown(const std::string& text) {
  const auto url = Url::parse(text);
  return url ? url->shown() : url.error().message;
}

TEST(Url, reads_the_forms_that_git_knows) {
  EXPECT_EQ(shown("/srv/git/app.git"), "/srv/git/app.git");
  EXPECT_EQ(shown("file:///srv/git/my%20app.git"), "/srv/git/my app.git");
  EXPECT_EQ(shown("https://example.org/team/app.git"), "https://example.org/team/app.git");
  EXPECT_EQ(shown("http://127.0.0.1:8080/app.git"), "http://127.0.0.1:8080/app.git");
  EXPECT_EQ(shown("ssh://git@example.org:2222/app.git"), "ssh://example.org:2222/app.git");
  EXPECT_EQ(shown("git@example.org:team/app.git"), "ssh://example.org/team/app.git");
  EXPECT_EQ(shown("ssh://git@[::1]:22/app.git"), "ssh://[::1]:22/app.git");
  EXPECT_EQ(Url::parse("git@example.org:team/app.git")->text(), "ssh://git@example.org/team/app.git");
  EXPECT_EQ(Url::parse("https://me@example.org/x")->text(), "https://example.org/x");
}

TEST(Url, refuses_what_could_run_programs_or_hold_secrets_and_names_no_secret) {
  for (const char* text : {"",
                           "app",
                           "../app.git",
                           "ext::sh -c touch% /tmp/x",
                           "ext::sh",
                           "ext::ssh://a/b",
                           "git://example.org/app",
                           "ftp://example.org/x",
                           "ssh://-oProxyCommand=x/app",
                           "-oProxyCommand=x:app",
                           "https://example.org",
                           "https://example.org/",
                           "https:///x",
                           "https://exa mple.org/x",
                           "https://example.org/a\nb",
                           "https://example.org:99999999/x",
                           "https://example.org/a/../b",
                           "git@example.org:../b",
                           "https://ex$ample.org/x",
                           "https://example.org/x?token=1",
                           "https://example.org/x#y",
                           "fd::17",
                           "/srv/a\x01"}) {
    const auto url = Url::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().reason, Reason::BadRequest) << text;
  }
  const auto secret = Url::parse("https://me:hunter2@example.org/x");
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().message, "git URL: it holds a password; give it as credentials instead (a Secret)");
}

TEST(Url, knows_loopback_addresses) {
  EXPECT_TRUE(Url::parse("http://127.0.0.1:1/x")->is_loopback());
  EXPECT_TRUE(Url::parse("http://[::1]:1/x")->is_loopback());
  EXPECT_FALSE(Url::parse("http://example.org/x")->is_loopback());
}

TEST(Names, references_lie_below_heads_or_tags_and_are_well_formed) {
  for (const char* ref : {"refs/heads/main", "refs/heads/promotion-a-b-c", "refs/tags/pkg/v1"})
    EXPECT_TRUE(check_ref(ref)) << ref;
  for (const char* ref :
       {"", "main", "HEAD", "refs/notes/x", "refs/heads/", "refs/heads/a..b", "refs/heads/../x", "refs/heads/a b",
        "refs/heads/a\nb", "refs/heads/a.lock", "refs/heads/-x", "refs/heads/a:b", "refs/heads/a//b"}) {
    EXPECT_FALSE(check_ref(ref)) << ref;
  }
}

TEST(Names, paths_stay_inside_the_tree_on_every_file_system) {
  for (const char* path : {"a", "a/b.yaml", ".github/x", "a/.gitignore", "ä/ö", ".gitmodules", "a b"}) {
    EXPECT_TRUE(check_path(path)) << path;
  }
  for (const char* path :
       {"", "/etc/passwd", "a//b", "a/", "../x", "a/../b", "./a", ".git/config", "a/.GIT/hooks/x", ".git /x", ".git./x",
        "git~1/x", ".g\xe2\x80\x8cit/config", ".git::$INDEX_ALLOCATION/x", "a\\b", "a\nb", "a\x7f"}) {
    EXPECT_FALSE(check_path(path)) << path;
  }
}

TEST(Names, ids_are_whole) {
  EXPECT_TRUE(check_id("0123456789abcdef0123456789abcdef01234567"));
  for (const char* id :
       {"", "HEAD", "0123456", "0123456789ABCDEF0123456789abcdef01234567", "0123456789abcdef0123456789abcdef012345678"}) {
    EXPECT_FALSE(check_id(id)) << id;
  }
}

}  // namespace
}  // namespace slipway::git
