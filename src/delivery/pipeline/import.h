// Pipelines out of what other products call them, pure: Kargo's Stages, with their Warehouse, Project and PromotionTasks, and
// the PromotionStrategies of gitops-promoter. What a Pipeline has no word for is refused by the name of the field and where it
// stands; nothing is left out silently, and where anything is refused nothing comes out. What these products do not say at all,
// which object deploys the application and where, is asked for.
//
// Kargo: https://docs.kargo.io, gitops-promoter: https://gitops-promoter.readthedocs.io.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {

struct ImportOptions {
  std::optional<AppRef> app{};
  /// Of targets: "{project}" is the namespace of the Stage or strategy, "{environment}" the environment.
  std::string target_namespace = "{project}-{environment}";
};

/// A field that cannot be taken over.
struct Refusal {
  std::string at{};  // "stages.yaml:12"
  std::string field{};
  std::string text{};

  /// "stages.yaml:12: spec.verification: …"
  std::string to_string() const;
  bool operator==(const Refusal&) const = default;
};

struct Imported {
  std::vector<kube::Object> pipelines{};  // none where something is refused
  std::vector<Refusal> refusals{};
  std::vector<std::string> notes{};  // what is left to do by hand
};

/// Of all objects together: Stages may be in other files than their Warehouse.
Imported import_objects(const std::vector<SourceObject>& objects, const ImportOptions& options);

// The parts, for import_objects.

/// Collects what one product's objects come to.
class Importer {
 public:
  Importer(const std::vector<SourceObject>& objects, const ImportOptions& options) : objects_(objects), options_(options) {}

  void kargo();
  void promoter();
  Imported take() { return std::move(made_); }

  void refuse(const SourceObject& source, std::string field, std::string text);
  void note(std::string text) { made_.notes.push_back(std::move(text)); }
  /// Every member below `field` of the source that is not among `known` is refused.
  void refuse_unknown(const SourceObject& source, const std::string& field, const json::Value& value,
                      std::initializer_list<std::string_view> known);
  Target target(const std::string& project, const std::string& environment) const;
  void add(std::string ns, std::string name, PipelineSpec spec);
  const SourceObject* find(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) const;
  std::vector<const SourceObject*> all(std::string_view group, std::string_view kind) const;
  const ImportOptions& options() const { return options_; }

 private:
  const std::vector<SourceObject>& objects_;
  const ImportOptions& options_;
  Imported made_;
};

/// slipway pipeline import -f FILE…: prints YAML; listed in family.cc.
Command import_command();

}  // namespace slipway::delivery::pipeline
