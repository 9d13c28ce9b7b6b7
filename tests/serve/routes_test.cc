// What paths, methods and query parameters mean, and how errors are told.
#include "serve/route.h"
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using Routes = WireTest;

Route route(std::string_view path) { return route_of(*net::Target::split(path).segments()); }

TEST(Route, reads_a_namespace_as_a_place_and_as_a_resource) {
  const Route pod = route("/api/v1/namespaces/ns/pods/p/log");
  EXPECT_EQ(pod.ns, "ns");
  EXPECT_EQ(pod.resource.plural, "pods");
  EXPECT_EQ(pod.name, "p");
  EXPECT_EQ(pod.subresource, "log");
  const Route ns = route("/api/v1/namespaces/ns/finalize");
  EXPECT_EQ(ns.ns, "");
  EXPECT_EQ(ns.resource.plural, "namespaces");
  EXPECT_EQ(ns.name, "ns");
  EXPECT_EQ(ns.subresource, "finalize");
}

TEST(Route, reads_groups_and_the_deprecated_watch_form) {
  const Route jobs = route("/apis/batch/v1/watch/namespaces/ns/jobs/j/");
  EXPECT_TRUE(jobs.is_watch_prefixed);
  EXPECT_EQ(jobs.resource.group, "batch");
  EXPECT_EQ(jobs.name, "j");
  EXPECT_FALSE(route("/apis/batch/v1").is_resource);
  EXPECT_FALSE(route("/openapi/v3/apis/batch/v1").is_resource);
}

TEST_F(Routes, objects_are_created_read_changed_and_deleted) {
  serve([this]() -> Task<> {
    const Heard made = co_await send("POST", kMaps, config_map("a"));
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.json()["metadata"]["namespace"].as_string(), "default");
    EXPECT_EQ(made.header("Content-Type"), "application/json");
    EXPECT_EQ(made.header("Cache-Control"), "no-cache, private");
    EXPECT_EQ(made.header("Audit-Id").size(), 36U);
    const Heard patched = co_await send("PATCH", std::string(kMaps) + "/a", R"({"data":{"k":"2"}})",
                                        {{"Content-Type", "application/merge-patch+json"}});
    EXPECT_EQ(patched.status, 200);
    EXPECT_EQ((co_await get(std::string(kMaps) + "/a")).json()["data"]["k"].as_string(), "2");
    const Heard gone = co_await send("DELETE", std::string(kMaps) + "/a");
    EXPECT_EQ(gone.status, 200);
    EXPECT_EQ(gone.json()["status"].as_string(), "Success");
    EXPECT_EQ((co_await get(std::string(kMaps) + "/a")).status, 404);
  });
}

TEST_F(Routes, an_error_is_a_status_with_the_code_of_its_reason) {
  serve([this]() -> Task<> {
    const Heard missing = co_await get(std::string(kMaps) + "/missing");
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.json(), yaml(R"({kind: Status, apiVersion: v1, metadata: {}, status: Failure, reason: NotFound, code: 404,
        message: 'configmaps "missing" not found', details: {name: missing, kind: configmaps}})"));
    const Heard unknown = co_await get("/apis/example.com/v1/things");
    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(unknown.json()["message"].as_string(), "the server could not find the requested resource");
    const Heard twice = co_await send("PUT", kMaps, config_map("a"));
    EXPECT_EQ(twice.status, 405);
    EXPECT_EQ(twice.json()["reason"].as_string(), "MethodNotAllowed");
    EXPECT_EQ((co_await send("POST", "/api/v1/configmaps", config_map("a"))).status, 405);
    EXPECT_EQ((co_await get("/api/v1/namespaces/default/nodes")).status, 404);
    EXPECT_EQ((co_await get("/api/v1/%zz")).status, 400);
  });
}

TEST_F(Routes, a_body_that_cannot_be_understood_is_refused) {
  serve([this]() -> Task<> {
    const Heard type = co_await send("POST", kMaps, "x", {{"Content-Type", "application/cbor"}});
    EXPECT_EQ(type.status, 415);
    EXPECT_EQ(type.json()["reason"].as_string(), "UnsupportedMediaType");
    const Heard patch = co_await send("PATCH", std::string(kMaps) + "/a", "{}", {{"Content-Type", "application/json"}});
    EXPECT_EQ(patch.status, 415);
    EXPECT_EQ((co_await send("POST", kMaps, "{")).status, 400);
    const Heard yaml_body = co_await send("POST", kMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-yaml}}",
                                          {{"Content-Type", "application/yaml"}});
    EXPECT_EQ(yaml_body.status, 201);
  });
}

TEST_F(Routes, query_parameters_are_read_as_upstream_reads_them) {
  serve([this]() -> Task<> {
    const Heard limit = co_await get(std::string(kMaps) + "?limit=many");
    EXPECT_EQ(limit.status, 400);
    EXPECT_EQ(limit.json()["message"].as_string(), "strconv.ParseInt: parsing \"many\": invalid syntax");
    const Heard dry = co_await send("POST", std::string(kMaps) + "?dryRun=All", config_map("dry"));
    EXPECT_EQ(dry.status, 201);
    EXPECT_EQ((co_await get(std::string(kMaps) + "/dry")).status, 404);
    const Heard bad = co_await send("POST", std::string(kMaps) + "?dryRun=Some", config_map("dry"));
    EXPECT_EQ(bad.status, 422);
    EXPECT_EQ(bad.json()["message"].as_string(),
              "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: \"Some\": supported values: \"All\"");
    const Heard label = co_await get(std::string(kMaps) + "?fieldSelector=spec.x%3D1");
    EXPECT_EQ(label.status, 400);
  });
}

TEST_F(Routes, pages_are_walked_by_continue_tokens) {
  serve([this]() -> Task<> {
    for (const char* name : {"a", "b", "c"}) EXPECT_EQ((co_await send("POST", kMaps, config_map(name))).status, 201);
    const Value first = (co_await get(std::string(kMaps) + "?limit=2")).json();
    EXPECT_EQ(first["items"].size(), 2U);
    const std::string token = net::percent_encode(first["metadata"]["continue"].as_string());
    EXPECT_FALSE(token.empty());
    const Value rest = (co_await get(std::string(kMaps) + "?limit=2&continue=" + token)).json();
    EXPECT_EQ(rest["items"].item(0)["metadata"]["name"].as_string(), "c");
    EXPECT_EQ(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  });
}

TEST_F(Routes, warnings_are_headers_of_code_299) {
  serve([this]() -> Task<> {
    const Heard made = co_await send("POST", std::string(kMaps) + "?fieldValidation=Warn",
                                     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w"},"spec":{}})");
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.header("Warning"), R"(299 - "unknown field \"spec\"")");
  });
}

TEST_F(Routes, nobody_is_let_in_without_a_certificate_but_to_health_and_version) {
  serve([this]() -> Task<> {
    net::ClientOptions options;
    options.tls.authority_pem = credentials_.authority_pem;
    client_ = std::move(*net::Client::make(env(), std::move(options)));
    EXPECT_NE((co_await get(kMaps)).status, 200);
    EXPECT_EQ((co_await get("/livez")).body, "ok");
    EXPECT_EQ((co_await get("/version")).json()["minor"].as_string(), "33");
    client_->close_idle();
  });
}

TEST_F(Routes, an_unknown_path_lists_those_that_are) {
  serve([this]() -> Task<> {
    const Heard index = co_await get("/");
    EXPECT_EQ(index.status, 200);
    EXPECT_EQ(index.json()["paths"].item(0).as_string(), "/api");
    EXPECT_EQ((co_await get("/nothing")).status, 404);
    EXPECT_EQ((co_await get("/livez?verbose")).body.substr(0, 10), "[+]ping ok");
    EXPECT_EQ((co_await get("/readyz/ping")).body, "ok");
    EXPECT_EQ((co_await get("/readyz/nothing")).status, 404);
  });
}

}  // namespace
}  // namespace slipway::serve
