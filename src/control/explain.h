// A wait says what it waits for. Each kind has a pure row; `why` follows the references of the waits to their root causes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/object.h"

namespace slipway::control {

/// One thing an object waits for, or why it ended as it did.
struct Wait {
  std::string on;       // in words: `step "test-2"`, `Job release-test-2-x4k`, "a free slot (2 of 2 taken)"
  std::string reason;   // CamelCase: "StepRunning", "BackoffLimitExceeded"
  std::string message;  // one sentence, what it means and what to do
  std::optional<Time> since;
  /// The object to look at next: {apiVersion, kind, namespace, name}; null when this is a root cause.
  json::Value next;
  /// What of that object (e.g. a step's name), where the object alone is too coarse.
  std::string part;
};

/// Finds other objects for explain functions.
class View {
 public:
  virtual ~View() = default;
  /// Null when absent. `reference` needs apiVersion, kind, namespace, name.
  virtual json::Value find(const json::Value& reference) const = 0;
  /// Objects of a kind with this controller owner.
  virtual std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const = 0;
  virtual Time now() const = 0;
};

/// Explains one opened object. `part` narrows to a part of it (a step); empty for the whole.
using Explainer = std::function<std::vector<Wait>(const std::string& part)>;

/// How objects of a kind are explained. Rows keep nothing between walks; what is costly to learn of an object (a compiled
/// program) is learnt in `open` and kept by the Explainer.
struct ExplainRow {
  using Open = std::function<Explainer(const json::Value& object, const View& view)>;

  std::string group;
  std::string kind;
  /// Called once per object and walk. `view` outlives the Explainer, `object` may not.
  Open open;

  /// For a kind without parts: every part is told what is told of the whole.
  using Explain = std::function<std::vector<Wait>(const json::Value& object, const View& view)>;
  static ExplainRow without_parts(std::string group, std::string kind, Explain explain);
  static ExplainRow without_parts(const kube::GroupVersionKind& kind, Explain explain) {
    return without_parts(kind.group, kind.kind, std::move(explain));
  }
};

/// A node of the chain that `why` prints.
struct Explanation {
  Wait wait;
  std::vector<Explanation> because;
  std::string cut;  // why there is more that does not follow here: "already told above"; empty otherwise
};
/// One walk: follows waits through `rows`, each object (and part) once, to a depth of 1,000. Long runs of one cause of the
/// same reason are printed short.
std::vector<Explanation> explain(const std::vector<ExplainRow>& rows, const json::Value& object, const std::string& part,
                                 const View& view);
/// An indented text, root causes marked.
std::string print(const std::vector<Explanation>& explanations, Time now);

}  // namespace slipway::control
