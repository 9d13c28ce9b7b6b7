// What a PackageVariant writes into the content of its revisions (config.porch.kpt.dev/v1alpha1): entries of
// package-context.yaml, functions in front of the package's own, and the spec (of ConfigMaps the data) of objects of the
// cluster, into objects of the package that ask for it with the annotation kpt.dev/config-injection: required or optional.
// Pure: the objects of the cluster go in. A draft is made with all of this in its first commit, so that none sees half of it.
//
// Files keep every byte that is not changed; a list of functions that is changed loses its comments. DIVERGES: Porch writes
// files anew and they lose their form; here a variant without functions, context and injection points changes nothing at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/package/condition.h"
#include "delivery/package/digest.h"
#include "delivery/package/variant_spec.h"
#include "kube/object.h"

namespace slipway::delivery::package {

inline constexpr std::string_view kInjectionAnnotation = "kpt.dev/config-injection";
inline constexpr std::string_view kInjectedAnnotation = "kpt.dev/injected-resource";

/// An object of a package that asks for an object of the cluster.
struct InjectionPoint {
  std::string file{};
  std::size_t document = 0;
  kube::GroupVersionKind kind{};
  std::string name{};
  bool is_required = false;

  /// "config.injection.ConfigMap.site"
  std::string condition() const;
};
/// Invalid, in Porch's words, when an annotation has another value or two points have one condition.
Result<std::vector<InjectionPoint>> injection_points(const Files& files);

/// What is put in, as it was in the cluster.
struct Injectable {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::optional<json::Value> value{};  // spec or data; absent: it has none

  static void describe(auto& d) {
    d.doc("An object of the cluster.");
    d.field("apiVersion", &Injectable::api_version, "Its API version.").required();
    d.field("kind", &Injectable::kind, "Its kind.").required();
    d.field("name", &Injectable::name, "Its name.").required();
    d.field("value", &Injectable::value, "Its spec, of a ConfigMap its data.").any_object();
  }
  bool operator==(const Injectable&) const = default;
};
Injectable injectable(const kube::Object& object);

/// All that a variant writes. It may be sent with a new PackageRevision (spec.variant), and is not kept there.
struct VariantContent {
  std::string variant{};
  std::optional<PackageContext> context{};
  std::optional<Pipeline> pipeline{};
  std::vector<Injector> injectors{};
  std::vector<Injectable> objects{};  // that injectors may mean, of kinds that injection points have

  static void describe(auto& d) {
    d.doc("What a PackageVariant writes into a new revision. It is done in the first commit and not kept here.");
    d.field("name", &VariantContent::variant, "The variant.").required().min_length(1);
    d.field("packageContext", &VariantContent::context, "What package-context.yaml says.");
    d.field("pipeline", &VariantContent::pipeline, "Functions that run before the package's own.");
    d.field("injectors", &VariantContent::injectors, "Objects of the cluster to put in.").list_type("atomic");
    d.field("objects", &VariantContent::objects, "Those objects, as they were.").list_type("atomic");
  }
  bool operator==(const VariantContent&) const = default;
};
VariantContent variant_content(std::string_view variant, const VariantSpec& spec);

struct VariantFiles {
  Files files{};
  std::vector<Condition> conditions{};  // config.injection.…: type, status, reason and message
  std::vector<std::string> gates{};     // that required points ask for
};
/// Errors name the file. Doing it again changes nothing. Conditions and gates are given back, not written into the Kptfile.
Result<VariantFiles> with_variant(const Files& files, const VariantContent& content);

}  // namespace slipway::delivery::package
