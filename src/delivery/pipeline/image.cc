#include "delivery/pipeline/image.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/pipeline/health.h"
#include "kube/selector.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

constexpr const char* kContainerLists[] = {"initContainers", "containers"};

/// Digests by container name of the ready pods that a workload selects.
std::set<std::pair<std::string, std::string>> digests_of(const Object& workload, const std::vector<Object>& others) {
  std::set<std::pair<std::string, std::string>> found;
  const auto selector = kube::LabelSelector::from_object(workload["spec"]["selector"]);
  if (!selector) return found;
  for (const Object& pod : others) {
    const bool is_its_pod = kube::kind(pod) == "Pod" && kube::ns(pod) == kube::ns(workload) && kube::is_true(pod, "Ready") &&
                            selector->matches(pod["metadata"]["labels"]);
    if (!is_its_pod) continue;
    for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
      for (const Value& container : pod["status"][list].items()) {
        const std::string digest = Image::parse(container["imageID"].as_string()).digest;
        if (!digest.empty()) found.emplace(container["name"].str(), digest);
      }
    }
  }
  return found;
}

}  // namespace

Image Image::parse(std::string_view text) {
  Image made;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    made.digest = text.substr(at + 1);
    text = text.substr(0, at);
  }
  const auto colon = text.rfind(':');
  const bool is_port = colon != std::string_view::npos && text.find('/', colon) != std::string_view::npos;
  if (colon != std::string_view::npos && !is_port) {
    made.tag = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  made.name = text;
  return made;
}

std::string Image::to_string() const { return name + (tag.empty() ? "" : ":" + tag) + (digest.empty() ? "" : "@" + digest); }

const Value& pod_template(const Object& object) {
  const Value& spec = object["spec"];
  return kube::kind(object) == "CronJob" ? spec["jobTemplate"]["spec"]["template"] : spec["template"];
}

bool is_rolled(const Object& object) {
  return group_of(object) != "batch" && kube::kind(object) != "ReplicaSet" &&
         !pod_template(object)["spec"]["containers"].empty();
}

std::vector<Image> images_of(const std::vector<Object>& workloads, const std::vector<Object>& others) {
  std::set<Image> images;
  for (const Object& workload : workloads) {
    const auto digests = digests_of(workload, others);
    for (const char* list : kContainerLists) {
      for (const Value& container : pod_template(workload)["spec"][list].items()) {
        Image image = Image::parse(container["image"].as_string());
        bool is_digest_known = !image.digest.empty();
        for (const auto& [name, digest] : digests) {
          if (is_digest_known || name != container["name"].as_string()) continue;
          images.insert({.name = image.name, .tag = image.tag, .digest = digest});
        }
        is_digest_known |=
            std::ranges::any_of(digests, [&](const auto& one) { return one.first == container["name"].as_string(); });
        if (!is_digest_known || !image.digest.empty()) images.insert(std::move(image));
      }
    }
  }
  return {images.begin(), images.end()};
}

std::string image_set(const std::vector<Image>& images) {
  std::set<std::string> names;
  for (const Image& image : images) {
    names.insert(image.tag.empty() ? image.to_string() : Image{.name = image.name, .tag = image.tag}.to_string());
  }
  return joined(std::vector<std::string>(names.begin(), names.end()), ", ");
}

std::string image_set_digest(const std::vector<Image>& images) {
  if (images.size() == 1) return images.front().digest;
  std::string all;
  for (const Image& image : images) {
    if (image.digest.empty()) return "";
    all += image.name + "@" + image.digest + "\n";
  }
  return all.empty() ? "" : "sha256:" + sha256_hex(all);
}

}  // namespace slipway::delivery::pipeline
