// Names of the pods of sets that number their pods by use: ReplicaSet, CloneSet. A name is made from the set's uid and a
// number, and a number is used once, so that a replacement never has the name of the pod that went, and a controller that died
// after creating a pod meets that pod instead of making another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

/// Which numbers the names of a set's pods were made from. The set carries it as an annotation, "12@3456", which is written
/// after the pods were made: a controller that starts goes on from there.
struct PodNumbers {
  std::int64_t next = 0;    // all numbers below were used
  kube::Revision seen = 0;  // a cache of pods that has reached it knows all pods with these numbers

  static PodNumbers of(const kube::Object& set);
  std::string to_string() const;
  bool operator==(const PodNumbers&) const = default;
};

/// Whether a pod name of the set's namespace is in use.
using IsTaken = std::function<bool(const std::string& name)>;

/// Names for `count` pods from the next unused numbers; `next_number` moves past them.
std::vector<std::string> next_pod_names(const kube::Object& set, std::int64_t count, const IsTaken& is_taken,
                                        std::int64_t& next_number);

/// The numbers once more after a start: what an earlier process has used without writing it down is found by the names that
/// are taken. Looks `reach` numbers ahead.
PodNumbers with_taken_names(PodNumbers numbers, const kube::Object& set, std::int64_t reach, const IsTaken& is_taken);

/// What a controller knows of the numbers of its sets beyond what they say.
class KnownPodNumbers {
 public:
  /// The numbers of the set; for one that is new to this process, or was made anew, with_taken_names(). `pods`: how many it
  /// has.
  PodNumbers& of(const kube::Object& set, std::size_t pods, const IsTaken& is_taken);
  void forget(const kube::ObjectKey& key) { known_.erase(key); }

 private:
  struct Known {
    std::string uid;
    PodNumbers numbers;
  };
  std::map<kube::ObjectKey, Known> known_;
};

}  // namespace slipway::cluster
