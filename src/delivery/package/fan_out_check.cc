// What is wrong with a PackageVariantSet, in the words of Porch (packagevariantset/validate.go).
#include <fmt/format.h>

#include "delivery/package/fan_out.h"

namespace slipway::delivery::package {
namespace {

using Faults = std::vector<std::string>;

void check_exprs(const std::vector<MapExpr>& exprs, const std::string& field, Faults& faults) {
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    if (exprs[i].key && exprs[i].key_expr) {
      faults.push_back(fmt::format("{}[{}] may specify only one of `key` and `keyExpr`", field, i));
    }
    if (exprs[i].value && exprs[i].value_expr) {
      faults.push_back(fmt::format("{}[{}] may specify only one of `value` and `valueExpr`", field, i));
    }
  }
}

void check_functions(const std::vector<FunctionTemplate>& functions, const std::string& field, Faults& faults) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].image.empty()) faults.push_back(fmt::format("{}[{}].image must not be empty", field, i));
    if (functions[i].name.contains('.')) faults.push_back(fmt::format("{}[{}].name must not contain '.'", field, i));
  }
}

void check_template(const VariantTemplate& made, const std::string& field, Faults& faults) {
  if (made.downstream) {
    if (made.downstream->repo && made.downstream->repo_expr) {
      faults.push_back(field + " may specify only one of `downstream.repo` and `downstream.repoExpr`");
    }
    if (made.downstream->package && made.downstream->package_expr) {
      faults.push_back(field + " may specify only one of `downstream.package` and `downstream.packageExpr`");
    }
  }
  check_exprs(made.label_exprs, field + ".labelExprs", faults);
  check_exprs(made.annotation_exprs, field + ".annotationExprs", faults);
  if (made.context) check_exprs(made.context->data_exprs, field + ".packageContext.dataExprs", faults);
  for (std::size_t i = 0; i < made.injectors.size(); ++i) {
    const InjectorTemplate& one = made.injectors[i];
    if (one.name && one.name_expr) {
      faults.push_back(fmt::format("{}.injectors[{}] may specify only one of `name` and `nameExpr`", field, i));
    } else if (!one.name && !one.name_expr) {
      faults.push_back(fmt::format("{}.injectors[{}] must specify either `name` or `nameExpr`", field, i));
    }
  }
  if (!made.pipeline) return;
  check_functions(made.pipeline->validators, field + ".pipeline.validators", faults);
  check_functions(made.pipeline->mutators, field + ".pipeline.mutators", faults);
}

void check_repositories(const std::vector<RepositoryTarget>& repositories, const std::string& field, Faults& faults) {
  if (repositories.empty()) faults.push_back(field + " must not be an empty list if specified");
  for (std::size_t i = 0; i < repositories.size(); ++i) {
    if (repositories[i].name.empty()) faults.push_back(fmt::format("{}[{}].name cannot be empty", field, i));
    for (std::size_t k = 0; k < repositories[i].packages.size(); ++k) {
      if (repositories[i].packages[k].empty()) {
        faults.push_back(fmt::format("{}[{}].packageNames[{}] cannot be empty", field, i, k));
      }
    }
  }
}

void check_target(const VariantTarget& target, const std::string& field, Faults& faults) {
  if (target.repositories) check_repositories(*target.repositories, field + ".repositories", faults);
  if (target.object_selector) {
    if (target.object_selector->api_version.empty()) faults.push_back(field + ".objectselector.apiVersion cannot be empty");
    if (target.object_selector->kind.empty()) faults.push_back(field + ".objectselector.kind cannot be empty");
  }
  const int ways = (target.repositories ? 1 : 0) + (target.repository_selector ? 1 : 0) + (target.object_selector ? 1 : 0);
  if (ways != 1) faults.push_back(field + " must specify one of `repositories`, `repositorySelector`, or `objectSelector`");
  if (target.variant) check_template(*target.variant, field + ".template", faults);
}

}  // namespace

std::vector<std::string> check(const VariantSetSpec& set) {
  Faults faults;
  if (!set.upstream) {
    faults.emplace_back("spec.upstream is a required field");
  } else {
    if (set.upstream->package.empty()) faults.emplace_back("spec.upstream.package is a required field");
    if (set.upstream->repo.empty()) faults.emplace_back("spec.upstream.repo is a required field");
    if (set.upstream->revision == 0 && set.upstream->workspace.empty()) {
      faults.emplace_back("spec.upstream.revision is a required field");
    }
  }
  if (set.targets.empty()) faults.emplace_back("must specify at least one item in spec.targets");
  for (std::size_t i = 0; i < set.targets.size(); ++i) {
    check_target(set.targets[i], fmt::format("spec.targets[{}]", i), faults);
  }
  return faults;
}

}  // namespace slipway::delivery::package
