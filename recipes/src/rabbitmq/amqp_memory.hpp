// The memory of what rabbitmq-c decodes.
#pragma once

#include <cstdint>
#include <string_view>

#include <amqp.h>
#include <amqp_framing.h>

#include "rabbitmq/amqp_bytes.hpp"

namespace zkrecipes::detail {

/// What was decoded last refers to it, and to the bytes that were decoded.
class amqp_memory {
 public:
  amqp_memory() { init_amqp_pool(&pool_, page_size); }
  ~amqp_memory() { empty_amqp_pool(&pool_); }
  amqp_memory(const amqp_memory&) = delete;
  amqp_memory& operator=(const amqp_memory&) = delete;

  /// Null: the arguments are not those of this method. Their tables must have been checked.
  template <class Method>
  const Method* method(std::uint32_t number, std::string_view arguments) {
    void* made = nullptr;
    recycle_amqp_pool(&pool_);
    const int status = amqp_decode_method(number, &pool_, bytes_of(arguments), &made);
    return status < 0 ? nullptr : static_cast<const Method*>(made);
  }
  /// Null: they are not those of a message. Their headers must have been checked.
  const amqp_basic_properties_t* properties(std::string_view encoded) {
    void* made = nullptr;
    recycle_amqp_pool(&pool_);
    const int status = amqp_decode_properties(AMQP_BASIC_CLASS, &pool_, bytes_of(encoded), &made);
    return status < 0 ? nullptr : static_cast<const amqp_basic_properties_t*>(made);
  }

 private:
  static constexpr std::size_t page_size = 4096;

  amqp_pool_t pool_;
};

}  // namespace zkrecipes::detail
