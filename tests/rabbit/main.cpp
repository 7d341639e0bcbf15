#define BOOST_TEST_MODULE rabbit
#include <boost/test/unit_test.hpp>
