// A PackageVariant as the revisions that it wants: from what is there downstream and upstream to what is to be done, in Porch's
// order (packagevariant_controller.go). A wanted draft is complete: task, labels, annotations and the condition Drafted are
// written in one commit of the log, so that none sees half of it. Pure; whether the variant's own changes (context, pipeline,
// injections) would alter a revision is the caller's to know.
//
// DIVERGES: Porch upgrades the variant's own newest revision, and so drops what people have published after it. Here it is the
// newest published revision of the package, whoever made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/package/condition.h"
#include "delivery/package/spec.h"
#include "delivery/package/variant_spec.h"

namespace slipway::delivery::package {

/// What is wrong with a variant, in Porch's words; its condition Stalled has them joined by "; ".
std::vector<std::string> check(const VariantSpec& variant);

/// A revision of the namespace as the plan looks at it.
struct RevisionView {
  std::string name{};
  std::string repository{};
  std::string package{};
  std::string workspace{};
  std::int64_t revision = 0;
  Lifecycle lifecycle = Lifecycle::Draft;
  bool is_ours = false;  // has an owner reference to the variant
  /// Of the upstream that it came from: its number, 0 for a draft, nullopt where its Kptfile has no upstreamLock.
  std::optional<std::int64_t> upstream_revision{};
  bool differs = false;  // the variant's own changes are not all in it
};

struct VariantAction {
  enum class Kind : std::uint8_t {
    Create,           // `draft`
    Write,            // the variant's own changes into the draft `name`
    Adopt,            // owner reference, labels and annotations
    TakeBack,         // DeletionProposed → Published
    Delete,           // a draft or proposal
    ProposeDeletion,  // of a published one
    Orphan,           // without the owner reference from now on
  };
  Kind kind;
  std::string name{};                   // of the revision it is about
  std::optional<RevisionSpec> draft{};  // of Create
  bool operator==(const VariantAction&) const = default;
};

struct VariantPlan {
  std::vector<VariantAction> actions{};
  std::vector<std::string> targets{};  // for status.downstreamTargets; new drafts are not in it yet
  std::string error{};                 // why it cannot go on: condition Ready is False
};
/// What becomes of the variant's own drafts that came from another upstream revision than the wanted one.
enum class Superseded : std::uint8_t {
  Keep,     // they are in the way, and `error` says so
  Replace,  // they are deleted; proposals stay
};
/// REQUIRES: check() found nothing.
VariantPlan plan_variant(const VariantSpec& variant, const std::vector<RevisionView>& there,
                         Superseded superseded = Superseded::Keep);
/// What is done with its revisions when the variant is deleted.
VariantPlan plan_removal(const VariantSpec& variant, const std::vector<RevisionView>& there);

/// The condition that a draft of a variant is created with.
Condition drafted(std::string_view variant);
/// And that of its proposal which the variant would make otherwise by now.
Condition out_of_date(std::string_view proposal);

}  // namespace slipway::delivery::package
