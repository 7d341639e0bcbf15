// What is measured of our own library, each as elapsed time in units of one round trip.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <map>
#include <string>

namespace bench {

struct setting {
  zkrecipes::session first;
  zkrecipes::session second;
  double round_trip_ms = 20;
  int repeat = 5;
};

/// The median over the repeats of each operation.
boost::asio::awaitable<std::map<std::string, double>> measure_all(setting where);

}  // namespace bench
