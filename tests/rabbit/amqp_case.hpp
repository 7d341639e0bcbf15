// A client of AMQP whose broker is the test.
#pragma once

#include <string>
#include <vector>

#include "rabbit/server_bytes.hpp"
#include "rabbitmq/amqp_client.hpp"

namespace zkrecipes::test {

/// Notes what the handlers are told.
struct amqp_case {
  static detail::amqp_settings settings() {
    detail::amqp_settings all;
    all.user = "smith";
    all.password = "sesame street";
    all.virtual_host = "shop";
    return all;
  }

  /// The broker takes the connection.
  void open(std::uint32_t frame_max = 131'072) {
    client.feed(wire::welcome(frame_max));
    client.take_output();
  }
  void consume() {
    client.consume(
        "q", 10, [this](detail::amqp_delivery each) { delivered.push_back(std::move(each)); }, note());
    client.feed(wire::consume_ok());
    client.take_output();
  }
  void confirm() {
    client.confirm([this](const detail::amqp_confirm& each) { confirms.push_back(each); },
                   [this](std::uint64_t tag) { returns.push_back(tag); }, note());
    client.feed(wire::confirm_ok());
    client.take_output();
  }
  detail::amqp_client::answer_handler note() {
    return [this](const detail::amqp_answer& each) { answers.push_back(each); };
  }
  /// What the client has sent since it was asked last, without the bytes that it begins with.
  std::vector<wire::sent_frame> sent() {
    const auto bytes = client.take_output();
    return wire::frames_in(std::string_view(bytes).substr(bytes.starts_with("AMQP") ? 8 : 0));
  }

  detail::amqp_client client{settings()};
  std::vector<detail::amqp_answer> answers;
  std::vector<detail::amqp_delivery> delivered;
  std::vector<detail::amqp_confirm> confirms;
  std::vector<std::uint64_t> returns;
};

}  // namespace zkrecipes::test
