#include "server/schema_cache.h"

#include "server/server_fixture.h"

namespace slipway::server {
namespace {

/// A schema with one field of this name, and with these rules for it.
Value schema_of(std::string_view field, std::string_view rules = "[]") {
  return yaml(
      fmt::format("{{type: object, properties: {{spec: {{type: object, x-kubernetes-validations: {}, properties: {{{}: {{type: "
                  "integer}}}}}}}}}}",
                  rules, field));
}

std::vector<Cause> faults_of(SchemaCache& cache, const Value& schema) {
  std::vector<Cause> causes;
  cache.compile(schema, "spec", causes);
  return causes;
}

TEST(SchemaCacheOf, gives_what_it_compiled_from_the_same_text) {
  SchemaCache cache;
  EXPECT_TRUE(faults_of(cache, schema_of("size")).empty());
  const CompiledSchemaPtr first = cache.judged(schema_of("size"));
  EXPECT_EQ(cache.judged(schema_of("size")), first);
  EXPECT_TRUE(faults_of(cache, schema_of("size")).empty());
  EXPECT_EQ(cache.misses(), 1u);
  EXPECT_NE(cache.judged(schema_of("colour")), first);
}

TEST(SchemaCacheOf, compiles_the_rules_of_a_judged_definition_for_the_first_object) {
  SchemaCache cache;
  const auto causes_of = [&](const Value& schema, int size) {
    const CompiledSchemaPtr compiled = cache.judged(schema);
    std::vector<Cause> causes;
    validate_rules(*compiled->rules, json::object({{"spec", json::object({{"size", size}})}}), Value(), causes);
    return causes.size();
  };
  const Value ruled = schema_of("size", "[{rule: 'self.size < 10'}]");
  EXPECT_EQ(causes_of(ruled, 11), 1u);
  EXPECT_EQ(causes_of(ruled, 9), 0u);
  EXPECT_EQ(causes_of(schema_of("size"), 11), 0u);
  std::vector<Cause> causes{field::required("spec.size")};
  validate_rules(*cache.judged(schema_of("size"))->rules, Value::empty_object(), Value(), causes);
  EXPECT_EQ(causes.size(), 1u);  // nothing is said of rules where there are none
}

TEST(SchemaCacheOf, tells_the_faults_of_a_schema_every_time) {
  SchemaCache cache;
  const Value loose = yaml("{type: object, properties: {spec: {properties: {}}}}");
  const Value wrong = schema_of("size", "[{rule: 'self.nothing < 10'}]");
  for (const Value& schema : {loose, wrong}) {
    const std::vector<Cause> causes = faults_of(cache, schema);
    EXPECT_FALSE(causes.empty());
    EXPECT_EQ(faults_of(cache, schema).size(), causes.size());
  }
  ASSERT_NE(cache.judged(wrong), nullptr);  // stored by a version of this program that judged otherwise
  EXPECT_FALSE(faults_of(cache, wrong).empty());
}

TEST(SchemaCacheOf, lets_objects_through_where_a_stored_schema_compiles_no_more) {
  SchemaCache cache;
  const Value object = yaml("{spec: {size: 1}}");
  const auto schema = cache.judged(yaml("{type: object, properties: {spec: {properties: {}}}}"))->schema;
  EXPECT_EQ(schema->prune(object), object);
  EXPECT_EQ(schema->fill_defaults(object), object);
  EXPECT_TRUE(schema->validate(object).empty());
}

TEST(SchemaCacheOf, serves_a_judged_schema_as_it_was_compiled) {
  SchemaCache cache;
  const Value schema =
      yaml("{type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}");
  const auto deferred = cache.judged(schema)->schema;
  const auto compiled = kube::Schema::compile(schema);
  ASSERT_TRUE(compiled);
  for (const char* text : {"{spec: {}}", "{spec: {size: big}}", "{spec: {colour: red}}"}) {
    const Value object = yaml(text);
    EXPECT_EQ(deferred->prune(object), (*compiled)->prune(object));
    EXPECT_EQ(deferred->fill_defaults(object), (*compiled)->fill_defaults(object));
    EXPECT_EQ(deferred->validate(object).size(), (*compiled)->validate(object).size());
  }
}

TEST(SchemaCacheOf, drops_what_was_used_longest_ago) {
  SchemaCache cache({.schemas = 2, .text_bytes = 10'000});
  cache.judged(schema_of("a"));
  cache.judged(schema_of("b"));
  cache.judged(schema_of("a"));
  cache.judged(schema_of("c"));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.misses(), 3u);
  cache.judged(schema_of("a"));
  EXPECT_EQ(cache.misses(), 3u);
  cache.judged(schema_of("b"));
  EXPECT_EQ(cache.misses(), 4u);
}

TEST(SchemaCacheOf, keeps_no_more_text_than_its_limit) {
  const std::size_t bytes = json::print(schema_of("a")).size();
  SchemaCache cache({.schemas = 100, .text_bytes = bytes * 2});
  for (const char* field : {"a", "b", "c"}) cache.judged(schema_of(field));
  EXPECT_EQ(cache.size(), 2u);
  SchemaCache small({.schemas = 100, .text_bytes = bytes - 1});
  EXPECT_NE(small.judged(schema_of("a")), nullptr);
  EXPECT_EQ(small.size(), 0u);
}

class ServedSchemas : public ServerTest {
 public:
  static Value with_rule(std::string_view rule) {
    const Value version = widgets_definition()["spec"]["versions"].item(0);
    const Value spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"].with("x-kubernetes-validations", yaml(rule));
    return widgets_definition().with_path(
        {"spec", "versions"}, json::array({version.with_path({"schema", "openAPIV3Schema", "properties", "spec"}, spec)}));
  }
  static std::uint64_t misses() { return SchemaCache::shared().misses(); }
};

TEST_F(ServedSchemas, are_compiled_once_for_judging_and_serving) {
  const std::uint64_t before = misses();
  must(create(kCrds, with_rule("[{rule: 'self.size < 11', message: size is too large}]")));
  EXPECT_EQ(misses(), before + 1);
  EXPECT_FALSE(create(kWidgets, widget("w").with_path({"spec", "size"}, 11)));
}

TEST_F(ServedSchemas, are_not_compiled_again_by_the_next_start) {
  must(create(kCrds, with_rule("[{rule: 'self.size < 12', message: size is too large}]")));
  const std::uint64_t before = misses();
  reopen();
  EXPECT_EQ(misses(), before);
  EXPECT_EQ(message(create(kWidgets, widget("w").with_path({"spec", "size"}, 12))),
            "Widget.example.com \"w\" is invalid: spec: Invalid value: \"object\": size is too large");
  must(create(kWidgets, widget("w").with_path({"spec", "size"}, 1)));
  EXPECT_EQ(must(get(kWidgets, "w"))["spec"], yaml("{size: 1, color: red}"));
}

TEST_F(ServedSchemas, with_faults_are_refused_as_often_as_they_come) {
  const std::string said = message(create(kCrds, with_rule("[{rule: 'self.nothing < 10'}]")));
  EXPECT_NE(said.find("undefined field 'nothing'"), std::string::npos) << said;
  EXPECT_EQ(message(create(kCrds, with_rule("[{rule: 'self.nothing < 10'}]"))), said);
  reopen();
  EXPECT_EQ(message(create(kCrds, with_rule("[{rule: 'self.nothing < 10'}]"))), said);
}

}  // namespace
}  // namespace slipway::server
