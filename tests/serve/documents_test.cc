// OpenAPI documents and metrics.
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using Documents = WireTest;

TEST_F(Documents, the_index_of_openapi_v3_leads_to_documents_by_hash) {
  serve([this]() -> Task<> {
    const Value index = (co_await get("/openapi/v3")).json();
    const std::string relative = index["paths"]["apis/batch/v1"]["serverRelativeURL"].str();
    EXPECT_TRUE(relative.starts_with("/openapi/v3/apis/batch/v1?hash="));
    const Heard document = co_await get(relative);
    EXPECT_EQ(document.status, 200);
    EXPECT_TRUE(document.json()["paths"].has("/apis/batch/v1/namespaces/{namespace}/jobs"));
    EXPECT_TRUE((co_await get("/openapi/v3/api/v1")).json()["components"].has("schemas"));
    EXPECT_EQ((co_await get("/openapi/v3/apis/nobody/v1")).status, 404);
    EXPECT_EQ((co_await get("/openapi/v4")).status, 404);
  });
}

TEST_F(Documents, a_new_definition_has_a_document_at_once) {
  serve([this]() -> Task<> {
    co_await define_widgets();
    const Heard document = co_await get("/openapi/v3/apis/example.com/v1");
    EXPECT_EQ(document.status, 200);
    EXPECT_TRUE(document.body.contains("\"size\""));
  });
}

TEST_F(Documents, openapi_v2_is_told_as_json_and_as_protobuf) {
  serve([this]() -> Task<> {
    EXPECT_EQ((co_await get("/openapi/v2")).json()["swagger"].as_string(), "2.0");
    const Heard bytes = co_await get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    EXPECT_EQ(bytes.status, 200);
    EXPECT_EQ(bytes.header("Content-Type"), "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    http::Headers again = accepting("application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    again.add("If-None-Match", bytes.header("ETag"));
    EXPECT_EQ((co_await send("GET", "/openapi/v2", "", again)).status, 304);
    EXPECT_EQ((co_await get("/openapi/v2", "text/html")).status, 406);
  });
}

TEST_F(Documents, metrics_count_requests_by_verb_resource_and_code) {
  serve([this]() -> Task<> {
    co_await get(kMaps);
    co_await get("/apis/made.up/v1/things");
    const std::string text = (co_await get("/metrics", "*/*")).body;
    EXPECT_TRUE(text.contains(
        R"(apiserver_request_total{verb="LIST",dry_run="",group="",version="v1",resource="configmaps",subresource="",code="200"} 1)"))
        << text;
    EXPECT_FALSE(text.contains("made.up"));
  });
}

}  // namespace
}  // namespace slipway::serve
