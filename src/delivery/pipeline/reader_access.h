// What a user who may read a Pipeline may see of its targets: a Pipeline's status tells of workloads in namespaces, and on
// clusters, that not everybody who reads it may look into. Asked are the reader's own rights, once per cluster and namespace
// for a minute: in the pipeline's own cluster to get the application there, of another cluster to get its GitopsCluster (rights
// inside other clusters are not known here: whoever may see the GitopsCluster sees what runs on it). The versions of whole
// environments are the pipeline's, and stay.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/env.h"
#include "client/client.h"
#include "delivery/pipeline/spec.h"
#include "json/value.h"
#include "kube/user.h"

namespace slipway::delivery::pipeline {

class ReaderAccess {
 public:
  static constexpr Duration kKept = std::chrono::minutes{1};
  static constexpr std::size_t kMost = 10'000;

  /// An answer counts for `kept`.
  explicit ReaderAccess(Env& env, Duration kept = kKept) : env_(env), kept_(kept) {}

  /// The status as the reader may see it: rows of targets that they may not see keep their place, and the state `forbidden`.
  /// `client` is the reader's own when `user` is null, else one that may ask for others.
  Task<Result<json::Value>> seen(client::Client& client, std::shared_ptr<const kube::UserInfo> user, kube::Object pipeline);
  /// Whether the user may see a target of the pipeline, and change it. `client` may ask for others. A null user may.
  enum class Right : std::uint8_t { See, Change };
  Task<Result<bool>> may(client::Client& client, std::shared_ptr<const kube::UserInfo> user, Right right,
                         const kube::ObjectKey& pipeline, const AppRef& app, const Target& target);
  /// "get helmreleases.helm.toolkit.fluxcd.io in namespace shop": what may() asks for.
  static std::string needed(Right right, const kube::ObjectKey& pipeline, const AppRef& app, const Target& target);
  /// Reviews that were asked for, for tests.
  std::size_t reviews() const { return reviews_; }

 private:
  /// What is asked: to do `verb` to `name` (empty: any) of a resource in a namespace.
  struct Question {
    std::string verb{};
    std::string group{};
    std::string resource{};
    std::string ns{};
    std::string name{};

    auto operator<=>(const Question&) const = default;
  };
  struct Known {
    bool is_allowed = false;
    Steady until{};
  };

  static Question question_about(Right right, const kube::ObjectKey& pipeline, const AppRef& app, const Target& target);
  Task<Result<bool>> allows(client::Client& client, std::shared_ptr<const kube::UserInfo> user, Question question);

  Env& env_;
  Duration kept_;
  std::map<std::pair<std::string, Question>, Known> known_{};  // by the user's name and groups
  std::size_t reviews_ = 0;
};

}  // namespace slipway::delivery::pipeline
