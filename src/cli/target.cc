#include "cli/target.h"

#include <fmt/format.h>

namespace slipway::cli {

Result<TargetWords> split_target(const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 2 || (words.size() == 2 && words[0].find('/') != std::string::npos)) {
    return fail(Reason::BadRequest,
                "name what you mean as KIND, KIND/NAME, KIND NAME or KIND/NAME/STEP, e.g. workflow/release");
  }
  TargetWords found;
  const auto slash = words[0].find('/');
  found.kind = words[0].substr(0, slash);
  std::string rest = slash == std::string::npos ? "" : words[0].substr(slash + 1);
  if (words.size() > 1) rest = words[1];
  const auto second = rest.find('/');
  found.name = rest.substr(0, second);
  if (second != std::string::npos) found.part = rest.substr(second + 1);
  return found;
}

Result<Target> find_target(const server::Registry& registry, const std::vector<std::string>& words) {
  SLIPWAY_TRY(found, split_target(words));
  auto type = registry.find_word(found.kind);
  if (!type && type.error().reason == Reason::NotFound) {
    std::string kinds;
    for (const server::TypePtr& one : registry.all())
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", one->resource.plural);
    return fail(Reason::NotFound, fmt::format("there is no kind \"{}\" here; there are {}", found.kind, kinds));
  }
  if (!type) return fail(type.error());
  return Target{std::move(*type), std::move(found.name), std::move(found.part)};
}

}  // namespace slipway::cli
