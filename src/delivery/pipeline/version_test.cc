#include "delivery/pipeline/version.h"

#include <gtest/gtest.h>

namespace slipway::delivery::pipeline {
namespace {

TEST(Version, precedence_is_that_of_semver_and_ignores_build_metadata) {
  const char* const rising[] = {"1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                                "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
                                "1.0.1",        "v1.1.0+zz.1",   "1.10.0",           "2"};
  for (std::size_t i = 0; i + 1 < std::size(rising); ++i) {
    EXPECT_LT(*Semver::parse(rising[i]), *Semver::parse(rising[i + 1])) << rising[i];
    EXPECT_EQ(order(rising[i], rising[i + 1]), Order::Newer) << rising[i];
    EXPECT_EQ(order(rising[i + 1], rising[i]), Order::Older) << rising[i];
  }
  EXPECT_EQ(*Semver::parse("1.0.0+a"), *Semver::parse("v1.0.0+b"));
  EXPECT_EQ(Semver::parse("v1.2-rc.1+x")->to_string(), "1.2.0-rc.1");
}

TEST(Version, what_is_no_version_is_none) {
  for (const char* text : {"", "v", "main", "1.2.3.4", "1..2", "1.2.3-", "1.2.3-a..b", "1.2.3+", "1.2.x",
                           "99999999999999999999.0.0", "1.2.3-ü", "-1.0.0"}) {
    EXPECT_FALSE(Semver::parse(text)) << text;
  }
}

TEST(Version, ranges_hold_as_helm_reads_them) {
  struct Case {
    const char* range;
    const char* version;
    bool holds;
  };
  const Case cases[] = {
      {"", "1.2.3", true},
      {"*", "0.0.1", true},
      {"*", "1.0.0-rc.1", false},
      {"1.x", "1.9.0", true},
      {"1.x", "2.0.0", false},
      {"1.2.*", "1.2.9", true},
      {"1.2.*", "1.3.0", false},
      {">=1.0.0 <2.0.0", "1.5.0", true},
      {">=1.0.0, <2.0.0", "2.0.0", false},
      {"> 1.0.0", "1.0.0", false},
      {">1.1", "1.1.9", false},
      {">1.1", "1.2.0", true},
      {"<=1.2", "1.2.7", true},
      {"<1.2", "1.2.0", false},
      {"~1.2.3", "1.2.9", true},
      {"~1.2.3", "1.3.0", false},
      {"~1", "1.9.0", true},
      {"^1.2.3", "1.9.9", true},
      {"^1.2.3", "2.0.0", false},
      {"^0.2.3", "0.2.9", true},
      {"^0.2.3", "0.3.0", false},
      {"^0.0.3", "0.0.4", false},
      {"^0", "0.9.0", true},
      {"1.2 - 2.3.4", "2.3.4", true},
      {"1.2 - 2.3.4", "2.3.5", false},
      {"<1.0.0 || >=2.0.0", "2.1.0", true},
      {"<1.0.0 || >=2.0.0", "1.5.0", false},
      {"!=1.2.3", "1.2.3", false},
      {"!=1.2.3", "1.2.4", true},
      {">=1.0.0-0", "1.1.0-rc.1", true},
      {">=1.0.0", "1.1.0-rc.1", false},
      {">=1.0.0-0", "1.0.0", true},
      {"=1.2.3", "1.2.3+b.1", true},
  };
  for (const Case& one : cases) {
    const auto range = Range::parse(one.range);
    ASSERT_TRUE(range) << one.range;
    EXPECT_EQ(range->is_satisfied_by(*Semver::parse(one.version)), one.holds) << one.range << " " << one.version;
  }
  for (const char* text : {"latest", ">", "1.2.3 - ", "=>=1.0.0", "<*", "1.0.0 || x.y", "{1.0.0}"})
    EXPECT_FALSE(Range::parse(text)) << text;
}

TEST(Version, revisions_of_sources_are_read_in_all_their_forms) {
  const std::string sha1(40, 'a');
  const auto check = [](std::string_view text, std::string_view name, std::string_view digest) {
    const SourceRevision read = SourceRevision::parse(text);
    EXPECT_EQ(read.name, name) << text;
    EXPECT_EQ(read.digest, digest) << text;
  };
  check("main@sha1:" + sha1, "main", "sha1:" + sha1);
  check("v1.0.1@sha1:" + sha1, "v1.0.1", "sha1:" + sha1);
  check("sha256:0123", "", "sha256:0123");
  check("feature/x/" + sha1, "feature/x", "sha1:" + sha1);
  check("feature/x", "feature/x", "");
  check("1.0.0", "1.0.0", "");
}

TEST(Version, digests_decide_what_is_the_same) {
  EXPECT_EQ(order("1.0.0+a1e7a997235b", "1.0.0+a1e7a997235b"), Order::Same);
  EXPECT_EQ(order("1.0.0", "1.0.0+a1e7a997235b", "sha256:a1e7a997235bffff"), Order::Same);
  EXPECT_EQ(order("1.0.0+a1e7a997235b", "1.0.0+b2e7a997235b"), Order::Drifted);
  EXPECT_EQ(order("1.0.0", "1.0.0", "sha256:aaaaaaaa", "sha256:bbbbbbbb"), Order::Drifted);
  EXPECT_EQ(order("1.5.0+build.7", "1.5.0+build.8"), Order::Drifted);
  EXPECT_EQ(order("main@sha1:aaaaaaaa", "main@sha1:bbbbbbbb"), Order::Unknown);
  EXPECT_EQ(order("main@sha1:aaaaaaaa", "release@sha1:aaaaaaaa"), Order::Same);
  EXPECT_EQ(order("v1.0.0@sha1:aaaaaaaa", "v1.1.0@sha1:bbbbbbbb"), Order::Newer);
  EXPECT_EQ(digest_in("1.5.0+build.7"), "");
  EXPECT_EQ(digest_in("1.5.0+1.a1e7a997235b"), "a1e7a997235b");
  EXPECT_FALSE(is_same_digest("sha1:aaaaaaaa", "sha256:aaaaaaaa"));
  EXPECT_FALSE(is_same_digest("aaa", "aaa"));
}

TEST(Version, a_version_satisfies_what_is_written_or_in_the_range) {
  EXPECT_TRUE(is_satisfied("1.5.0", "1.5.0+a1e7a997235b"));
  EXPECT_TRUE(is_satisfied("1.5.0+build.7", "1.5.0+build.7"));
  EXPECT_FALSE(is_satisfied("1.5.0+build.7", "1.5.0+build.8"));
  EXPECT_TRUE(is_satisfied(">=1.0.0", "2.0.0"));
  EXPECT_TRUE(is_satisfied("*", "2.0.0"));
  EXPECT_FALSE(is_satisfied("9.9.9", "1.0.0"));
  EXPECT_FALSE(is_satisfied("1.0.0", "1.0.0-rc.1"));
  EXPECT_FALSE(is_satisfied("1.0.0", ""));
}

}  // namespace
}  // namespace slipway::delivery::pipeline
