// An application as KubeVela leaves it in a cluster: the records that its controller keeps, the objects that it applied, and
// one that it was about to delete. For tests of taking it over, in process and through the program.
#pragma once

#include <cstdint>
#include <functional>

#include "json/value.h"

namespace slipway::oracle_test {

inline constexpr const char* kKubeVela = "kubevela";  // as field manager
inline constexpr const char* kOam = "core.oam.dev/v1beta1";

/// How KubeVela keeps large members, by its options.
enum class Compression : std::uint8_t { None, Gzip, Zstd };

/// `spec` with `content` as `member` (null: in its place), packed as KubeVela packs it.
json::Value spec_with(const json::Value& spec, const char* member, const json::Value& content, Compression how);

/// Stores an object with its status, new or not, and gives it as the server has it.
using Store = std::function<json::Value(const json::Value& object)>;

/// Application shop/shop, running at shop-v1: Deployment web, ConfigMap web-note-7c9f86b4d5 (its template gives no name, and
/// this is not the one that Slipway would make up), and ConfigMap old, marked deleted in the tracker. Namespaces shop and
/// vela-system are there.
void leave_shop(const Store& store);
/// As its user wrote it.
json::Value shop_application();

}  // namespace slipway::oracle_test
