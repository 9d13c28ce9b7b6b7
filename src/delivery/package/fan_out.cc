#include "delivery/package/fan_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/digest.h"
#include "cel/program.h"
#include "cel/rules.h"
#include "delivery/package/names.h"
#include "kube/selector.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr std::size_t kMostNameBytes = 63;
constexpr std::size_t kHashDigits = 8;

Status wrong(std::string_view place, std::string_view why) {
  Status status;
  status.reason = Reason::Invalid;
  status.message = fmt::format("{}: {}", place, why);
  return status;
}

Value readable(const kube::Object& object) {
  const auto map = [](const Value& value) { return value.is_object() ? value : Value::empty_object(); };
  return json::object({{"name", Value(kube::name(object))},
                       {"namespace", Value(kube::ns(object))},
                       {"labels", map(object["metadata"]["labels"])},
                       {"annotations", map(object["metadata"]["annotations"])}});
}

/// Compiled expressions by their text.
class Expressions {
 public:
  Expressions() {
    environment_.is_homogeneous = true;
    const auto text = cel::type_of(cel::Kind::String);
    const auto any = cel::type_of(cel::Kind::Dyn);
    environment_.variables = {
        {"repoDefault", text}, {"packageDefault", text}, {"upstream", any}, {"target", any}, {"repository", any}};
  }

  Result<std::string> evaluate(const std::string& text, const cel::Activation& variables, std::string_view place) {
    auto found = programs_.find(text);
    if (found == programs_.end()) {
      auto compiled = cel::Program::compile(text, environment_);
      if (!compiled) return fail(wrong(place, compiled.error()));
      found = programs_.emplace(text, *compiled).first;
    }
    cel::Budget budget(cel::kCallCost);
    const cel::Value value = found->second->run(variables, budget);
    if (value.is_error()) return fail(wrong(place, value.text()));
    if (!value.is(cel::Kind::String)) return fail(wrong(place, "expression returned non-string value"));
    return std::string(value.text());
  }

 private:
  cel::Environment environment_;
  std::map<std::string, std::shared_ptr<const cel::Program>> programs_;
};

/// One variant to be: a target with its defaults.
struct Slot {
  std::string place{};  // "spec.targets[1]"
  const VariantTemplate* made_as = nullptr;
  std::string repo{};
  std::string package{};
  kube::Object object{};  // null: a Repository by name
};

/// Fills the template in for one slot.
class Renderer {
 public:
  Renderer(Expressions& expressions, const FanOutView& view, const Slot& slot)
      : expressions_(expressions), view_(view), slot_(slot) {
    const Value target = slot.object.is_null() ? json::object({{"repo", Value(slot.repo)}, {"package", Value(slot.package)}})
                                               : readable(slot.object);
    variables_ = {{"repoDefault", cel::make_string(slot.repo)},
                  {"packageDefault", cel::make_string(slot.package)},
                  {"upstream", cel::from_json(readable(view.upstream), nullptr)},
                  {"target", cel::from_json(target, nullptr)}};
  }

  Result<VariantSpec> run(const Upstream& upstream) {
    VariantSpec spec{.upstream = upstream, .downstream = Downstream{slot_.repo, slot_.package}};
    if (slot_.made_as == nullptr) return spec;
    const VariantTemplate& made = *slot_.made_as;
    SLIPWAY_TRY_VOID(downstream(made.downstream.value_or(DownstreamTemplate{}), *spec.downstream));
    spec.adoption = made.adoption;
    spec.deletion = made.deletion;
    SLIPWAY_TRY(labels, overlay("template.labelExprs", made.labels, made.label_exprs));
    spec.labels = labels;
    SLIPWAY_TRY(annotations, overlay("template.annotationExprs", made.annotations, made.annotation_exprs));
    spec.annotations = annotations;
    SLIPWAY_TRY_VOID(context(made, spec));
    SLIPWAY_TRY_VOID(injectors(made, spec));
    SLIPWAY_TRY_VOID(pipeline(made, spec));
    return spec;
  }

 private:
  Result<std::string> evaluate(const std::string& text, std::string_view field) {
    return expressions_.evaluate(text, variables_, fmt::format("{}: {}", slot_.place, field));
  }
  /// The plain value unless it is absent or empty, then the expression, then `otherwise`.
  Result<std::string> either(const std::optional<std::string>& plain, const std::optional<std::string>& expression,
                             std::string_view field, std::string otherwise) {
    if (expression && !expression->empty()) return evaluate(*expression, field);
    if (plain && !plain->empty()) return *plain;
    return otherwise;
  }

  Result<void> downstream(const DownstreamTemplate& made, Downstream& into) {
    SLIPWAY_TRY(repo, either(made.repo, made.repo_expr, "template.downstream.repoExpr", slot_.repo));
    into.repo = repo;
    const auto found =
        std::ranges::find_if(view_.repositories, [&](const kube::Object& one) { return kube::name(one) == repo; });
    if (found == view_.repositories.end()) {
      return fail(wrong(slot_.place, fmt::format("repository {:?} could not be loaded", repo)));
    }
    variables_.emplace_back("repository", cel::from_json(readable(*found), nullptr));
    SLIPWAY_TRY(package, either(made.package, made.package_expr, "template.downstream.packageExpr", slot_.package));
    into.package = package;
    return {};
  }

  Result<std::map<std::string, std::string>> overlay(std::string_view field, std::map<std::string, std::string> map,
                                                     const std::vector<MapExpr>& exprs) {
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      const MapExpr& one = exprs[i];
      std::string key = one.key.value_or("");
      std::string value = one.value.value_or("");
      if (one.key_expr) {
        SLIPWAY_TRY(made, evaluate(*one.key_expr, fmt::format("{}[{}].keyExpr", field, i)));
        key = made;
      }
      if (one.value_expr) {
        SLIPWAY_TRY(made, evaluate(*one.value_expr, fmt::format("{}[{}].valueExpr", field, i)));
        value = made;
      }
      map[key] = value;
    }
    return map;
  }

  Result<void> context(const VariantTemplate& made, VariantSpec& spec) {
    if (!made.context) return {};
    SLIPWAY_TRY(data, overlay("template.packageContext.dataExprs", made.context->data, made.context->data_exprs));
    std::set<std::string> keys(made.context->remove_keys.begin(), made.context->remove_keys.end());
    for (std::size_t i = 0; i < made.context->remove_key_exprs.size(); ++i) {
      SLIPWAY_TRY(key,
                  evaluate(made.context->remove_key_exprs[i], fmt::format("template.packageContext.removeKeyExprs[{}]", i)));
      keys.insert(key);
    }
    spec.context = PackageContext{.data = data, .remove_keys = {keys.begin(), keys.end()}};
    return {};
  }

  Result<void> injectors(const VariantTemplate& made, VariantSpec& spec) {
    for (std::size_t i = 0; i < made.injectors.size(); ++i) {
      const InjectorTemplate& one = made.injectors[i];
      SLIPWAY_TRY(name, either(one.name, one.name_expr, fmt::format("template.injectors[{}].nameExpr", i), ""));
      spec.injectors.push_back({.group = one.group, .version = one.version, .kind = one.kind, .name = name});
    }
    return {};
  }

  Result<std::vector<PipelineFunction>> functions(std::string_view field, const std::vector<FunctionTemplate>& made) {
    std::vector<PipelineFunction> out;
    for (std::size_t i = 0; i < made.size(); ++i) {
      PipelineFunction one = made[i];
      SLIPWAY_TRY(map, overlay(fmt::format("{}[{}].configMapExprs", field, i), made[i].config_map, made[i].config_exprs));
      one.config_map = map;
      out.push_back(std::move(one));
    }
    return out;
  }

  Result<void> pipeline(const VariantTemplate& made, VariantSpec& spec) {
    if (!made.pipeline) return {};
    SLIPWAY_TRY(validators, functions("template.pipeline.validators", made.pipeline->validators));
    SLIPWAY_TRY(mutators, functions("template.pipeline.mutators", made.pipeline->mutators));
    if (validators.empty() && mutators.empty()) return {};
    spec.pipeline = Pipeline{.mutators = mutators, .validators = validators};
    return {};
  }

  Expressions& expressions_;
  const FanOutView& view_;
  const Slot& slot_;
  cel::Activation variables_;
};

Result<kube::LabelSelector> selector_of(const VariantTarget& target) {
  if (target.repository_selector) return kube::LabelSelector::from_object(*target.repository_selector);
  Value selector = Value::empty_object();
  if (target.object_selector->match_labels) selector = selector.with("matchLabels", *target.object_selector->match_labels);
  if (const auto& expressions = target.object_selector->match_expressions) {
    selector = selector.with("matchExpressions", json::array(*expressions));
  }
  return kube::LabelSelector::from_object(selector);
}

Result<void> add_selected(const VariantTarget& target, const std::vector<kube::Object>& objects, const Slot& like,
                          std::vector<Slot>& slots) {
  const auto selector = selector_of(target);
  if (!selector) return fail(wrong(like.place, selector.error().message));
  for (const kube::Object& object : objects) {
    const bool is_other =
        target.object_selector && target.object_selector->name && *target.object_selector->name != kube::name(object);
    if (is_other || !selector->matches(object["metadata"]["labels"])) continue;
    Slot slot = like;
    slot.repo = kube::name(object);
    slot.object = object;
    slots.push_back(std::move(slot));
  }
  return {};
}

Result<std::vector<Slot>> slots_of(const VariantSetSpec& set, const FanOutView& view) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < set.targets.size(); ++i) {
    const VariantTarget& target = set.targets[i];
    Slot like{.place = fmt::format("spec.targets[{}]", i), .package = set.upstream->package};
    if (target.variant) like.made_as = &*target.variant;
    if (!target.repositories) {
      const std::vector<kube::Object> none;
      const auto& objects = target.repository_selector ? view.repositories : i < view.selected.size() ? view.selected[i] : none;
      SLIPWAY_TRY_VOID(add_selected(target, objects, like, slots));
      continue;
    }
    for (const RepositoryTarget& repository : *target.repositories) {
      std::vector<std::string> packages = repository.packages;
      if (packages.empty()) packages.push_back(set.upstream->package);
      for (const std::string& package : packages) {
        Slot slot = like;
        slot.repo = repository.name;
        slot.package = package;
        slots.push_back(std::move(slot));
      }
    }
  }
  return slots;
}

}  // namespace

std::string variant_name(std::string_view set, const Downstream& downstream) {
  std::string id = fmt::format("{}-{}-{}", set, downstream.repo, downstream.package);
  if (id.size() <= kMostNameBytes && !id.contains('/')) return id;
  const std::string hash = sha256_hex(id).substr(0, kHashDigits);
  std::ranges::replace(id, '/', '-');
  return fmt::format("{}-{}", id.substr(0, kMostNameBytes - kHashDigits - 1), hash);
}

Result<std::vector<WantedVariant>> unroll(const VariantSetSpec& set, const FanOutView& view) {
  SLIPWAY_TRY(slots, slots_of(set, view));
  Expressions expressions;
  std::vector<WantedVariant> wanted;
  std::map<Downstream, std::size_t> places;
  for (const Slot& slot : slots) {
    SLIPWAY_TRY(spec, Renderer(expressions, view, slot).run(*set.upstream));
    WantedVariant one{.name = variant_name(view.name, *spec.downstream), .spec = spec};
    const auto [place, is_new] = places.emplace(*spec.downstream, wanted.size());
    if (is_new) {
      wanted.push_back(std::move(one));
    } else {
      wanted[place->second] = std::move(one);
    }
  }
  return wanted;
}

VariantChanges changes(const std::vector<WantedVariant>& wanted, const std::vector<WantedVariant>& there) {
  VariantChanges out;
  std::map<Downstream, const WantedVariant*> known;
  for (const WantedVariant& one : there) {
    const bool is_first = one.spec.downstream && known.emplace(one.downstream(), &one).second;
    if (!is_first) out.remove.push_back(one.name);
  }
  std::set<Downstream> kept;
  for (const WantedVariant& one : wanted) {
    kept.insert(one.downstream());
    const auto found = known.find(one.downstream());
    if (found == known.end()) {
      out.create.push_back(one);
    } else if (!(found->second->spec == one.spec)) {
      out.update.push_back({.name = found->second->name, .spec = one.spec});
    }
  }
  for (const auto& [downstream, one] : known) {
    if (!kept.contains(downstream)) out.remove.push_back(one->name);
  }
  std::ranges::sort(out.remove);
  return out;
}

}  // namespace slipway::delivery::package
