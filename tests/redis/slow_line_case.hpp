// A case with a broker at the end of a slow line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <testcluster/proxy.hpp>

#include "redis/redis_case.hpp"

namespace zkrecipes::test {

/// Messages of 1 MiB, of which each takes an eighth of a second once the line is slow. A broker may be silent for half
/// a second. The client, which is there before it, has another line.
class slow_line_case : public redis_case {
 public:
  slow_line_case()
      : line_(std::make_unique<testcluster::proxy>(
            with.hosts, testcluster::proxy_options{.protocol = testcluster::proxy_protocol::opaque})) {
    with.hosts = line_->address();
    with.timeout = 500ms;
  }
  void teardown() {
    end_runs(all);
    line_.reset();
    redis_case::teardown();
  }

  void put_large(int count) {
    for (const auto& each : numbers(1, count)) client().add("orders:0", each, std::string(std::size_t{1} << 20, 'x'));
  }
  void slow_down() { line_->set_bandwidth(8'000'000); }

 private:
  std::unique_ptr<testcluster::proxy> line_;
};

}  // namespace zkrecipes::test
