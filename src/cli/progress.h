// How a delivery shows itself while it runs: a live step table on a terminal, one plain line per change in a pipe.
#pragma once

#include <functional>
#include <memory>

#include "base/env.h"
#include "cli/deliver.h"
#include "control/explain.h"
#include "kube/object.h"

namespace slipway::cli {

class Progress {
 public:
  virtual ~Progress() = default;
  /// An object under delivery appeared (before is null), changed, or went (after is null).
  virtual void changed(const kube::Object& before, const kube::Object& after) = 0;
  /// Called from time to time and after changes.
  virtual void tick() {}
  /// No more output after this.
  virtual void end() {}
  /// How often tick() is wanted.
  virtual Duration refresh() const { return std::chrono::hours{1}; }
};

/// What else there is now, for summaries that need more than the object.
using MakeView = std::function<std::shared_ptr<const control::View>()>;

/// The live table when standard output is a terminal; else lines. With Output::Json lines go to standard error.
std::unique_ptr<Progress> make_progress(Env& env, Output output, MakeView view);

}  // namespace slipway::cli
