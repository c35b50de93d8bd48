// The folder in which builds, datasets and running servers have their files.
#pragma once

#include <string>

#include "hosts/user.h"

namespace numabench {

/// `configured`, or when that is empty /var/tmp/numabench for root and /var/tmp/numabench-USER for
/// others: not a home directory, since the server's user must be able to enter it.
std::string data_root_path(const std::string& configured);

/// Makes it (mode 0755). Throws Error(kPreflight) when it belongs to somebody else, is writable for
/// others, or `server` cannot enter it, naming the folder that is in the way.
void prepare_data_root(const std::string& path, const User& server);

}  // namespace numabench
