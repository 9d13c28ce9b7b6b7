#include "delivery/pipeline/forge_rest.h"

#include <fmt/format.h>

namespace slipway::delivery::pipeline {

Task<Result<std::optional<PullRequestView>>> RestForge::first_of(ForgeApi::Query query, std::string source, std::string key,
                                                                 std::function<bool(const json::Value& from)> is_ours) {
  query.emplace_back("per_page", std::to_string(kForgePageSize));
  for (int page = 1; page <= kMaxForgePages; ++page) {
    ForgeApi::Query of_page = query;
    of_page.emplace_back("page", std::to_string(page));
    SLIPWAY_CO_TRY(list, co_await api_.get(words_.pulls, std::move(of_page)));
    for (const json::Value& one : list.items()) {
      PullRequestView view = words_.to_view(one);
      const bool is_wanted = key.empty() || trailer_of(view.description, kPromotionTrailer) == key;
      if (is_wanted && is_ours(one) && view.source == source) co_return view;
    }
    if (list.size() < static_cast<std::size_t>(kForgePageSize)) break;
  }
  co_return std::nullopt;
}

Task<Result<PullRequestView>> RestForge::read(std::string id) {
  SLIPWAY_CO_TRY(found, co_await api_.get(path_of(id)));
  co_return words_.to_view(found);
}

Task<Result<PullRequestView>> RestForge::open(NewPullRequest wanted) {
  json::ObjectBuilder body;
  body.set("title", title_of(wanted));
  body.set(words_.source, wanted.source);
  body.set(words_.target, wanted.target);
  body.set(words_.description, description_of(wanted));
  SLIPWAY_CO_TRY(made, co_await api_.call("POST", words_.pulls, body.build()));
  co_return words_.to_view(made);
}

Task<Result<PullRequestView>> RestForge::update(PullRequestView known, std::string title, std::string description) {
  json::ObjectBuilder body;
  body.set("title", title);
  body.set(words_.description, description);
  return change(std::move(known), body.build());
}

Task<Result<PullRequestView>> RestForge::close(PullRequestView known) {
  json::ObjectBuilder body;
  body.set(words_.closed.first, words_.closed.second);
  return change(std::move(known), body.build());
}

Task<Result<void>> RestForge::set_check(CommitCheck check) {
  json::ObjectBuilder body;
  body.set("state", word_of(check.state));
  body.set(words_.context, check.context);
  body.set("description", cut(check.description, words_.max_status_text));
  if (!check.url.empty()) body.set("target_url", check.url);
  SLIPWAY_CO_TRY_VOID(co_await api_.call("POST", fmt::format("{}/{}", words_.statuses, check.commit), body.build()));
  co_return Result<void>{};
}

std::string RestForge::word_of(CheckState state) const {
  switch (state) {
    case CheckState::Pending:
      return "pending";
    case CheckState::Success:
      return "success";
    case CheckState::Failure:
      break;
  }
  return words_.failure;
}

Task<Result<PullRequestView>> RestForge::change(PullRequestView known, json::Value body) {
  SLIPWAY_CO_TRY(made, co_await api_.call(words_.change, path_of(known.id), std::move(body)));
  co_return words_.to_view(made);
}

}  // namespace slipway::delivery::pipeline
