#include <stdexcept>
#include <utility>

#include <testcluster/module_ensemble.hpp>

namespace testcluster {
namespace {

module_ensemble*& the_one() {
  static module_ensemble* one = nullptr;
  return one;
}

}  // namespace

module_ensemble::module_ensemble(ensemble_options options) : options_(std::move(options)) {
  if (the_one() != nullptr)
    throw std::logic_error("there is a testcluster::module_ensemble already: have one a program");
  the_one() = this;
}

module_ensemble::~module_ensemble() { the_one() = nullptr; }

module_ensemble& module_ensemble::current() {
  if (the_one() == nullptr) {
    throw std::logic_error(
        "this program has no testcluster::module_ensemble; derive one and name it in BOOST_TEST_GLOBAL_FIXTURE");
  }
  return *the_one();
}

ensemble& module_ensemble::get() {
  if (!cluster_) cluster_ = std::make_unique<ensemble>(options_);
  return *cluster_;
}

}  // namespace testcluster
