// Objects of C libraries, freed by the function that the library has for it.
#pragma once

#include <memory>

namespace slipway::git {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freer<Free>>;

}  // namespace slipway::git
