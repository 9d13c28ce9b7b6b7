#include "delivery/workflow/provider.h"

#include <algorithm>

namespace slipway::delivery::workflow {

bool RunStore::is_secret(std::string_view path) const {
  return secret_vars.contains(std::string(path.substr(0, path.find_first_of(".["))));
}

void RunStore::mark(const std::string& path, bool is_secret) {
  const std::string name = path.substr(0, path.find_first_of(".["));
  if (is_secret) {
    secret_vars.insert(name);
  } else if (name == path) {
    secret_vars.erase(name);
  }
}

Value RunStore::open_vars() const {
  Value open = vars;
  for (const std::string& name : secret_vars) open = open.without(name);
  return open;
}

bool Answer::is_passing(const Status& status) {
  return status.reason == Reason::ServiceUnavailable || status.reason == Reason::Timeout ||
         status.reason == Reason::ServerTimeout || status.reason == Reason::TooManyRequests;
}

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
