#define BOOST_TEST_MODULE redis
#include <boost/test/unit_test.hpp>
