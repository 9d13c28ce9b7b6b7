// One verb of printf in a text/template, as Go's fmt has it: %[+-# 0][width][.precision]letter with the letters v d s q t x X o
// b c U e E f F g G. Arguments by number or "*" are not known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cue/std/template_tree.h"

namespace slipway::cue::text_template {

struct FormatVerb {
  char letter = '\0';  // none: the text ended
  bool has_plus = false;
  bool is_left = false;
  bool has_marks = false;  // '#'
  bool has_blank = false;
  bool has_zeros = false;
  std::size_t width = 0;
  std::optional<int> precision;
};

/// `at` stands on the '%' and is moved behind the verb. Width and precision are at most 1000.
FormatVerb read_format_verb(std::string_view text, std::size_t& at);

/// `plain` is what %v gives. Nothing when the verb does not fit the value, which Go would tell in the output.
std::optional<std::string> format_one(const FormatVerb& verb, const Data& value, const std::string& plain);

}  // namespace slipway::cue::text_template
