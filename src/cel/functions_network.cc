#include "cel/library.h"
namespace slipway::cel {
std::span<const Row> network_rows() { return {}; }
}  // namespace slipway::cel
