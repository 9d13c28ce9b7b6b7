#include "kube/names.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::kube {
namespace {

TEST(Names, are_refused_in_upstreams_words) {
  EXPECT_EQ(joined(dns1123_label_faults("My_App")),
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
            "an alphanumeric "
            "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  EXPECT_EQ(joined(dns1123_label_faults("a.b")), "must not contain dots");
  EXPECT_EQ(joined(dns1123_subdomain_faults("a..b")),
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
            "end with an "
            "alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  EXPECT_EQ(joined(label_value_faults(std::string(64, 'a'))), "must be no more than 63 characters");
  EXPECT_EQ(joined(qualified_name_faults("/a")), "prefix part must be non-empty");
  EXPECT_EQ(joined(qualified_name_faults("a/")),
            "name part must be non-empty; name part must consist of alphanumeric characters, '-', '_' or '.', and must start "
            "and end with an "
            "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
}

TEST(Names, of_labels_give_causes_with_their_path) {
  const auto causes = label_causes(json::parse(R"({"a b":"x","c":"-"})").value(), "metadata.labels");
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].field, "metadata.labels");
  EXPECT_TRUE(causes[0].message.starts_with("Invalid value: \"a b\": name part must consist of"));
  EXPECT_TRUE(causes[1].message.starts_with("Invalid value: \"-\": a valid label must be an empty string or consist of"));
}

TEST(Names, of_annotations_may_have_capitals_but_not_any_size) {
  EXPECT_TRUE(annotation_causes(json::parse(R"({"Example.com/Key":"anything at all"})").value(), "a").empty());
  const auto causes = annotation_causes(json::object({{"k", json::Value(std::string(300000, 'x'))}}), "a");
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].message, "Too long: may not be more than 262144 bytes");
}

}  // namespace
}  // namespace slipway::kube
