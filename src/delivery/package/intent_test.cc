// Every intent against a remote of two maps, with a crash or a lost answer at every step, and another who pushes at every
// step. What must hold at the end: an approval has one tag and the branch contains its commit, the branch never lost a commit,
// what the other writer pushed is there, and doing it all again changes nothing.
#include "delivery/package/intent.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace slipway::delivery::package {
namespace {

using StepKind = GitStep::Kind;

/// References and commits; a commit's id says what it was made of, so making it again gives the same.
class Remote {
 public:
  std::map<std::string, std::string> refs{};
  std::set<std::string> tips{};  // every commit that the branch has had

  std::string make(const std::string& what, const std::vector<std::string>& parents) {
    std::string id = what;
    for (const std::string& one : parents) id += "<" + one + ">";
    parents_[id] = parents;
    return id;
  }
  bool contains(const std::string& tip, const std::string& commit) const {
    if (tip == commit) return true;
    const auto found = parents_.find(tip);
    if (found == parents_.end()) return false;
    for (const std::string& one : found->second) {
      if (contains(one, commit)) return true;
    }
    return false;
  }
  /// As git-receive-pack: only from what was expected, branches only forward.
  bool update(const std::string& name, const std::string& expected, const std::string& target) {
    const auto found = refs.find(name);
    const std::string is = found == refs.end() ? "" : found->second;
    if (is != expected) return false;
    if (target.empty()) {
      refs.erase(name);
      return true;
    }
    if (!is.empty() && !contains(target, is)) return false;
    refs[name] = target;
    if (name == "refs/heads/main") tips.insert(target);
    return true;
  }
  /// The package on the branch, by what its last commit is called.
  OnBranch package(const std::string& tip) const {
    if (tip.empty() || tip.starts_with("removed") || tip.starts_with("merge")) return OnBranch::Gone;
    if (tip.starts_with("changed")) return OnBranch::Other;
    const auto found = parents_.find(tip);
    return found == parents_.end() || found->second.empty() ? OnBranch::AsSeen : package(found->second.front());
  }

 private:
  std::map<std::string, std::vector<std::string>> parents_{};
};

enum class Fault : std::uint8_t { None, BeforeStep, AfterStep };

/// Carries an intent out as the server would: what it knows after a fault is the log and the remote.
class Server {
 public:
  Server(Remote& remote, Intent intent) : remote_(remote), log_(std::move(intent)) {}

  std::string state = "open";  // then "confirmed" or "drift"
  std::string text{};
  int steps = 0;

  const Intent& intent() const { return log_; }

  /// Runs to the end; `fault` strikes at step `at`, `other` happens before step `other_at`.
  void run(Fault fault, int at, int other_at, const std::function<void()>& other) {
    for (steps = 0; state == "open" && steps < 50; ++steps) {
      if (steps == other_at) other();
      StoreView view{.refs = remote_.refs};
      view.has_commit =
          remote_.refs.contains("refs/heads/main") && remote_.contains(remote_.refs["refs/heads/main"], log_.commit);
      view.package = remote_.package(remote_.refs.contains("refs/heads/main") ? remote_.refs["refs/heads/main"] : "");
      const bool is_its_own = log_.kind == IntentKind::Approve && remote_.refs["refs/heads/main"] == log_.base;
      if (is_its_own) view.package = OnBranch::AsSeen;
      const GitStep step = next_step(log_, view);
      if (steps == at && fault == Fault::BeforeStep) continue;  // a new process looks again
      carry_out(step, steps == at && fault == Fault::AfterStep);
    }
  }

 private:
  void carry_out(const GitStep& step, bool answer_is_lost) {
    switch (step.kind) {
      case StepKind::Update:
        (void)remote_.update(step.ref, step.expected, step.target);  // refused or lost: the next look tells
        break;
      case StepKind::NextNumber:
        if (answer_is_lost) return;  // the log does not have it
        log_.revision = step.revision;
        log_.base = remote_.refs["refs/heads/main"];
        log_.commit = remote_.make(fmt::format("publish-{}", step.revision), {log_.base});
        break;
      case StepKind::Merge:
        (void)remote_.update(step.ref, step.expected, remote_.make("merge", {step.expected, log_.commit}));
        break;
      case StepKind::Confirm:
        if (answer_is_lost) return;
        state = "confirmed";
        text = step.text;
        break;
      case StepKind::Drift:
        state = "drift";
        text = step.text;
        break;
    }
  }

  Remote& remote_;
  Intent log_;
};

struct Scene {
  Remote remote{};
  Intent intent{};
};

Scene scene(IntentKind kind) {
  Scene made;
  Remote& remote = made.remote;
  const std::string root = remote.make("root", {});
  const std::string draft = remote.make("draft", {root});
  remote.refs["refs/heads/main"] = root;
  remote.tips = {root};
  Intent& intent = made.intent;
  intent = {.kind = kind, .repository = "edge", .path = "a/b", .workspace = "ws", .seen = draft};
  switch (kind) {
    case IntentKind::Save:
      remote.refs["refs/heads/drafts/a/b/ws"] = draft;
      intent.commit = remote.make("edited", {draft});
      break;
    case IntentKind::Propose:
      remote.refs["refs/heads/drafts/a/b/ws"] = draft;
      break;
    case IntentKind::Withdraw:
      remote.refs["refs/heads/proposed/a/b/ws"] = draft;
      break;
    case IntentKind::Approve:
      remote.refs["refs/heads/proposed/a/b/ws"] = draft;
      intent.from = Lifecycle::Proposed;
      intent.revision = 1;
      intent.base = root;
      intent.commit = remote.make("publish-1", {root});
      break;
    case IntentKind::ProposeDeletion:
    case IntentKind::Keep:
    case IntentKind::Delete:
      intent.revision = 1;
      intent.from = kind == IntentKind::ProposeDeletion ? Lifecycle::Published : Lifecycle::DeletionProposed;
      remote.refs["refs/tags/a/b/v1"] = draft;
      if (kind != IntentKind::ProposeDeletion) remote.refs["refs/heads/deletionProposed/a/b/v1"] = draft;
      break;
  }
  return made;
}

/// What the branch has is deleted. Its proposal is at an older commit than the branch.
Scene removal() {
  Scene made;
  Remote& remote = made.remote;
  const std::string root = remote.make("root", {});
  const std::string tip = remote.make("more", {root});
  remote.refs = {{"refs/heads/main", tip}, {"refs/tags/a/b/v1", root}, {"refs/heads/deletionProposed/a/b/main", root}};
  remote.tips = {tip};
  made.intent = {.kind = IntentKind::Delete,
                 .repository = "edge",
                 .path = "a/b",
                 .workspace = "main",
                 .from = Lifecycle::DeletionProposed,
                 .revision = kPlaceholder,
                 .seen = tip,
                 .commit = remote.make("removed", {tip}),
                 .base = tip};
  return made;
}

constexpr IntentKind kKinds[] = {IntentKind::Save,    IntentKind::Propose,         IntentKind::Withdraw,
                                 IntentKind::Approve, IntentKind::ProposeDeletion, IntentKind::Keep,
                                 IntentKind::Delete};

std::string names(const Remote& remote) {
  std::string out;
  for (const auto& [name, id] : remote.refs) out += name + " ";
  return out;
}

TEST(PackageIntent, each_ends_as_porchs_layout_has_it) {
  const std::map<IntentKind, std::string> ends{
      {IntentKind::Save, "refs/heads/drafts/a/b/ws refs/heads/main "},
      {IntentKind::Propose, "refs/heads/main refs/heads/proposed/a/b/ws "},
      {IntentKind::Withdraw, "refs/heads/drafts/a/b/ws refs/heads/main "},
      {IntentKind::Approve, "refs/heads/main refs/tags/a/b/v1 "},
      {IntentKind::ProposeDeletion, "refs/heads/deletionProposed/a/b/v1 refs/heads/main refs/tags/a/b/v1 "},
      {IntentKind::Keep, "refs/heads/main refs/tags/a/b/v1 "},
      {IntentKind::Delete, "refs/heads/main "}};
  for (const IntentKind kind : kKinds) {
    Scene one = scene(kind);
    Server server(one.remote, one.intent);
    server.run(Fault::None, -1, -1, {});
    EXPECT_EQ(server.state, "confirmed") << json::enum_name(kind);
    EXPECT_EQ(names(one.remote), ends.at(kind)) << json::enum_name(kind);
  }
}

TEST(PackageIntent, a_crash_or_a_lost_answer_at_any_step_ends_the_same) {
  for (const IntentKind kind : kKinds) {
    Scene clean = scene(kind);
    Server first(clean.remote, clean.intent);
    first.run(Fault::None, -1, -1, {});
    for (const Fault fault : {Fault::BeforeStep, Fault::AfterStep}) {
      for (int at = 0; at < first.steps; ++at) {
        Scene one = scene(kind);
        Server server(one.remote, one.intent);
        server.run(fault, at, -1, {});
        EXPECT_EQ(server.state, "confirmed") << json::enum_name(kind) << " " << at;
        EXPECT_EQ(one.remote.refs, clean.remote.refs) << json::enum_name(kind) << " " << at;
      }
    }
  }
}

struct Other {
  const char* what;
  std::function<void(Remote&)> act;
};

void judge_approval(const Scene& one, const Server& server, const std::string& what) {
  const Remote& remote = one.remote;
  const std::string main = remote.refs.at("refs/heads/main");
  for (const std::string& tip : remote.tips) EXPECT_TRUE(remote.contains(main, tip)) << what << ": the branch has lost " << tip;
  int own = 0;
  for (const auto& [name, id] : remote.refs) own += name.starts_with("refs/tags/") && id.starts_with("publish-") ? 1 : 0;
  if (server.state == "confirmed") {
    EXPECT_EQ(own, 1) << what;
    EXPECT_TRUE(remote.contains(main, server.intent().commit)) << what;
    EXPECT_EQ(remote.refs.at(fmt::format("refs/tags/a/b/v{}", server.intent().revision)), server.intent().commit) << what;
    // What is left of the proposal is the other writer's, and the message names it.
    EXPECT_EQ(remote.refs.contains("refs/heads/proposed/a/b/ws"), !server.text.empty()) << what;
    EXPECT_FALSE(main.starts_with("merge<changed")) << what << ": it has undone what was pushed";
  } else {
    EXPECT_EQ(server.state, "drift") << what;
    EXPECT_EQ(own, 0) << what;  // nothing was published
  }
}

/// At every step another writer pushes, and at every step there is a fault.
TEST(PackageIntent, an_approval_loses_nothing_whoever_else_pushes) {
  const std::vector<Other> others{
      {"main moves",
       [](Remote& remote) {
         const std::string tip = remote.refs["refs/heads/main"];
         remote.update("refs/heads/main", tip, remote.make("human", {tip}));
       }},
      {"the package changes on main",
       [](Remote& remote) {
         const std::string tip = remote.refs["refs/heads/main"];
         remote.update("refs/heads/main", tip, remote.make("changed", {tip}));
       }},
      {"the number is taken", [](Remote& remote) { remote.update("refs/tags/a/b/v1", "", remote.make("theirs", {})); }},
      {"the proposal is pushed upon",
       [](Remote& remote) {
         const auto found = remote.refs.find("refs/heads/proposed/a/b/ws");
         if (found != remote.refs.end()) remote.update(found->first, found->second, remote.make("more", {found->second}));
       }},
      {"the proposal goes", [](Remote& remote) { remote.refs.erase("refs/heads/proposed/a/b/ws"); }}};
  for (const Other& other : others) {
    for (int when = 0; when < 5; ++when) {
      for (int at = -1; at < 6; ++at) {
        for (const Fault fault : {Fault::BeforeStep, Fault::AfterStep}) {
          Scene one = scene(IntentKind::Approve);
          Server server(one.remote, one.intent);
          server.run(fault, at, when, [&] { other.act(one.remote); });
          judge_approval(one, server, fmt::format("{} before step {}, fault at {}", other.what, when, at));
        }
      }
    }
  }
}

TEST(PackageIntent, a_removal_from_the_branch_loses_nothing_whoever_else_pushes) {
  const auto push = [](const std::string& what) {
    return [what](Remote& remote) {
      const std::string tip = remote.refs["refs/heads/main"];
      remote.update("refs/heads/main", tip, remote.make(what, {tip}));
    };
  };
  const std::vector<Other> others{{"nothing", [](Remote&) {}},
                                  {"other files change", push("human")},
                                  {"the package changes", push("changed")},
                                  {"it is removed", push("removed-by-hand")}};
  for (const Other& other : others) {
    for (int when = 0; when < 4; ++when) {
      for (int at = -1; at < 4; ++at) {
        for (const Fault fault : {Fault::BeforeStep, Fault::AfterStep}) {
          const std::string what = fmt::format("{} before step {}, fault at {}", other.what, when, at);
          Scene one = removal();
          Server server(one.remote, one.intent);
          server.run(fault, at, when, [&] { other.act(one.remote); });
          const std::string main = one.remote.refs.at("refs/heads/main");
          for (const std::string& tip : one.remote.tips) EXPECT_TRUE(one.remote.contains(main, tip)) << what;
          EXPECT_EQ(one.remote.refs.contains("refs/heads/deletionProposed/a/b/main"), server.state == "drift") << what;
          EXPECT_TRUE(one.remote.refs.contains("refs/tags/a/b/v1")) << what;
          const bool is_kept = one.remote.package(main) != OnBranch::Gone;
          EXPECT_EQ(is_kept, main.starts_with("changed")) << what << ": " << main;
        }
      }
    }
  }
}

TEST(PackageIntent, what_follows_the_branch_is_proposed_for_deletion_and_kept_by_a_branch_of_its_own) {
  Scene one = removal();
  one.intent.kind = IntentKind::Keep;
  const std::string mark = "refs/heads/deletionProposed/a/b/main";
  EXPECT_EQ(next_step(one.intent, {.refs = one.remote.refs}),
            (GitStep{.kind = StepKind::Update, .ref = mark, .expected = one.remote.refs[mark]}));
  one.remote.refs.erase(mark);
  EXPECT_EQ(next_step(one.intent, {.refs = one.remote.refs}), GitStep{});
  one.intent.kind = IntentKind::ProposeDeletion;
  EXPECT_EQ(next_step(one.intent, {.refs = one.remote.refs}),
            (GitStep{.kind = StepKind::Update, .ref = mark, .target = one.intent.seen}));
}

TEST(PackageIntent, what_somebody_else_pushed_upon_a_draft_is_drift) {
  for (const IntentKind kind : {IntentKind::Save, IntentKind::Propose}) {
    Scene one = scene(kind);
    const std::string pushed = one.remote.make("human", {one.intent.seen});
    one.remote.refs["refs/heads/drafts/a/b/ws"] = pushed;
    Server server(one.remote, one.intent);
    server.run(Fault::None, -1, -1, {});
    EXPECT_EQ(server.state, "drift");
    EXPECT_EQ(server.text, "refs/heads/drafts/a/b/ws was draft<root> when it was decided and is human<draft<root>> now");
    EXPECT_EQ(one.remote.refs["refs/heads/drafts/a/b/ws"], pushed);
  }
}

TEST(PackageIntent, a_new_draft_is_created_only_where_there_is_none) {
  Scene one = scene(IntentKind::Save);
  one.remote.refs.erase("refs/heads/drafts/a/b/ws");
  one.intent.seen = "";
  EXPECT_EQ(next_step(one.intent, {.refs = one.remote.refs}),
            (GitStep{.kind = StepKind::Update, .ref = "refs/heads/drafts/a/b/ws", .target = one.intent.commit}));
  one.remote.refs["refs/heads/drafts/a/b/ws"] = "theirs";
  EXPECT_EQ(next_step(one.intent, {.refs = one.remote.refs}).kind, StepKind::Drift);
}

TEST(PackageIntent, messages_tell_people_and_porch_what_was_done) {
  const Intent intent{
      .kind = IntentKind::Approve, .repository = "edge", .path = "a/b", .workspace = "ws", .folder = "infra", .revision = 3};
  EXPECT_EQ(commit_message(intent),
            "Approve infra/a/b/v3\n\nkpt:{\"package\":\"infra/a/b\",\"workspaceName\":\"ws\",\"revision\":\"3\"}\n");
  EXPECT_EQ(commit_message({.kind = IntentKind::Delete, .path = "a/b", .folder = "infra", .revision = kPlaceholder}),
            "Delete infra/a/b\n");
}

}  // namespace
}  // namespace slipway::delivery::package
