// Addresses of pods, one each. Where an address lies follows from the pod's uid, so that two processes on one machine hardly
// ever choose the same ones; when it is taken already the next free one is used. Who gives an address out writes it down with
// the pod (its folder, its status) and notes it here again after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace slipway::cluster {

class PodAddresses {
 public:
  /// Addresses are `<network>.128.0.1` to `<network>.255.255.254`, about eight million of them.
  explicit PodAddresses(unsigned network) : network_(network) {}

  /// The pod's address: the one it has, or one that no other pod has.
  std::string take(const std::string& uid);
  /// Notes what the pod was given before; text that is no address of this network is left alone.
  void keep(const std::string& uid, std::string_view address);
  /// Empty when the pod has none.
  std::string find(const std::string& uid) const;
  void release(const std::string& uid);

 private:
  std::string text(std::uint32_t place) const;

  unsigned network_;
  std::map<std::string, std::uint32_t> places_;  // by uid
  std::set<std::uint32_t> taken_;
};

}  // namespace slipway::cluster
