// KRM functions: a function takes a ResourceList (resources, a configuration) and gives it back changed, with structured
// results (config.kubernetes.io/v1, "KRM Functions Specification"). Those built in are rows: one file below krm/fn and one row
// in function.cc each. What an image is known by is the last part of its name. Images that are known and not built in
// (starlark, gatekeeper, render-helm-chart …) answer NotImplemented and say what to use instead.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "krm/package.h"

namespace slipway::krm {

struct FunctionResult {
  std::string message;
  std::string severity;  // error, warning, info; empty counts as error for judges and is left out on the wire
  std::string api_version;
  std::string kind;
  std::string name;
  std::string namespace_name;
  std::string field_path;
  json::Value current_value;
  json::Value proposed_value;
  std::string file_path;
  std::size_t file_index = 0;
  std::map<std::string, std::string> tags;

  static FunctionResult info(std::string message);
  static FunctionResult warning(std::string message);
  static FunctionResult error(std::string message);
  FunctionResult at(const Resource& resource) &&;  // names resource and file
  FunctionResult in_file(const Resource& resource) &&;
  FunctionResult field(std::string path) &&;
};

struct ResourceList {
  std::vector<Resource> items;
  std::optional<Resource> config;
  std::vector<FunctionResult> results;

  /// Members of a ConfigMap's data (other scalars as their text); empty without a configuration.
  std::map<std::string, std::string> data() const;
  bool has_config() const { return config.has_value() && !config->root().children.empty(); }
};

/// An error ends the pipeline: its message is what the program would print before it exits with 1. Results with severity error
/// also fail the function.
using FunctionRun = Result<void> (*)(ResourceList& list);

struct FunctionRow {
  std::string_view name;
  FunctionRun run;
  std::string_view doc;
  /// Upstream's image gives resources back without their place: evaluate() does so, too.
  bool loses_places = false;
};

std::span<const FunctionRow> functions();
/// "registry/set-labels:v0.2@sha256:…" → "set-labels".
std::string function_name(std::string_view image);
/// NotImplemented names the image and what to use in its place.
Result<FunctionRun> find_function(std::string_view image);
bool has_errors(std::span<const FunctionResult> results);

/// Results as they are written in a ResourceList, a FunctionResultList and in Kptfile.status.
json::Value result_value(const FunctionResult& result);
Result<FunctionResult> read_result(const json::Value& value);

/// The wire form. Paths and indexes travel as annotations, in both spellings; lists are compact.
std::string write_resource_list(const ResourceList& list);
/// BadRequest for what is no ResourceList of v1, v1beta1 or v1alpha1; when both spellings of a path were changed to different
/// ones.
Result<ResourceList> read_resource_list(std::string_view text);

}  // namespace slipway::krm
