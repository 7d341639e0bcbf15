#define BOOST_TEST_MODULE service
#include <boost/test/unit_test.hpp>
