#include "delivery/probe/aws_signature.h"

#include <gtest/gtest.h>

namespace slipway::delivery::probe {
namespace {

// The case "get-vanilla" of the test suite that AWS publishes for Signature Version 4.
TEST(AwsSignature, signs_as_the_published_example) {
  HttpCall call{.url = "https://example.amazonaws.com/"};
  sign_for_aws(call,
               {.key_id = "AKIDEXAMPLE",
                .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                .region = "us-east-1",
                .service = "service"},
               parse_rfc3339("2015-08-30T12:36:00Z").value());
  EXPECT_EQ(call.headers.get("X-Amz-Date"), "20150830T123600Z");
  EXPECT_EQ(call.headers.get("Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, covers_body_headers_and_session) {
  const auto signature = [](const std::string& body, const std::string& token) {
    HttpCall call{.url = "https://m.test", .method = "POST", .body = body};
    call.headers.set("Content-Type", "application/x-amz-json-1.0");
    sign_for_aws(call, {.key_id = "A", .secret = "B", .session_token = token, .region = "r", .service = "s"}, Time{});
    return std::string(call.headers.get("Authorization"));
  };
  EXPECT_TRUE(signature("{}", "").contains("SignedHeaders=content-type;host;x-amz-date, "));
  EXPECT_TRUE(signature("{}", "T").contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "));
  EXPECT_NE(signature("{}", ""), signature("[]", ""));
}

}  // namespace
}  // namespace slipway::delivery::probe
