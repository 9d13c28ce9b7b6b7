// PackageVariantSet (config.porch.kpt.dev/v1alpha2): targets and a template make PackageVariants. Fields that end in Expr are
// CEL over repoDefault, packageDefault, upstream, repository and target; fan_out.h evaluates them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/variant_spec.h"

namespace slipway::delivery::package {

/// One of key and key_expr, and one of value and value_expr.
struct MapExpr {
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::optional<std::string> key_expr{};
  std::optional<std::string> value_expr{};

  static void describe(auto& d) {
    d.doc("An entry of a map: one of key and keyExpr, one of value and valueExpr.");
    d.field("key", &MapExpr::key, "Its key.");
    d.field("value", &MapExpr::value, "Its value.");
    d.field("keyExpr", &MapExpr::key_expr, "CEL that gives the key.");
    d.field("valueExpr", &MapExpr::value_expr, "CEL that gives the value.");
  }
};

struct DownstreamTemplate {
  std::optional<std::string> repo{};
  std::optional<std::string> package{};
  std::optional<std::string> repo_expr{};
  std::optional<std::string> package_expr{};

  static void describe(auto& d) {
    d.doc("The package of a variant, where the target's default is not meant.");
    d.field("repo", &DownstreamTemplate::repo, "Its Repository.");
    d.field("package", &DownstreamTemplate::package, "Its path.");
    d.field("repoExpr", &DownstreamTemplate::repo_expr, "CEL that gives the Repository.");
    d.field("packageExpr", &DownstreamTemplate::package_expr, "CEL that gives the path.");
  }
};

struct ContextTemplate {
  std::map<std::string, std::string> data{};
  std::vector<std::string> remove_keys{};
  std::vector<MapExpr> data_exprs{};
  std::vector<std::string> remove_key_exprs{};

  static void describe(auto& d) {
    d.doc("packageContext of a variant.");
    d.field("data", &ContextTemplate::data, "Keys to set.");
    d.field("removeKeys", &ContextTemplate::remove_keys, "Keys to remove.").list_type("set");
    d.field("dataExprs", &ContextTemplate::data_exprs, "Entries that win over those of data.").list_type("atomic");
    d.field("removeKeyExprs", &ContextTemplate::remove_key_exprs, "CEL, each of which gives a key.").list_type("atomic");
  }
};

struct InjectorTemplate {
  std::optional<std::string> group{};
  std::optional<std::string> version{};
  std::optional<std::string> kind{};
  std::optional<std::string> name{};
  std::optional<std::string> name_expr{};

  static void describe(auto& d) {
    d.doc("An injector of a variant. One of name and nameExpr.");
    d.field("group", &InjectorTemplate::group, "Its group.");
    d.field("version", &InjectorTemplate::version, "Its version.");
    d.field("kind", &InjectorTemplate::kind, "Its kind.");
    d.field("name", &InjectorTemplate::name, "Its name.");
    d.field("nameExpr", &InjectorTemplate::name_expr, "CEL that gives the name.");
  }
};

struct FunctionTemplate : PipelineFunction {
  std::vector<MapExpr> config_exprs{};

  static void describe(auto& d) {
    PipelineFunction::describe(d);
    d.field("configMapExprs", &FunctionTemplate::config_exprs, "Entries that win over those of configMap.").list_type("atomic");
  }
};

struct PipelineTemplate {
  std::vector<FunctionTemplate> validators{};
  std::vector<FunctionTemplate> mutators{};

  static void describe(auto& d) {
    d.doc("pipeline of a variant.");
    d.field("validators", &PipelineTemplate::validators, "Its validators.").list_type("atomic");
    d.field("mutators", &PipelineTemplate::mutators, "Its mutators.").list_type("atomic");
  }
};

struct VariantTemplate {
  std::optional<DownstreamTemplate> downstream{};
  std::optional<AdoptionPolicy> adoption{};
  std::optional<DeletionPolicy> deletion{};
  std::map<std::string, std::string> labels{};
  std::vector<MapExpr> label_exprs{};
  std::map<std::string, std::string> annotations{};
  std::vector<MapExpr> annotation_exprs{};
  std::optional<ContextTemplate> context{};
  std::optional<PipelineTemplate> pipeline{};
  std::vector<InjectorTemplate> injectors{};

  static void describe(auto& d) {
    d.doc("What a variant of the target is like.");
    d.field("downstream", &VariantTemplate::downstream, "Its package.");
    d.field("adoptionPolicy", &VariantTemplate::adoption, "Its adoptionPolicy.");
    d.field("deletionPolicy", &VariantTemplate::deletion, "Its deletionPolicy.");
    d.field("labels", &VariantTemplate::labels, "Its labels.");
    d.field("labelExprs", &VariantTemplate::label_exprs, "Labels that win over those.").list_type("atomic");
    d.field("annotations", &VariantTemplate::annotations, "Its annotations.");
    d.field("annotationExprs", &VariantTemplate::annotation_exprs, "Annotations that win over those.").list_type("atomic");
    d.field("packageContext", &VariantTemplate::context, "Its packageContext.");
    d.field("pipeline", &VariantTemplate::pipeline, "Its pipeline.");
    d.field("injectors", &VariantTemplate::injectors, "Its injectors.").list_type("atomic");
  }
};

struct RepositoryTarget {
  std::string name{};
  std::vector<std::string> packages{};

  static void describe(auto& d) {
    d.doc("A Repository.");
    d.field("name", &RepositoryTarget::name, "Its name.").required();
    d.field("packageNames", &RepositoryTarget::packages, "A package for each; absent: one, named as upstream.")
        .list_type("atomic");
  }
};

struct ObjectSelector {
  std::string api_version{};
  std::string kind{};
  std::optional<std::string> name{};
  std::optional<json::Value> match_labels{};
  std::optional<std::vector<json::Value>> match_expressions{};

  static void describe(auto& d) {
    d.doc("Objects of the set's namespace.");
    d.field("apiVersion", &ObjectSelector::api_version, "Their API version.");
    d.field("kind", &ObjectSelector::kind, "Their kind.");
    d.field("name", &ObjectSelector::name, "Only the one of that name.");
    d.field("matchLabels", &ObjectSelector::match_labels, "Labels that they have.").any_object();
    d.field("matchExpressions", &ObjectSelector::match_expressions, "What their labels satisfy.").list_type("atomic");
  }
};

struct VariantTarget {
  std::optional<std::vector<RepositoryTarget>> repositories{};
  std::optional<json::Value> repository_selector{};
  std::optional<ObjectSelector> object_selector{};
  std::optional<VariantTemplate> variant{};

  static void describe(auto& d) {
    d.doc("What variants are made for. One of the three ways to name it.");
    d.field("repositories", &VariantTarget::repositories, "Repositories by name.").list_type("atomic");
    d.field("repositorySelector", &VariantTarget::repository_selector, "Repositories by label.").any_object();
    d.field("objectSelector", &VariantTarget::object_selector, "Any objects; their names are those of Repositories.");
    d.field("template", &VariantTarget::variant, "What a variant of it is like.");
  }
};

struct VariantSetSpec {
  std::optional<Upstream> upstream{};
  std::vector<VariantTarget> targets{};

  static void describe(auto& d) {
    d.doc("Packages that follow another one.");
    d.field("upstream", &VariantSetSpec::upstream, "The revision to follow.");
    d.field("targets", &VariantSetSpec::targets, "What variants are made for.").list_type("atomic");
  }
};

struct VariantSetStatus {
  std::vector<ObjectCondition> conditions{};

  static void describe(auto& d) {
    d.doc("How it goes.");
    d.field("conditions", &VariantSetStatus::conditions, "Stalled: the spec is wrong. Ready: the variants are there.")
        .list_type("map", {"type"});
  }
};

}  // namespace slipway::delivery::package
