// Whatever bytes come as files of a package, as a ResourceList or as a Kptfile: each ends in a value or an error; an upgrade
// from something to itself changes no value; what a function writes to the wire can be read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "krm/command.h"
#include "krm/diff.h"
#include "krm/kptfile.h"

namespace slipway::krm {
namespace {

// Texts between lines "===".
std::string next_part(std::string_view& rest) {
  const std::size_t stop = rest.find("\n===\n");
  std::string made(rest.substr(0, stop));
  if (stop != std::string_view::npos) made += '\n';
  rest = stop == std::string_view::npos ? std::string_view() : rest.substr(stop + 5);
  return made;
}

void check_upgrade(const Files& origin, const Files& upstream, const Files& local) {
  for (Strategy strategy : {Strategy::ResourceMerge, Strategy::CopyMerge, Strategy::FastForward}) {
    (void)upgrade(origin, upstream, local, strategy, Identity::Written);
  }
  auto same = upgrade(local, local, local, Strategy::ResourceMerge);
  if (same) SLIPWAY_CHECK(same->conflicts.empty());
}

void check_wire(const std::string& text) {
  for (std::string_view name :
       {"set-namespace", "set-labels", "apply-setters", "search-replace", "fix", "format", "ensure-name-substring"}) {
    const CommandOutcome made = fn_command(name, text);
    if (made.output.empty()) continue;
    SLIPWAY_CHECK(read_resource_list(made.output).has_value(), made.output);
  }
}

}  // namespace
}  // namespace slipway::krm

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway::krm;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string whole(rest);
  const std::string first = next_part(rest);
  const std::string second = next_part(rest);
  const std::string third = next_part(rest);
  check_upgrade({{"a.yaml", first}}, {{"a.yaml", second}}, {{"a.yaml", third}});
  check_upgrade({{"a.yaml", first}}, {{"a.yaml", first}}, {{"a.yaml", first}});
  (void)merge_kptfiles(first, second, third, Locks::Upstream);
  (void)read_kptfile(first);
  (void)ready_command({{"Kptfile", first}});
  (void)condition_set_command({{"Kptfile", first}}, "a=True:b:c");
  (void)render({{"Kptfile", first}, {"b.yaml", second}, {".krmignore", third}}, {.writes_status = true});
  (void)diff({{"a", first}}, {{"a", second}});
  check_wire(whole);
  check_wire("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- " + first);
  return 0;
}
