// Validates an Application before delivery. Each cause has its field path; causes are in the order of the fields. Expensive
// parts (application-scoped policies, then renderings of components) run in compute(); read() fetches their inputs.
#pragma once

#include <atomic>
#include <optional>
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
  /// On any one thread; each template within the budget of templates.
  void compute();
  /// Ends compute() soon. From any thread.
  void cancel() { is_cancelled_ = true; }
  /// Causes found so far. Thread-safe.
  std::vector<Cause> causes() const;
  /// Whether read() has come to what is not computed: types, names, update rules.
  bool is_read() const { return stage_ == Stage::Renderings; }
  /// True if cancel() came before everything was checked.
  bool is_cut_short() const;

 private:
  class Reading;
  enum class Stage : std::uint8_t { Start, Policies, Renderings };
  struct Rendering {
    std::size_t after;  // so many of causes_ come before
    std::optional<RenderingCheck> check;
    std::vector<Cause> faults;  // once it was judged
  };

  /// False if they cannot be applied; causes_ says why.
  bool take_scoped();
  void render();

  const kube::Object application_;
  const kube::Object old_;
  Stage stage_ = Stage::Start;  // what read() has read for
  std::vector<ScopedPolicy> policies_;
  std::optional<Result<Scoped>> scoped_;
  std::vector<Cause> causes_;
  std::vector<Rendering> renderings_;
  std::atomic<std::size_t> judged_ = 0;  // of renderings_, from the front
  RenderContext context_;
  std::atomic<bool> is_cancelled_ = false;
};

/// All of it at once.
std::vector<Cause> check_delivery(const kube::Object& application, const kube::Object& old, const Lookup& lookup);

}  // namespace slipway::delivery::application
