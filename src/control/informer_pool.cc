#include "control/informer_pool.h"

#include "base/check.h"

namespace slipway::control {

/// What all leases of an informer share; its end is the informer's.
struct InformerLease::Held {
  Held(Env& env, std::shared_ptr<client::Client> through, const kube::Resource& resource, client::InformerOptions options)
      : client(std::move(through)), informer(std::make_shared<Informer>(env, *client, resource, std::move(options))) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { informer->stop(); }

  std::shared_ptr<client::Client> client;
  std::shared_ptr<Informer> informer;
};

namespace {

/// Keeps what the informer refers to until its last request has been answered.
Task<> run_informer(std::shared_ptr<Informer> informer, std::shared_ptr<client::Client> client) {
  co_await informer->run();
  static_cast<void>(client);
}

}  // namespace

InformerLease& InformerLease::operator=(InformerLease&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  handlers_ = std::exchange(other.handlers_, {});
  return *this;
}

Informer& InformerLease::operator*() const {
  SLIPWAY_CHECK(held_ != nullptr, "an empty lease has no informer");
  return *held_->informer;
}

void InformerLease::on_change(Informer::Handler handler) { handlers_.push_back((*this)->add_handler(std::move(handler))); }

void InformerLease::release() {
  if (held_ == nullptr) return;
  for (const Informer::HandlerId id : std::exchange(handlers_, {})) held_->informer->remove_handler(id);
  held_.reset();
}

InformerPool::InformerPool(Env& env, std::shared_ptr<client::Client> client, Tasks& tasks,
                           std::shared_ptr<client::ObjectPacks> packs)
    : env_(env), client_(std::move(client)), tasks_(tasks), packs_(std::move(packs)) {}

InformerLease InformerPool::take(const kube::Resource& resource, Form form) {
  if (packs_ == nullptr) form = Form::Whole;
  std::shared_ptr<InformerLease::Held> held = informers_[{resource, Form::Whole}].lock();
  if (held == nullptr && form == Form::Metadata) held = informers_[{resource, form}].lock();
  if (held == nullptr) {
    std::erase_if(informers_, [](const auto& entry) { return entry.second.expired(); });
    held =
        std::make_shared<InformerLease::Held>(env_, client_, resource, client::InformerOptions{.form = form, .packs = packs_});
    informers_[{resource, form}] = held;
    if (is_started_) run(held);
  }
  return InformerLease(std::move(held));
}

std::shared_ptr<Informer> InformerPool::find(const kube::Resource& resource) const {
  for (const Form form : {Form::Whole, Form::Metadata}) {
    const auto found = informers_.find({resource, form});
    const auto held = found == informers_.end() ? nullptr : found->second.lock();
    if (held != nullptr) return held->informer;
  }
  return nullptr;
}

void InformerPool::start() {
  if (std::exchange(is_started_, true)) return;
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) run(held);
  }
}

void InformerPool::run(const std::shared_ptr<InformerLease::Held>& held) {
  tasks_.spawn(run_informer(held->informer, held->client));
}

Task<> InformerPool::wait_synced() {
  std::vector<std::shared_ptr<Informer>> all;
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) all.push_back(held->informer);
  }
  for (const auto& informer : all) co_await informer->wait_synced();
}

void InformerPool::stop() {
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) held->informer->stop();
  }
}

}  // namespace slipway::control
