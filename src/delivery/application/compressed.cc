#include "delivery/application/compressed.h"

#include "base/digest.h"
#include "base/gzip.h"
#include "base/zstd.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxContent = std::size_t{16} << 20;

}  // namespace

bool is_compressed(const json::Value& spec) { return !spec["compression"]["type"].as_string().empty(); }

json::Value compressed(const json::Value& content) {
  return json::object({{"type", "gzip"}, {"data", base64_encode(gzip(json::print(content)))}});
}

json::Value uncompressed(const json::Value& spec) {
  const std::string_view type = spec["compression"]["type"].as_string();
  std::string packed;
  if (!base64_decode(spec["compression"]["data"].as_string(), packed)) return {};
  std::optional<std::string> text;
  if (type == "gzip") text = gunzip(packed, kMaxContent);
  if (type == "zstd") text = unzstd(packed, kMaxContent);
  if (!text) return {};
  auto content = json::parse(*text, {.max_bytes = kMaxContent});
  return content ? *std::move(content) : json::Value();
}

}  // namespace slipway::delivery::application
