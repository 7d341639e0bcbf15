#define BOOST_TEST_MODULE terminal
#include <boost/test/unit_test.hpp>
