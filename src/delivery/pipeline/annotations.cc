#include "delivery/pipeline/annotations.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"

namespace slipway::delivery::pipeline {

using kube::Object;
using kube::ObjectKey;

Object Claim::reference() const {
  return json::object({{"apiVersion", api_version},
                       {"kind", kind},
                       {"metadata", json::object({{"namespace", key.ns}, {"name", key.name}, {"uid", uid}})}});
}

ObjectKey claimed_pipeline(const Object& object) {
  const std::string written(kube::annotation(object, kPipelineAnnotation));
  const auto slash = written.find('/');
  if (slash == std::string::npos) return {std::string(kube::ns(object)), written};
  return {written.substr(0, slash), written.substr(slash + 1)};
}

std::set<ObjectKey> AnnotationIndex::changed(const std::string& cluster, const Object& before, const Object& after) {
  const auto claim_of = [&](const Object& object) {
    return Claim{.cluster = cluster,
                 .api_version = object["apiVersion"].str(),
                 .kind = std::string(kube::kind(object)),
                 .key = kube::key_of(object),
                 .uid = std::string(kube::uid(object)),
                 .pipeline = std::string(kube::annotation(object, kPipelineAnnotation)),
                 .environment = std::string(kube::annotation(object, kEnvironmentAnnotation))};
  };
  std::set<ObjectKey> touched;
  const bool was_claim = !kube::annotation(before, kPipelineAnnotation).empty();
  const bool is_claim = !kube::annotation(after, kPipelineAnnotation).empty();
  if (was_claim && is_claim && claim_of(before) == claim_of(after)) return touched;
  if (was_claim) {
    const ObjectKey pipeline = claimed_pipeline(before);
    auto& claims = by_pipeline_[pipeline];
    claims.erase(claim_of(before));
    if (claims.empty()) by_pipeline_.erase(pipeline);
    touched.insert(pipeline);
  }
  if (is_claim) {
    const ObjectKey pipeline = claimed_pipeline(after);
    by_pipeline_[pipeline].insert(claim_of(after));
    touched.insert(pipeline);
  }
  return touched;
}

std::set<ObjectKey> AnnotationIndex::forget(const std::string& cluster) {
  std::set<ObjectKey> touched;
  for (auto& [pipeline, claims] : by_pipeline_) {
    if (std::erase_if(claims, [&](const Claim& one) { return one.cluster == cluster; }) > 0) touched.insert(pipeline);
  }
  std::erase_if(by_pipeline_, [](const auto& one) { return one.second.empty(); });
  return touched;
}

const std::set<Claim>& AnnotationIndex::of(const ObjectKey& pipeline) const {
  static const std::set<Claim> kNone;
  const auto found = by_pipeline_.find(pipeline);
  return found == by_pipeline_.end() ? kNone : found->second;
}

std::vector<std::pair<ObjectKey, Claim>> AnnotationIndex::dangling_in(
    const std::string& cluster, const std::function<bool(const ObjectKey&)>& exists) const {
  std::vector<std::pair<ObjectKey, Claim>> found;
  for (const auto& [pipeline, claims] : by_pipeline_) {
    if (exists(pipeline)) continue;
    for (const Claim& claim : claims) {
      if (claim.cluster == cluster) found.emplace_back(pipeline, claim);
    }
  }
  return found;
}

Problem dangling_problem(std::string object, const ObjectKey& pipeline) {
  return {
      .kind = "DanglingPipeline",
      .object = std::move(object),
      .text = fmt::format("annotation {} names Pipeline {}, which does not exist", kPipelineAnnotation, pipeline.to_string())};
}

Problem other_pipeline_problem(std::string object, const ObjectKey& pipeline) {
  return {.kind = "OtherPipeline",
          .object = std::move(object),
          .text = fmt::format("annotation {} names Pipeline {}: correct it, or remove the target here", kPipelineAnnotation,
                              pipeline.to_string())};
}

namespace {

bool is_target(const Claim& claim, const PipelineSpec& spec, const std::vector<TargetPlace>& places) {
  return claim.kind == spec.app.kind && claim.key.name == spec.app.name &&
         std::ranges::any_of(places, [&](const TargetPlace& place) {
           const bool is_environment = claim.environment.empty() || claim.environment == place.environment;
           return place.cluster == claim.cluster && place.ns == claim.key.ns && is_environment;
         });
}

}  // namespace

std::vector<AnnotationFault> faults_of(const std::set<Claim>& claims, const ObjectKey& pipeline, const PipelineSpec* spec,
                                       const std::vector<TargetPlace>& places) {
  std::vector<AnnotationFault> faults;
  for (const Claim& claim : claims) {
    const auto add = [&](const char* reason, std::string text) { faults.push_back({claim, reason, std::move(text)}); };
    if (spec == nullptr) {
      add("DanglingPipeline", dangling_problem("", pipeline).text);
      continue;
    }
    const bool has_environment = claim.environment.empty() || std::ranges::find(spec->environments, claim.environment,
                                                                                &Environment::name) != spec->environments.end();
    if (!has_environment) {
      add("DanglingEnvironment", fmt::format("annotation {} names environment {}, which Pipeline {} does not have",
                                             kEnvironmentAnnotation, claim.environment, pipeline.to_string()));
    } else if (!is_target(claim, *spec, places)) {
      add("NotATarget", fmt::format("it is annotated as of Pipeline {}{}, which has no such target", pipeline.to_string(),
                                    claim.environment.empty() ? "" : ", environment " + claim.environment));
    }
  }
  return faults;
}

}  // namespace slipway::delivery::pipeline
