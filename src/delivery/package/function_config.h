// FunctionConfig of config.porch.kpt.dev/v1alpha1: what runs for an image that a package's pipeline names. Slipway runs
// functions of its own and programs that the administrator maps here (binaryExecutor; function_programs.h); podExecutor is read
// and not used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery::package {

struct BinaryExecutor {
  std::vector<std::string> tags{};
  std::string path{};

  static void describe(auto& d) {
    d.doc("A program of the server's machine, run in a sandbox.");
    d.field("tags", &BinaryExecutor::tags, "Tags of the image that it stands for.").required().min_items(1).list_type("atomic");
    d.field("path", &BinaryExecutor::path, "Its path, from the root. Who sets it needs the verb runprogram on functionconfigs.")
        .required()
        .min_length(1);
  }
  bool operator==(const BinaryExecutor&) const = default;
};

struct BuiltinExecutor {
  std::vector<std::string> tags{};
  std::optional<std::string> id{};

  static void describe(auto& d) {
    d.doc("A function that the server has built in.");
    d.field("tags", &BuiltinExecutor::tags, "Tags of the image that it stands for.")
        .required()
        .min_items(1)
        .list_type("atomic");
    d.field("id", &BuiltinExecutor::id, "Its name; absent: the image's.");
  }
  bool operator==(const BuiltinExecutor&) const = default;
};

struct PodExecutor {
  std::vector<std::string> tags{};
  Duration time_to_live = std::chrono::minutes{30};
  std::optional<std::int64_t> max_parallel{};
  std::optional<std::int64_t> preferred_queue{};
  std::optional<json::Value> overrides{};

  static void describe(auto& d) {
    d.doc("Pods that run the image. Not implemented: read and not used.");
    d.field("tags", &PodExecutor::tags, "Tags of the image; absent: all.").list_type("atomic");
    d.field("timeToLive", &PodExecutor::time_to_live, "How long an idle pod stays, e.g. 30m.").with_default();
    d.field("maxParallelExecutions", &PodExecutor::max_parallel, "Pods at most.");
    d.field("preferredMaxQueueLength", &PodExecutor::preferred_queue, "Waiting calls before another pod is started.");
    d.field("templateOverrides", &PodExecutor::overrides, "Fields of the pods.").any_object();
  }
  bool operator==(const PodExecutor&) const = default;
};

struct FunctionConfigSpec {
  std::string image{};
  std::vector<std::string> prefixes{};
  std::optional<PodExecutor> pod{};
  std::optional<BinaryExecutor> binary{};
  std::optional<BuiltinExecutor> builtin{};

  static void describe(auto& d) {
    d.doc("What runs for an image.");
    d.field("image", &FunctionConfigSpec::image, "The image without registry and tag.").required().min_length(1);
    d.field("prefixes", &FunctionConfigSpec::prefixes, "Registries that it may be named with.").list_type("atomic");
    d.field("podExecutor", &FunctionConfigSpec::pod, "Pods.");
    d.field("binaryExecutor", &FunctionConfigSpec::binary, "A program.");
    d.field("goExecutor", &FunctionConfigSpec::builtin, "A built-in function.");
  }
  bool operator==(const FunctionConfigSpec&) const = default;
};

/// Generations are those of the object (metadata.generation); 0: not read yet.
struct FunctionConfigStatus {
  std::int64_t server_generation = 0;
  std::int64_t runner_generation = 0;
  std::int64_t controller_generation = 0;
  std::string error{};

  static void describe(auto& d) {
    d.doc("Who has read it.");
    d.field("apiServerObservedGeneration", &FunctionConfigStatus::server_generation, "Generation that the server has read.");
    d.field("functionRunnerObservedGeneration", &FunctionConfigStatus::runner_generation, "Of the runner of programs.");
    d.field("controllerObservedGeneration", &FunctionConfigStatus::controller_generation, "Of the controllers.");
    d.field("error", &FunctionConfigStatus::error, "What is wrong with it.");
  }
  bool operator==(const FunctionConfigStatus&) const = default;
};

}  // namespace slipway::delivery::package
