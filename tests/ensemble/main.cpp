#define BOOST_TEST_MODULE ensemble
#include <boost/test/unit_test.hpp>
