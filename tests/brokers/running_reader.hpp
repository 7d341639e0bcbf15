// A consumer of messages that are not in ZooKeeper, which stands for election.
#pragma once

#include <exception>
#include <string>

#include <boost/system/system_error.hpp>

#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

struct running_reader {
  running_reader(session over, const message_feed& from, const std::string& election, queue_consumer_options options,
                 processor process)
      : zk(std::move(over)),
        does(from, std::move(options), career_traits(), std::move(process)),
        coordinator(zk, election, {.id = "reader"}),
        ended(zk.get_executor()) {
    coordinator.async_run(does, ended.token());
  }

  /// The error for which the career has failed. Throws what it has failed with if that is no error.
  error_code failure() const {
    try {
      if (const auto why = coordinator.failure()) std::rethrow_exception(why);
    } catch (const boost::system::system_error& why) {
      return why.code();
    }
    return {};
  }
  /// The text of the exception with which it has failed.
  std::string words() const {
    try {
      if (const auto why = coordinator.failure()) std::rethrow_exception(why);
    } catch (const std::exception& why) {
      return why.what();
    }
    return {};
  }

  session zk;
  acting_consumer does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

}  // namespace zkrecipes::test
