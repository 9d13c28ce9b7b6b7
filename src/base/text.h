// Small operations on text that is ASCII where it matters: names, headers, lists in annotations. Bytes above 127 are passed on
// as they are and belong to no class. For the language of people use a library.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// '0' to '9'; no locale is asked.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }

/// With A to Z as a to z.
std::string lower(std::string_view text);
/// With a to z as A to Z.
std::string upper(std::string_view text);

/// Blanks, tabs, line ends, vertical tabs and form feeds.
constexpr std::string_view kBlanks = " \t\r\n\v\f";
/// Without the characters of `blanks` at either end.
std::string_view trimmed(std::string_view text, std::string_view blanks = kBlanks);

/// What lies between separators: always one more than there are separators, so "" gives {""} and "a," gives {"a", ""}. The
/// parts live as long as the text.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The parts with `between` between two.
std::string joined(std::span<const std::string> parts, std::string_view between);

}  // namespace slipway
