#pragma once

#include <utility>

#include "line/own_node.hpp"

namespace zkrecipes::detail {

/// Gives a node up when it is destroyed, unless the node is kept: an exception, too, must leave nobody in line.
class leaving {
 public:
  explicit leaving(own_node_ptr node) : node_(std::move(node)) {}
  leaving(const leaving&) = delete;
  ~leaving() {
    if (node_) node_->leave_later();
  }
  void keep() noexcept { node_.reset(); }

 private:
  own_node_ptr node_;
};

}  // namespace zkrecipes::detail
