#pragma once

#include <memory>
#include <utility>

#include "backend/link.hpp"
#include "backend/zookeeper/c_client_link.hpp"

namespace zkrecipes::backend {

/// The owner of a connection of the C client. Its destructor abandons the connection: no callback comes after it.
class real_link final : public link {
 public:
  explicit real_link(std::shared_ptr<c_client_link> shared) : shared_(std::move(shared)) {}
  real_link(const real_link&) = delete;
  ~real_link() override { shared_->abandon(); }
  void submit(request what, reply_handler handler) override { shared_->submit(std::move(what), std::move(handler)); }
  void close_session() override { shared_->close_session(); }

 private:
  std::shared_ptr<c_client_link> shared_;
};

}  // namespace zkrecipes::backend
