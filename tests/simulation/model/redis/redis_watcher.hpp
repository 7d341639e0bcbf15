// Is told what becomes of the entries.
#pragma once

#include <string>
#include <vector>

#include "model/redis/redis_data.hpp"

namespace zkrecipes::simulation {

class redis_watcher {
 public:
  virtual void added(const std::string& stream, const detail::stream_id& id, const redis_fields& fields) = 0;
  /// By XTRIM.
  virtual void trimmed(const std::string& stream, const std::vector<detail::stream_id>& ids) = 0;
  /// Somebody has deleted the key.
  virtual void deleted(const std::string& stream) = 0;
  /// The brokers have gone back to this copy.
  virtual void went_back(const redis_data& to) = 0;

 protected:
  ~redis_watcher() = default;
};

}  // namespace zkrecipes::simulation
