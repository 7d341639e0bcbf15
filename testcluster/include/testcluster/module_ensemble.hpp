#pragma once

#include <memory>

#include <testcluster/ensemble.hpp>

namespace testcluster {

/// The ensemble of a test program, as a global fixture of Boost.Test: it starts when a test first asks for it, serves
/// all tests of the program, and ends with the module. A run that selects other tests starts no server.
///
///     struct servers : testcluster::module_ensemble {
///       servers() : module_ensemble({.servers = 3, .delay_proxies = true}) {}
///     };
///     BOOST_TEST_GLOBAL_FIXTURE(servers);
///
/// Nothing here needs Boost.Test: with another framework make one object that lives as long as the tests. Thread
/// safety: current(), get() and the destructor must not run at the same time.
class module_ensemble {
 public:
  /// Throws std::logic_error if there is another object. The options are checked at the first use.
  explicit module_ensemble(ensemble_options options);
  ~module_ensemble();
  module_ensemble(const module_ensemble&) = delete;
  module_ensemble& operator=(const module_ensemble&) = delete;

  /// The object there is. Throws std::logic_error if there is none.
  static module_ensemble& current();

  /// Starts the ensemble if no test has asked for it yet. Throws what the constructor of ensemble throws; the next call
  /// tries again.
  ensemble& get();

  bool is_started() const { return cluster_ != nullptr; }

 private:
  ensemble_options options_;
  std::unique_ptr<ensemble> cluster_;
};

}  // namespace testcluster
