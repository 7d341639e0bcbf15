#pragma once

namespace guardian {

/// The inside of an ending process: carries out the orders that come over its standard input, a Unix stream socket, all
/// at the same time, and answers over it. Returns the exit status, once the input has ended and every order is carried
/// out: a guardian that is killed does not break off what has begun.
int run_ending_worker();

}  // namespace guardian
