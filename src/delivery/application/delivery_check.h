// Validates an Application before delivery. Each cause has its field path; causes are in the order of the fields. What
// evaluates texts of users (application-scoped policies; then conditions, parameters and override policies; then renderings of
// components) runs in compute(); read() fetches its inputs.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery/application/component_check.h"
#include "delivery/application/parsed.h"
#include "delivery/application/scoped_policies.h"

namespace slipway::delivery::application {

class DeliveryCheck {
 public:
  /// `old` is null for a create. There are no causes if nothing that is validated differs from it.
  DeliveryCheck(kube::Object application, kube::Object old);
  DeliveryCheck(const DeliveryCheck&) = delete;
  DeliveryCheck& operator=(const DeliveryCheck&) = delete;

  /// Fetches the inputs of the next compute(); false if nothing is left to compute. On the logic thread, never beside
  /// compute().
  bool read(const Lookup& lookup);
  /// Instead of read() and compute() where there is no time: all but what is computed, of the application as it was written.
  void read_as_written(const Lookup& lookup);
  /// On any one thread; each template and expression within the budget of templates.
  void compute();
  /// Ends compute() soon. From any thread.
  void cancel() { is_cancelled_ = true; }
  /// Causes found so far. Thread-safe.
  std::vector<Cause> causes() const;
  /// Warnings found so far. Thread-safe.
  std::vector<std::string> warnings() const;
  /// Whether read() has come to what is not computed: types, names, update rules.
  bool is_read() const { return stage_ == Stage::Renderings; }
  /// True if cancel() came before everything was checked.
  bool is_cut_short() const;

 private:
  class Reading;
  enum class Stage : std::uint8_t { Start, Policies, Parameters, Renderings };
  struct Finding {
    std::vector<Cause> causes{};
    std::vector<std::string> warnings{};
  };
  /// A piece of compute(), which touches nothing of the logic thread's.
  using Piece = std::function<Finding(const RenderContext& context, const cue::Limits& limits)>;
  struct Computed {
    std::size_t after;  // so many of causes_ come before
    Piece piece;
    Finding finding{};  // once it was computed
  };
  /// What one stage of read() leaves to the next.
  struct Known {
    ApplicationSpec spec{};
    workflow::Steps steps{};
    std::vector<std::string> step_names{};
    std::vector<PolicySpec> overrides{};  // of the spec and of shared policies that steps name
    std::set<std::string> fed{};          // components into whose step a variable goes
    bool is_sound = false;                // the components may be looked at
  };

  /// False if they cannot be applied; causes_ says why.
  bool take_scoped();
  void compute_pieces();
  cue::Limits limits() const;

  const kube::Object application_;
  const kube::Object old_;
  Stage stage_ = Stage::Start;  // what read() has read for
  std::vector<ScopedPolicy> policies_;
  std::optional<Result<Scoped>> scoped_;
  Known known_;
  OverriddenComponents overridden_;
  std::vector<Cause> causes_;
  std::vector<Computed> computed_;
  std::atomic<std::size_t> done_ = 0;  // of computed_, from the front
  RenderContext context_;
  std::atomic<bool> is_cancelled_ = false;
};

/// All of it at once.
std::vector<Cause> check_delivery(const kube::Object& application, const kube::Object& old, const Lookup& lookup);

}  // namespace slipway::delivery::application
