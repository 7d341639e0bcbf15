#define BOOST_TEST_MODULE guardian
#include <boost/test/unit_test.hpp>
