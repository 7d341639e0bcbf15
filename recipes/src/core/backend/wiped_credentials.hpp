// Secrets that leave nothing in memory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <openssl/crypto.h>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::backend {

/// Overwrites the text, and what stood behind its end when it was longer.
inline void wipe(std::string& text) noexcept {
  text.resize(text.capacity());
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

inline void wipe(std::vector<credentials>& all) noexcept {
  for (auto& each : all) wipe(each.password);
  all.clear();
}

/// Takes these credentials to a place from which no copy is made, and which is wiped with its last owner. A short text
/// that is moved stays behind in its string, so what was given is wiped, too.
inline std::shared_ptr<const credentials> hold_secret(credentials& given) {
  const std::shared_ptr<credentials> held(new credentials, [](credentials* each) {
    wipe(each->password);
    delete each;
  });
  held->user = std::move(given.user);
  held->password = std::move(given.password);
  wipe(given.password);
  return held;
}
inline std::shared_ptr<const credentials> hold_secret(credentials&& given) { return hold_secret(given); }

/// A copy of credentials that is wiped at the end of its life.
class wiped_credentials {
 public:
  wiped_credentials() = default;
  wiped_credentials(std::vector<credentials> all) : all_(std::move(all)) {}
  wiped_credentials(const wiped_credentials&) = default;
  wiped_credentials(wiped_credentials&&) noexcept = default;
  wiped_credentials& operator=(wiped_credentials other) noexcept {
    all_.swap(other.all_);
    return *this;
  }
  ~wiped_credentials() { wipe(all_); }

  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }
  bool empty() const noexcept { return all_.empty(); }
  void clear() noexcept { wipe(all_); }
  operator const std::vector<credentials>&() const noexcept { return all_; }

 private:
  std::vector<credentials> all_;
};

}  // namespace zkrecipes::backend
