// PackageVariant (config.porch.kpt.dev/v1alpha1): one package downstream is kept at one revision upstream, with what makes it
// the variant that it is. variant_set_spec.h has the set that makes many of them, variant_plan.h decides what is to be done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/repository_status.h"
#include "delivery/package/status.h"
#include "json/codec.h"

namespace slipway::delivery::package {

enum class AdoptionPolicy : std::uint8_t {
  AdoptNone,      // revisions of the package that others made are left alone
  AdoptExisting,  // they become the variant's
};
inline auto describe_enum(AdoptionPolicy) {
  return json::enum_names<AdoptionPolicy>(
      {{AdoptionPolicy::AdoptNone, "adoptNone"}, {AdoptionPolicy::AdoptExisting, "adoptExisting"}});
}
/// What becomes of the revisions of a variant that goes, or that is for another package from now on.
enum class DeletionPolicy : std::uint8_t {
  Delete,  // drafts and proposals are deleted, published ones proposed for deletion
  Orphan,  // all stay, without an owner
};
inline auto describe_enum(DeletionPolicy) {
  return json::enum_names<DeletionPolicy>({{DeletionPolicy::Delete, "delete"}, {DeletionPolicy::Orphan, "orphan"}});
}

struct Upstream {
  std::string repo{};
  std::string package{};
  std::int64_t revision = 0;
  std::string workspace{};

  static void describe(auto& d) {
    d.doc("A revision of a package: by number, or by workspace where that is given.");
    d.field("repo", &Upstream::repo, "Its Repository.");
    d.field("package", &Upstream::package, "The package's path.");
    d.field("revision", &Upstream::revision, "The number of a published revision, from 1.");
    d.field("workspaceName", &Upstream::workspace, "The revision's workspace.");
  }
  bool operator==(const Upstream&) const = default;
};

struct Downstream {
  std::string repo{};
  std::string package{};

  static void describe(auto& d) {
    d.doc("A package.");
    d.field("repo", &Downstream::repo, "Its Repository.");
    d.field("package", &Downstream::package, "Its path.");
  }
  auto operator<=>(const Downstream&) const = default;
};

struct PackageContext {
  std::map<std::string, std::string> data{};
  std::vector<std::string> remove_keys{};

  static void describe(auto& d) {
    d.doc("What package-context.yaml says beside name and package-path.");
    d.field("data", &PackageContext::data, "Keys to set.");
    d.field("removeKeys", &PackageContext::remove_keys, "Keys to remove.").list_type("set");
  }
  bool operator==(const PackageContext&) const = default;
};

struct PipelineFunction {
  std::string image{};
  std::string exec{};
  std::string tag{};
  std::string config_path{};
  std::map<std::string, std::string> config_map{};
  std::string name{};
  std::vector<json::Value> selectors{};
  std::vector<json::Value> exclude{};

  static void describe(auto& d) {
    d.doc("A function of a pipeline, as in a Kptfile.");
    d.field("image", &PipelineFunction::image, "The function.");
    d.field("exec", &PipelineFunction::exec, "A program; refused on a server.");
    d.field("tag", &PipelineFunction::tag, "A constraint on the image's version.");
    d.field("configPath", &PipelineFunction::config_path, "A file of the package with the function's configuration.");
    d.field("configMap", &PipelineFunction::config_map, "The function's configuration.");
    d.field("name", &PipelineFunction::name, "Tells it apart.");
    d.field("selectors", &PipelineFunction::selectors, "The objects that it gets; absent: all.").list_type("atomic");
    d.field("exclude", &PipelineFunction::exclude, "Those of them that it does not get.").list_type("atomic");
  }
  bool operator==(const PipelineFunction&) const = default;
};

struct Pipeline {
  std::vector<PipelineFunction> mutators{};
  std::vector<PipelineFunction> validators{};

  static void describe(auto& d) {
    d.doc("Functions that run when the package is rendered.");
    d.field("mutators", &Pipeline::mutators, "In order, each on what the one before gave.").list_type("atomic");
    d.field("validators", &Pipeline::validators, "Then these; what they change is dropped.").list_type("atomic");
  }
  bool operator==(const Pipeline&) const = default;
};

struct Injector {
  std::optional<std::string> group{};
  std::optional<std::string> version{};
  std::optional<std::string> kind{};
  std::string name{};

  static void describe(auto& d) {
    d.doc("An object of the cluster whose spec goes into an object of the package that asks for it.");
    d.field("group", &Injector::group, "Its group; absent: any.");
    d.field("version", &Injector::version, "Its version; absent: any.");
    d.field("kind", &Injector::kind, "Its kind; absent: any.");
    d.field("name", &Injector::name, "Its name.").required();
  }
  bool operator==(const Injector&) const = default;
};

struct VariantSpec {
  std::optional<Upstream> upstream{};
  std::optional<Downstream> downstream{};
  std::optional<AdoptionPolicy> adoption{};
  std::optional<DeletionPolicy> deletion{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> annotations{};
  std::optional<PackageContext> context{};
  std::optional<Pipeline> pipeline{};
  std::vector<Injector> injectors{};

  static void describe(auto& d) {
    d.doc("A package that follows another one.");
    d.field("upstream", &VariantSpec::upstream, "The revision to follow.");
    d.field("downstream", &VariantSpec::downstream, "The package that follows it.");
    d.field("adoptionPolicy", &VariantSpec::adoption,
            "Whether revisions that others made of the package become the variant's; absent: adoptNone.");
    d.field("deletionPolicy", &VariantSpec::deletion,
            "What becomes of its revisions: published ones are proposed to be deleted; absent: delete.");
    d.field("labels", &VariantSpec::labels, "Of its revisions.");
    d.field("annotations", &VariantSpec::annotations, "Of its revisions.");
    d.field("packageContext", &VariantSpec::context, "What package-context.yaml says.");
    d.field("pipeline", &VariantSpec::pipeline, "Functions that run before the package's own.");
    d.field("injectors", &VariantSpec::injectors, "Objects of the cluster to put in.").list_type("atomic");
  }
  bool operator==(const VariantSpec&) const = default;
};

struct DownstreamTarget {
  std::string name{};
  std::optional<RenderStatus> render{};

  static void describe(auto& d) {
    d.doc("A revision that the variant has.");
    d.field("name", &DownstreamTarget::name, "Its name.");
    d.field("renderStatus", &DownstreamTarget::render, "How its last rendering ended.");
  }
  bool operator==(const DownstreamTarget&) const = default;
};

struct VariantStatus {
  std::vector<ObjectCondition> conditions{};
  std::vector<DownstreamTarget> targets{};

  static void describe(auto& d) {
    d.doc("How it goes.");
    d.field("conditions", &VariantStatus::conditions, "Stalled: the spec is wrong. Ready: the revisions are as wanted.")
        .list_type("map", {"type"});
    d.field("downstreamTargets", &VariantStatus::targets, "Its drafts, or else its newest published revision.")
        .list_type("atomic");
  }
  bool operator==(const VariantStatus&) const = default;
};

}  // namespace slipway::delivery::package
