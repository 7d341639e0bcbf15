#pragma once

#include <optional>
#include <string>

#include <testcluster/proxy.hpp>

#include "jute/messages.hpp"
#include "support.hpp"

/// One server behind a proxy for a whole suite; every case leaves the proxy as it found it.
class proxied_server {
 public:
  static testcluster::ensemble& get() { return *current(); }
  proxied_server() { current().emplace(testcluster::ensemble_options{.servers = 1, .delay_proxies = true}); }
  ~proxied_server() { current().reset(); }

 private:
  static std::optional<testcluster::ensemble>& current() {
    static std::optional<testcluster::ensemble> cluster;
    return cluster;
  }
};

inline testcluster::proxy& middle() { return proxied_server::get().proxy(1); }

inline zk_client through() { return connect(middle().address()); }

inline zk_client direct() { return connect(proxied_server::get().nodes().at(0).address); }

/// A session whose requests and replies are sent and awaited one by one.
class line {
 public:
  line() : line_(testcluster::detail::parse_endpoint(middle().address()), clock_type::now() + 10s) {
    line_.write(testcluster::jute::connect_request({.timeout_ms = 10'000}));
    read();
  }
  void send(const std::string& request) { line_.write(request); }

  /// The xid of the next reply.
  std::int32_t reply() { return testcluster::jute::reader(read()).int32(); }

  /// Whether neither a reply nor the end of the connection comes within 300 ms. No other member can be called
  /// afterwards.
  bool silent() {
    line_.set_deadline(clock_type::now() + 300ms);
    return contains(end(), "in time");
  }

  /// Whether the connection ends before the deadline, without another byte. No other member can be called afterwards.
  bool ends() {
    const auto why = end();
    return !why.empty() && !contains(why, "in time");
  }

 private:
  std::string end() {
    return failure([this] { line_.read(1); });
  }
  std::string read() { return line_.read(testcluster::jute::reader(line_.read(4)).int32()); }
  testcluster::detail::connection line_;
};
