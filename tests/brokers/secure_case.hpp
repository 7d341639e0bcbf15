// What cases with TLS have in common.
#pragma once

#include "brokers/broker_case.hpp"
#include "support/temporary_folder.hpp"

namespace zkrecipes::test {

/// `Case`: a `broker_case` whose broker listens for TLS, too.
template <class Case>
class secure_case : public Case {
 public:
  using Case::Case;

  /// The log says that no connection was made, and this reason.
  bool has_told(const error_code& why) {
    return this->run_until(
        [&] { return this->has_logged("connect_failed " + Case::broker_name) && this->has_logged(why.message()); });
  }
  /// So many messages come, the last of which is this one.
  void check_consumed(std::size_t count, const std::string& last) {
    const auto seen = std::make_shared<std::vector<std::string>>();
    this->consume([seen](term, message what) -> asio::awaitable<message_outcome> {
      seen->push_back(what.data);
      co_return message_outcome::done();
    });
    BOOST_TEST_REQUIRE(this->run_until([&] { return seen->size() == count; }));
    BOOST_TEST(seen->back() == last);
    this->end_runs(this->all);
  }

 protected:
  /// Puts three messages by the port without TLS. Consumers and producers use the other one from then on.
  void begin_with_tls() {
    auto& broker = this->broker();
    const auto& own = broker.client_certificate();
    this->with.hosts = broker.secure_address();
    this->with.tls = tls_options{.authorities = broker.authority().certificate().string(),
                                 .certificate = own.certificate.string(),
                                 .key = own.key.string()};
    this->put_all(numbers(1, 3));
  }
};

}  // namespace zkrecipes::test
