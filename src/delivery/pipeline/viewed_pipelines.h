// Of which Pipelines this process has looked at every target since it began. Until then a status tells what an earlier process
// left behind: environments may have failed since, so nothing is promoted by it. The view adds to this, promotions ask it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kube/object.h"

namespace slipway::delivery::pipeline {

class ViewedPipelines {
 public:
  /// `pipeline` has a status that this process has seen to; the listener is told of the first.
  void add(const kube::Object& pipeline) {
    auto& first = first_[kube::key_of(pipeline)];
    if (first.first == kube::uid(pipeline)) return;
    first = {std::string(kube::uid(pipeline)), kube::revision(pipeline)};
    if (listener_) listener_(kube::key_of(pipeline));
  }
  void remove(const kube::ObjectKey& key) { first_.erase(key); }
  /// False for one that was read before its status was seen to.
  bool contains(const kube::Object& pipeline) const {
    const auto found = first_.find(kube::key_of(pipeline));
    return found != first_.end() && found->second.first == kube::uid(pipeline) &&
           found->second.second <= kube::revision(pipeline);
  }
  void tell(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }

 private:
  std::map<kube::ObjectKey, std::pair<std::string, kube::Revision>> first_;
  std::function<void(const kube::ObjectKey&)> listener_;
};

}  // namespace slipway::delivery::pipeline
