#include "delivery/package/digest.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kHead = "apiVersion: kpt.dev/v1\nkind: Kptfile # of a\nmetadata:\n  name: a\n";
constexpr std::string_view kStatus = "status:\n  conditions:\n  - type: ipam\n    status: \"True\"\n\n  # more\n";
constexpr std::string_view kInfo = "info:\n  description: |\n    status: not this one\n";

std::string text(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts) out += part;
  return out;
}

TEST(PackageDigest, the_form_is_what_the_header_says) {
  const std::string lines = text({"a.yaml", std::string_view("\0", 1), sha256_hex("x"), "\n"});
  EXPECT_EQ(content_digest({{"a.yaml", "x"}}), "sha256:" + sha256_hex(lines));
  EXPECT_EQ(content_digest({}), "sha256:" + sha256_hex(""));
}

TEST(PackageDigest, every_byte_and_every_path_counts) {
  const Files files{{"Kptfile", text({kHead, kInfo})}, {"a.yaml", "a: 1\n"}, {"b/c.bin", std::string("\0\r\n\xff", 4)}};
  const std::string digest = content_digest(files);
  const auto changed = [&](const std::string& path, const std::string& bytes) {
    Files other = files;
    other[path] = bytes;
    return content_digest(other);
  };
  EXPECT_EQ(changed("a.yaml", "a: 1\n"), digest);
  EXPECT_NE(changed("a.yaml", "a: 1\r\n"), digest);
  EXPECT_NE(changed("b/c.bin", std::string("\0\r\n\xfe", 4)), digest);
  EXPECT_NE(changed("new", ""), digest);
  Files moved = files;
  moved.erase("a.yaml");
  moved["a2.yaml"] = "a: 1\n";
  EXPECT_NE(content_digest(moved), digest);
}

TEST(PackageDigest, the_status_of_the_kptfile_does_not_count_wherever_it_stands) {
  const std::string plain = text({kHead, kInfo});
  const std::string digest = content_digest({{"Kptfile", plain}});
  for (const std::string& kptfile :
       {text({kHead, kStatus, kInfo}), text({kHead, kInfo, kStatus}), text({kStatus, kHead, kInfo}),
        text({kHead, "status: {conditions: []}\n", kInfo}), text({kHead, "'status':\n  conditions: []\n", kInfo}),
        text({kHead, kInfo, "status:\n  conditions: []"})}) {
    EXPECT_EQ(without_status(kptfile), plain);
    EXPECT_EQ(content_digest({{"Kptfile", kptfile}}), digest) << kptfile;
  }
  EXPECT_NE(content_digest({{"Kptfile", text({kHead, "statusx: 1\n", kInfo})}}), digest);
  EXPECT_NE(content_digest({{"Kptfile", text({kHead, kInfo, "# said\n"})}}), digest);
}

TEST(PackageDigest, line_ends_of_other_systems_are_kept) {
  EXPECT_EQ(without_status("kind: Kptfile\r\nstatus:\r\n  conditions: []\r\ninfo: {}\r\n"), "kind: Kptfile\r\ninfo: {}\r\n");
}

TEST(PackageDigest, flow_style_counts_by_value) {
  const std::string with = "{kind: Kptfile, status: {conditions: [{type: a, status: \"True\"}]}, info: {site: x}}\n";
  const std::string other = "{kind: Kptfile, info: {site: x}, status: {conditions: []}}\n";
  EXPECT_EQ(without_status(with), "{\"info\":{\"site\":\"x\"},\"kind\":\"Kptfile\"}");
  EXPECT_EQ(without_status(with), without_status(other));
}

TEST(PackageDigest, what_is_no_yaml_counts_as_bytes) {
  for (const char* bytes : {"", "\tstatus: [", "just text", "status"}) EXPECT_EQ(without_status(bytes), bytes);
}

TEST(PackageDigest, only_the_kptfile_of_the_root_is_special) {
  const std::string with = text({kHead, kStatus});
  EXPECT_NE(content_digest({{"sub/Kptfile", with}}), content_digest({{"sub/Kptfile", std::string(kHead)}}));
}

TEST(PackageDigest, a_scope_is_the_files_its_patterns_match) {
  const Files files{{"Kptfile", std::string(kHead)}, {"net/ip.yaml", "a"}, {"net/deep/vlan.yaml", "b"}, {"app.yaml", "c"}};
  const std::vector<std::string> net{"net/**"};
  Files other = files;
  other["app.yaml"] = "d";
  EXPECT_EQ(scope_digest(files, net), scope_digest(other, net));
  other["net/deep/vlan.yaml"] = "e";
  EXPECT_NE(scope_digest(files, net), scope_digest(other, net));
  EXPECT_EQ(scope_digest(files, std::vector<std::string>{"**"}), content_digest(files));
  EXPECT_EQ(scope_digest(files, std::vector<std::string>{"none"}), content_digest({}));
}

struct GlobRow {
  const char* pattern;
  const char* path;
  bool matches;
};

TEST(PackageDigest, many_stars_cost_no_more_than_the_table) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "**/a";
  EXPECT_FALSE(matches_pattern(stars, std::string(400, 'a') + "b"));
}

TEST(PackageDigest, patterns_match_as_said) {
  for (const GlobRow& row :
       {GlobRow{"a.yaml", "a.yaml", true}, GlobRow{"*.yaml", "a.yaml", true}, GlobRow{"*.yaml", "b/a.yaml", false},
        GlobRow{"**/*.yaml", "b/c/a.yaml", true}, GlobRow{"**/*.yaml", "a.yaml", true}, GlobRow{"b/**", "b/c/a.yaml", true},
        GlobRow{"b/**", "bc", false}, GlobRow{"?.yaml", "a.yaml", true}, GlobRow{"b?a", "b/a", false},
        GlobRow{"**", "x/y", true}, GlobRow{"", "", true}, GlobRow{"", "a", false}, GlobRow{"b/*/a.yaml", "b/c/a.yaml", true},
        GlobRow{"b/*/a.yaml", "b/c/d/a.yaml", false}}) {
    EXPECT_EQ(matches_pattern(row.pattern, row.path), row.matches) << row.pattern << " " << row.path;
  }
}

}  // namespace
}  // namespace slipway::delivery::package
