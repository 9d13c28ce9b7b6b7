// The list of standard packages: a new one is a file in this folder and a row here.
#pragma once

#include "cue/std/registry.h"

namespace slipway::cue {

struct StandardPackage {
  std::string_view path;
  std::span<const Builtin> rows;
};
std::span<const StandardPackage> standard_packages();

std::span<const Builtin> predeclared_rows();
std::span<const Builtin> strings_rows();
std::span<const Builtin> strconv_rows();
std::span<const Builtin> list_rows();
std::span<const Builtin> regexp_rows();
std::span<const Builtin> json_rows();
std::span<const Builtin> yaml_rows();
std::span<const Builtin> math_rows();
std::span<const Builtin> bits_rows();
std::span<const Builtin> struct_rows();
std::span<const Builtin> path_rows();
std::span<const Builtin> net_rows();
std::span<const Builtin> time_rows();
std::span<const Builtin> uuid_rows();
std::span<const Builtin> base64_rows();
std::span<const Builtin> hex_rows();
std::span<const Builtin> csv_rows();
std::span<const Builtin> md5_rows();
std::span<const Builtin> sha1_rows();
std::span<const Builtin> sha256_rows();
std::span<const Builtin> sha512_rows();
std::span<const Builtin> hmac_rows();
std::span<const Builtin> template_rows();

}  // namespace slipway::cue
