// Values that tests write as text. A text that cannot be read fails the test and gives null.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "json/text.h"

namespace slipway {

inline json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message) << "\n" << text;
  return value ? *value : json::Value();
}

inline json::Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message) << "\n" << text;
  return value ? *value : json::Value();
}

}  // namespace slipway
