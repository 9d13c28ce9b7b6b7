// The admission plugins of kube-apiserver that pods count on: Priority, RuntimeClass, DefaultTolerationSeconds. They look at
// other objects, fill in what follows from them, and answer Forbidden (not Invalid) when a name leads nowhere.
#pragma once

#include "server/builtin/strategy.h"

namespace slipway::server {

/// The pod with its priority and preemption policy, the overhead and placement of its runtime class, and the tolerations of a
/// node that is lost for five minutes. Forbidden for unknown classes and for values that contradict them. An update keeps the
/// old priority where it says none.
Result<kube::Object> admit_pod(const kube::Object& pod, const kube::Object& old, const Surroundings& around);

}  // namespace slipway::server
