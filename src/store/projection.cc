#include "store/projection.h"

#include <algorithm>
#include <utility>

namespace slipway::store {

class Followers::Member : public Following {
 public:
  Member(std::shared_ptr<Followers> followers, std::list<Entry>::iterator entry)
      : followers_(std::move(followers)), entry_(entry) {}
  ~Member() override { followers_->entries_.erase(entry_); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

 private:
  std::shared_ptr<Followers> followers_;
  std::list<Entry>::iterator entry_;
};

std::unique_ptr<Following> Followers::add(std::string prefix, Projection& projection) {
  return std::make_unique<Member>(shared_from_this(), entries_.insert(entries_.end(), {std::move(prefix), &projection}));
}

bool Followers::has_any_for(std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return key.starts_with(entry.prefix); });
}

}  // namespace slipway::store
