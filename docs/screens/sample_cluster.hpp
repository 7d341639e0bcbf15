// A cluster for the pictures of zkadmin: a shop at noon, with a few problems.
#pragma once

#include "screen/model.hpp"

namespace screens {

/// A dashboard that has followed it for a minute.
zkadmin::model sample_cluster();

}  // namespace screens
