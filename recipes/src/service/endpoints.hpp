// The HTTP interface: /healthz, /readyz, /metrics and /messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/service/configuration.hpp>
#include <zkrecipes/service/http_server.hpp>
#include <zkrecipes/service/metrics_page.hpp>

#include "intake.hpp"

namespace zkrecipes::service {

/// The state of the service, for the probes.
struct readiness {
  bool alive = false;  ///< False: only a restart helps.
  bool ready = false;
  bool accepts = false;  ///< Messages can be put at present.
  std::string text{};    ///< Shown to people.
};

/// Thread safety: none, the context has one thread.
class endpoints {
 public:
  using page_function = std::function<void(metrics_page&)>;

  endpoints(work_mode mode, intake& messages, std::function<readiness()> state, page_function metrics);

  boost::asio::awaitable<http_response> answer(const http_request& request);

 private:
  boost::asio::awaitable<http_response> route(const http_request& request);
  boost::asio::awaitable<http_response> post_message(const http_request& request);
  http_response probe(const http_request& request);
  http_response metrics();

  const work_mode mode_;
  intake& intake_;
  const std::function<readiness()> state_;
  const page_function metrics_;
  std::map<unsigned, std::uint64_t> answers_;  ///< By code.
};

}  // namespace zkrecipes::service
