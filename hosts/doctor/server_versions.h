// Which PostgreSQL servers and load generators are here.
#pragma once

#include "hosts/doctor/check_list.h"

namespace numabench {

/// A line a folder of needs.server_directories, or of those that distributions install into.
void check_server_versions(CheckList& list);

}  // namespace numabench
