#include "delivery/workflow/secret_texts.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

/// "one two three four" as it is told after reading this.
std::string told(const std::string& read) {
  SecretTexts texts;
  texts.add(*json::parse_yaml(read));
  return texts.without("first second third fourth");
}

TEST(SecretTexts, of_an_object_are_those_of_secrets) {
  EXPECT_EQ(told("{apiVersion: v1, kind: Secret, metadata: {name: first}, stringData: {a: second}}"),
            "first (secret) third fourth");
  EXPECT_EQ(told("{apiVersion: v1, kind: ConfigMap, data: {a: second}}"), "first second third fourth");
}

TEST(SecretTexts, are_found_in_capitals_or_not) {
  EXPECT_EQ(told("FIRST"), "(secret) second third fourth");
  SecretTexts texts;
  texts.add(json::Value("Pass"));
  EXPECT_EQ(texts.without("PASSpass: x"), "(secret)(secret): x");
  EXPECT_EQ(texts.without(""), "");
}

TEST(SecretTexts, of_a_list_are_those_of_the_secrets_in_it) {
  EXPECT_EQ(told("{list: {apiVersion: v1, kind: SecretList, items: [{metadata: {name: first}, stringData: {a: second}}]}}"),
            "first (secret) third fourth");
  EXPECT_EQ(told("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, stringData: {a: second}}, {apiVersion: "
                 "v1, kind: ConfigMap, data: {a: third}}]}"),
            "first (secret) third fourth");
  EXPECT_EQ(told("{apiVersion: v1, kind: ConfigMapList, items: [{data: {a: second}}]}"), "first second third fourth");
}

}  // namespace
}  // namespace slipway::delivery::workflow
