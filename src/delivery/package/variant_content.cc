#include "delivery/package/variant_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "krm/package.h"
#include "krm/yaml_tree.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr std::string_view kFunctionPrefix = "PackageVariant.";
constexpr std::string_view kPackageContext = "package-context.yaml";
constexpr std::string_view kContextName = "kptfile.kpt.dev";

Status wrong(std::string message) {
  Status status;
  status.reason = Reason::Invalid;
  status.message = std::move(message);
  return status;
}

Result<krm::KeptYaml> read(const Files& files, std::string_view path) {
  const auto found = files.find(std::string(path));
  if (found == files.end()) return fail(wrong(fmt::format("{:?} not found in the package", path)));
  auto text = krm::KeptYaml::parse(found->second);
  if (!text) return fail(wrong(fmt::format("failed to parse {:?}: {}", path, text.error().message)));
  if (text->documents().empty()) return fail(wrong(fmt::format("{:?} is empty", path)));
  return text;
}

using Path = std::vector<std::string>;

Result<void> write_context(Files& files, const PackageContext& context) {
  if (context.data.empty() && context.remove_keys.empty()) return {};
  SLIPWAY_TRY(text, read(files, kPackageContext));
  const Value before = krm::value_or_null(text.documents().front().root);
  if (kube::kind(before) != "ConfigMap") {
    return fail(wrong(fmt::format("{:?} does not contain kind \"ConfigMap\"", kPackageContext)));
  }
  if (kube::name(before) != kContextName) {
    return fail(wrong(fmt::format("{:?} does not contain resource named {:?}", kPackageContext, kContextName)));
  }
  if (!before["data"].is_object()) return fail(wrong(fmt::format("{:?} has no data", kPackageContext)));
  for (const auto& [key, value] : context.data) {
    if (before["data"][key] == Value(value)) continue;
    SLIPWAY_TRY_VOID(text.set(0, Path{"data", key}, Value(value)));
  }
  for (const std::string& key : context.remove_keys) {
    if (before["data"].has(key)) SLIPWAY_TRY_VOID(text.remove(0, Path{"data", key}));
  }
  files[std::string(kPackageContext)] = text.text();
  return {};
}

/// PackageVariant.VARIANT.FUNCTION.N
bool is_of_variant(const Value& function, std::string_view variant) {
  const std::vector<std::string_view> parts = split(function["name"].as_string(), '.');
  if (parts.size() != 4 || fmt::format("{}.", parts[0]) != kFunctionPrefix || parts[1] != variant) return false;
  return !parts[3].empty() && std::ranges::all_of(parts[3], [](char c) { return c >= '0' && c <= '9'; });
}

/// The variant's functions, then those of the package.
std::vector<Value> functions(const Value& there, const std::vector<PipelineFunction>& wanted, std::string_view variant) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    PipelineFunction one = wanted[i];
    one.name = fmt::format("{}{}.{}.{}", kFunctionPrefix, variant, wanted[i].name, i);
    out.push_back(json::encode(one));
  }
  for (const Value& one : there.items()) {
    if (!is_of_variant(one, variant)) out.push_back(one);
  }
  return out;
}

Result<void> write_pipeline(Files& files, const Pipeline& pipeline, std::string_view variant) {
  SLIPWAY_TRY(text, read(files, krm::kKptfile));
  const Value before = krm::value_or_null(text.documents().front().root)["pipeline"];
  const std::pair<const char*, const std::vector<PipelineFunction>*> lists[] = {{"mutators", &pipeline.mutators},
                                                                                {"validators", &pipeline.validators}};
  std::size_t left = 0;
  for (const auto& [field, wanted] : lists) {
    const std::vector<Value> made = functions(before[field], *wanted, variant);
    left += made.size();
    const bool is_same = made.empty() ? !before.has(field) : before[field] == json::array(made);
    if (is_same) continue;
    if (!made.empty()) {
      SLIPWAY_TRY_VOID(text.set(0, Path{"pipeline", field}, json::array(made)));
    } else {
      SLIPWAY_TRY_VOID(text.remove(0, Path{"pipeline", field}));
    }
  }
  const bool is_dangling = left == 0 && krm::value_or_null(text.documents().front().root).has("pipeline") && !before.is_null();
  if (is_dangling) SLIPWAY_TRY_VOID(text.remove(0, Path{"pipeline"}));
  files[std::string(krm::kKptfile)] = text.text();
  return {};
}

bool is_for(const Injector& injector, const InjectionPoint& point) {
  const bool is_other = (injector.group && *injector.group != point.kind.group) ||
                        (injector.version && *injector.version != point.kind.version) ||
                        (injector.kind && *injector.kind != point.kind.kind);
  return !is_other;
}

/// What an injector means for a point, or null.
const Injectable* select(const Injector& injector, const InjectionPoint& point, const std::vector<Injectable>& objects) {
  if (!is_for(injector, point)) return nullptr;
  const auto found = std::ranges::find_if(objects, [&](const Injectable& one) {
    return one.name == injector.name && one.kind == point.kind.kind && one.api_version == point.kind.api_version();
  });
  return found == objects.end() ? nullptr : &*found;
}

bool is_config_map(const kube::GroupVersionKind& kind) { return kind.group.empty() && kind.kind == "ConfigMap"; }

Condition said(const InjectionPoint& point, std::string why) {
  if (why.empty()) why = "no resource matched any injection selector for this injection point";
  return {.type = point.condition(), .status = Truth::False, .reason = "NoResourceSelected", .message = std::move(why)};
}

std::string why_none(const InjectionPoint& point, const VariantContent& content) {
  if (content.injectors.empty()) return "no injectors defined";
  const bool has_any = std::ranges::any_of(content.objects, [&](const Injectable& one) {
    return one.kind == point.kind.kind && one.api_version == point.kind.api_version();
  });
  std::vector<std::string> names;
  for (const Injector& one : content.injectors) {
    if (is_for(one, point)) names.push_back(one.name);
  }
  if (has_any || names.empty()) return "";
  return fmt::format("no in-cluster resources of type {}.{} called {}", point.kind.api_version(), point.kind.kind,
                     joined(names, " or "));
}

Result<Condition> inject(krm::KeptYaml& text, const InjectionPoint& point, const VariantContent& content) {
  const Injectable* found = nullptr;
  for (const Injector& injector : content.injectors) {
    found = select(injector, point, content.objects);
    if (found != nullptr) break;
  }
  if (found == nullptr) return said(point, why_none(point, content));
  const std::string field = is_config_map(point.kind) ? "data" : "spec";
  if (!found->value) return said(point, fmt::format("field {:?} not found in resource {:?}", field, found->name));
  const Value before = krm::value_or_null(text.documents()[point.document].root);
  if (before[field] != *found->value) SLIPWAY_TRY_VOID(text.set(point.document, Path{field}, *found->value));
  if (kube::annotation(before, kInjectedAnnotation) != found->name) {
    const Path path{"metadata", "annotations", std::string(kInjectedAnnotation)};
    SLIPWAY_TRY_VOID(text.set(point.document, path, Value(found->name)));
  }
  return Condition{.type = point.condition(),
                   .status = Truth::True,
                   .reason = "ConfigInjected",
                   .message = fmt::format("injected resource {:?} from cluster", found->name)};
}

Result<void> inject_all(VariantFiles& out, const VariantContent& content) {
  SLIPWAY_TRY(points, injection_points(out.files));
  for (const InjectionPoint& point : points) {
    SLIPWAY_TRY(text, read(out.files, point.file));
    auto condition = inject(text, point, content);
    if (!condition) return fail(wrong(fmt::format("{}: {}", point.file, condition.error().message)));
    out.files[point.file] = text.text();
    out.conditions.push_back(*std::move(condition));
    if (point.is_required) out.gates.push_back(point.condition());
  }
  return {};
}

}  // namespace

std::string InjectionPoint::condition() const { return fmt::format("config.injection.{}.{}", kind.kind, name); }

Result<std::vector<InjectionPoint>> injection_points(const Files& files) {
  std::vector<InjectionPoint> points;
  std::vector<std::string> faults;
  std::map<std::string, std::string> places;  // file by condition
  for (const auto& [path, bytes] : files) {
    // Most files ask for nothing: they are not read.
    if (!krm::is_krm_file(path) || !bytes.contains(kInjectionAnnotation)) continue;
    const auto documents = krm::read_yaml(bytes);
    if (!documents) return fail(wrong(fmt::format("{}: {}", path, documents.error().message)));
    for (std::size_t i = 0; i < documents->size(); ++i) {
      const Value object = krm::value_or_null((*documents)[i].root);
      const std::string_view asked = kube::annotation(object, kInjectionAnnotation);
      if (!object["metadata"]["annotations"].has(kInjectionAnnotation)) continue;
      const auto kind = kube::GroupVersionKind::of(object);
      if (!kind) return fail(wrong(fmt::format("{}: {}", path, kind.error().message)));
      InjectionPoint point{.file = path,
                           .document = i,
                           .kind = *kind,
                           .name = std::string(kube::name(object)),
                           .is_required = asked == "required"};
      if (asked != "required" && asked != "optional") {
        faults.push_back(fmt::format("{}: {}/{} has invalid {:?} annotation value of {:?}", path, point.kind.kind, point.name,
                                     kInjectionAnnotation, asked));
      }
      const auto [place, is_new] = places.emplace(point.condition(), path);
      if (!is_new) {
        faults.push_back(
            fmt::format("duplicate injection conditionType {:?} ({} and {})", point.condition(), place->second, path));
      }
      points.push_back(std::move(point));
    }
  }
  if (!faults.empty()) return fail(wrong("errors in injection points: " + joined(faults, ", ")));
  return points;
}

Injectable injectable(const kube::Object& object) {
  Injectable made{.api_version = object["apiVersion"].str(),
                  .kind = std::string(kube::kind(object)),
                  .name = std::string(kube::name(object))};
  const char* field = made.api_version == "v1" && made.kind == "ConfigMap" ? "data" : "spec";
  if (object.has(field)) made.value = object[field];
  return made;
}

VariantContent variant_content(std::string_view variant, const VariantSpec& spec) {
  return {.variant = std::string(variant), .context = spec.context, .pipeline = spec.pipeline, .injectors = spec.injectors};
}

Result<VariantFiles> with_variant(const Files& files, const VariantContent& content) {
  VariantFiles out{.files = files};
  if (content.context) SLIPWAY_TRY_VOID(write_context(out.files, *content.context));
  // Also without functions: those that the variant had before go.
  SLIPWAY_TRY_VOID(write_pipeline(out.files, content.pipeline.value_or(Pipeline{}), content.variant));
  SLIPWAY_TRY_VOID(inject_all(out, content));
  return out;
}

}  // namespace slipway::delivery::package
