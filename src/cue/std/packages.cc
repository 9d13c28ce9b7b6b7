#include "cue/std/packages.h"

namespace slipway::cue {

std::span<const StandardPackage> standard_packages() {
  static const StandardPackage kPackages[] = {
      {"", predeclared_rows()},
      {"strings", strings_rows()},
      {"strconv", strconv_rows()},
      {"list", list_rows()},
      {"regexp", regexp_rows()},
      {"math", math_rows()},
      {"math/bits", bits_rows()},
      {"struct", struct_rows()},
      {"path", path_rows()},
      {"net", net_rows()},
      {"time", time_rows()},
      {"uuid", uuid_rows()},
      {"encoding/json", json_rows()},
      {"encoding/yaml", yaml_rows()},
      {"encoding/base64", base64_rows()},
      {"encoding/hex", hex_rows()},
      {"encoding/csv", csv_rows()},
      {"crypto/md5", md5_rows()},
      {"crypto/sha1", sha1_rows()},
      {"crypto/sha256", sha256_rows()},
      {"crypto/sha512", sha512_rows()},
      {"crypto/hmac", hmac_rows()},
      {"text/template", template_rows()},
  };
  return kPackages;
}

}  // namespace slipway::cue
