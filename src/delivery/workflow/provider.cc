#include "delivery/workflow/provider.h"

#include <algorithm>

namespace slipway::delivery::workflow {

void Providers::add(std::vector<Provider> rows) {
  for (Provider& row : rows) rows_.push_back(std::move(row));
}

const Provider* Providers::find(std::string_view package, std::string_view function) const {
  if (package == "ql") package = "query";
  const bool is_any = package.empty() || package == "op";
  const auto found = std::ranges::find_if(rows_, [&](const Provider& row) {
    if (is_any) return (row.flat_function.empty() ? row.function : row.flat_function) == function;
    return row.package == package && row.function == function;
  });
  if (found != rows_.end()) return &*found;
  return more_ == nullptr ? nullptr : more_->find(package, function);
}

}  // namespace slipway::delivery::workflow
