#define BOOST_TEST_MODULE terminal_ensemble
#include <boost/test/unit_test.hpp>
